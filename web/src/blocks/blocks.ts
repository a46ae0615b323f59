// Long lists in blocks of rows, of which only those near the visible part of the page exist. Rows may have different heights, so a block
// that was shown keeps the height that it had. All functions are pure.

/** blockSize is the number of rows in a block: few enough that about a hundred rows exist. */
export const blockSize = 25;

/** Layout is what is known about a list: its number of rows, and the heights of the blocks that were shown. */
export interface Layout {
  readonly rows: number;
  /** usual is the height of a row that was never shown, in pixels. */
  readonly usual: number;
  readonly heights: ReadonlyMap<number, number>;
}

/** Part is a block whose rows exist, or the space of the blocks from first up to end. */
export type Part =
  | { readonly kind: "rows"; readonly block: number }
  | { readonly kind: "space"; readonly block: number; readonly height: number };

/** countOf returns the number of blocks. */
export function countOf({ rows }: Pick<Layout, "rows">): number {
  return Math.ceil(rows / blockSize);
}

/** heightOf returns the height of a block. */
export function heightOf({ heights, rows, usual }: Layout, block: number): number {
  return heights.get(block) ?? usual * Math.min(blockSize, rows - block * blockSize);
}

/** near returns the interval of blocks between two positions. */
export function near(layout: Layout, from: number, to: number): { first: number; end: number } {
  const count = countOf(layout);
  let first = 0;
  let end = 0;
  for (let top = 0; end < count && top < to; end++) {
    top += heightOf(layout, end);
    if (top < from) first = end + 1;
  }
  // Scrolled beyond a list that has become shorter.
  return { first: Math.min(first, Math.max(0, count - 1)), end: Math.max(end, Math.min(count, 1)) };
}

/** partsOf returns the blocks of an interval and the held one with their rows, and the spaces around them. */
export function partsOf(layout: Layout, { first, end }: { first: number; end: number }, held: number): Part[] {
  const count = countOf(layout);
  const parts: Part[] = [];
  const space = (from: number, to: number) => {
    let height = 0;
    for (let block = from; block < to; block++) height += heightOf(layout, block);
    if (to > from) parts.push({ kind: "space", block: from, height });
  };
  const shown = Array.from({ length: end - first }, (_, i) => first + i);
  if (held >= 0 && held < count && !shown.includes(held)) shown.push(held);
  let next = 0;
  for (const block of shown.sort((a, b) => a - b)) {
    space(next, block);
    parts.push({ kind: "rows", block });
    next = block + 1;
  }
  space(next, count);
  return parts;
}
