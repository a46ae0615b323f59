/** screenKeys lists the keys of the current screen with what they do. */
export const screenKeys: { list?: () => readonly (readonly [keys: readonly string[], text: string])[] } = {};
