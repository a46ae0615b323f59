// Positions of wallets.

/** highest is the highest position that the API accepts. */
const highest = 1_000_000;

interface Placed {
  readonly id: string;
  readonly position?: number;
}

/**
 * placed returns the positions that must change so that wallets have the given order. Only the
 * moved wallet changes if there is a number between those of its neighbors; otherwise all wallets
 * are spread over the whole range.
 */
export function placed(
  order: readonly Placed[],
  moved: string,
): { id: string; position: number }[] {
  const at = order.findIndex(({ id }) => id === moved);
  const others = order.filter(({ id }) => id !== moved).map(({ position }) => position);
  const rising = others.every(
    (position, i) => position !== undefined && position > (others[i - 1] ?? -Infinity),
  );
  const before = others[at - 1] ?? -1;
  const after = others[at] ?? Math.min(highest + 1, before + 2000);
  const between = Math.floor((before + after) / 2);
  if (rising && between > before && between < after) return [{ id: moved, position: between }];
  const step = Math.min(1000, Math.floor(highest / Math.max(1, order.length)));
  return order.flatMap(({ id, position: present }, i) => {
    const position = (i + 1) * step;
    return position === present ? [] : { id, position };
  });
}

/** withMoved returns a list in which an item has another index. */
export function withMoved<T>(list: readonly T[], from: number, to: number): T[] {
  const result = [...list];
  result.splice(to, 0, ...result.splice(from, 1));
  return result;
}
