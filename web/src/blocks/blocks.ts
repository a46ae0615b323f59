// The rows of an import in blocks, of which only those near the visible part of the page exist. Rows have different heights, so a
// block that was shown keeps the height that it had. All functions are pure.

/** blockSize is the number of rows in a block: few enough that about a hundred rows exist. */
export const blockSize = 25;
/** usual is the height of a row that was never shown, in pixels. */
const usual = 76;

/** heightOf returns the height of a block with a number of rows. */
export function heightOf(heights: ReadonlyMap<number, number>, block: number, rows: number): number {
  return heights.get(block) ?? usual * rows;
}

/** near returns the interval of blocks between two positions, of a list with a number of rows. */
export function near(heights: ReadonlyMap<number, number>, rows: number, from: number, to: number): { first: number; end: number } {
  const count = Math.ceil(rows / blockSize);
  let first = 0;
  let end = 0;
  for (let top = 0; end < count && top < to; end++) {
    top += heightOf(heights, end, Math.min(blockSize, rows - end * blockSize));
    if (top < from) first = end + 1;
  }
  // Scrolled beyond a list that has become shorter.
  return { first: Math.min(first, Math.max(0, count - 1)), end: Math.max(end, Math.min(count, 1)) };
}
