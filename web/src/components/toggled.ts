/** toggled returns a list with a value, or without it if the list has it. */
export function toggled<T>(list: readonly T[], value: T): T[] {
  return list.includes(value) ? list.filter((other) => other !== value) : [...list, value];
}
