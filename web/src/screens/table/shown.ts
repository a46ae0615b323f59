// The rows of the table that exist, and the elements that show them.
import type { Transaction } from "../../api/types";

/** Shown is a row of the list with its position and the number of its element. */
export interface Shown {
  readonly row: Transaction;
  readonly index: number;
  readonly element: number;
}

/**
 * shownOf returns the rows from first up to end and the held one. Rows that were shown before keep their elements. The others take those of
 * the rows that are no longer shown: new texts in an element cost a fraction of a new element. While the page is moving, no element is
 * removed, and the elements keep their order, because the browser computes the styles and the layout of an element again that is moved among
 * the others. After that, they have the order of the rows.
 */
export function shownOf(rows: readonly Transaction[], { first, end }: { first: number; end: number }, held: number, former: readonly Shown[], moving: boolean): readonly Shown[] {
  const indexes = Array.from({ length: end - first }, (_, i) => first + i);
  if (held < first && rows[held]) indexes.unshift(held);
  if (held >= end && rows[held]) indexes.push(held);
  // No map has the ids as its keys: it would internalize them, and the garbage collector visits each internalized string.
  const kept = new Set<Shown>();
  const found = indexes.map((index) => {
    const row = rows[index]!;
    // A row with a new date is in a later page again. Each of the two needs its own element.
    const before = former.find((one) => one.row.id === row.id && !kept.has(one));
    if (before) kept.add(before);
    return { row, index, before };
  });
  const free = former.filter((one) => !kept.has(one)).reverse();
  let next = Math.max(-1, ...former.map(({ element }) => element)) + 1;
  const shown = found.map(({ row, index, before }) => {
    if (before?.row === row && before.index === index) return before;
    return { row, index, element: before?.element ?? free.pop()?.element ?? next++ };
  });
  if (!moving) return shown;
  shown.push(...free.filter(({ row, index }) => rows[index] === row));
  const places = new Map(former.map(({ element }, i) => [element, i]));
  const place = ({ element }: Shown) => places.get(element) ?? former.length;
  return shown.sort((a, b) => place(a) - place(b));
}
