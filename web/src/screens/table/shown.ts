// The rows of the table that exist, and the elements that show them.
import type { Transaction } from "../../api/types";

/** Shown is a row of the list with its position and the number of its element. */
export interface Shown {
  readonly row: Transaction;
  readonly index: number;
  readonly element: number;
}

/**
 * shownOf returns the rows from first up to end and the held one, in their order. Rows that were shown before keep their elements. The
 * others take those of the rows that are no longer shown: new texts in an element cost a fraction of a new element.
 */
export function shownOf(rows: readonly Transaction[], { first, end }: { first: number; end: number }, held: number, former: readonly Shown[]): readonly Shown[] {
  const indexes = Array.from({ length: end - first }, (_, i) => first + i);
  if (held < first && rows[held]) indexes.unshift(held);
  if (held >= end && rows[held]) indexes.push(held);
  const left = new Map(former.map((one) => [one.row.id, one]));
  const found = indexes.map((index) => {
    const row = rows[index]!;
    const before = left.get(row.id);
    left.delete(row.id);
    return { row, index, before };
  });
  const free = [...left.values()].map(({ element }) => element).reverse();
  let next = Math.max(-1, ...former.map(({ element }) => element)) + 1;
  return found.map(({ row, index, before }) => {
    if (before?.row === row && before.index === index) return before;
    return { row, index, element: before?.element ?? free.pop() ?? next++ };
  });
}
