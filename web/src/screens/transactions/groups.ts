// The rows of the list: a heading for each day, and its transactions. Heights are fixed, so that only the visible rows need to exist.
import type { Transaction } from "../../api/types";
import { dayOf, type Day } from "../../dates/dates";
import { money, sum, type Money } from "../../money/money";

export const headingHeight = 44;
export const rowHeight = 62;

export type Item =
  | { readonly kind: "day"; readonly key: string; readonly top: number; readonly day: Day; readonly sums: readonly Money[] }
  | { readonly kind: "row"; readonly key: string; readonly top: number; readonly transaction: Transaction; readonly index: number };

/** itemsOf groups transactions, sorted by date, into days with their sums. Transfers are neither expense nor income, and not in the sums. */
export function itemsOf(transactions: readonly Transaction[]): Item[] {
  const items: Item[] = [];
  let top = 0;
  for (let start = 0; start < transactions.length; ) {
    const day = dayOf(transactions[start]!.date);
    let end = start;
    while (end < transactions.length && dayOf(transactions[end]!.date) === day) end++;
    const ofDay = transactions.slice(start, end);
    items.push({ kind: "day", key: day, top, day, sums: sum(ofDay.filter(({ transferId }) => !transferId).map(({ amount, currency }) => money(amount, currency))) });
    top += headingHeight;
    ofDay.forEach((transaction, i) => {
      items.push({ kind: "row", key: transaction.id, top, transaction, index: start + i });
      top += rowHeight;
    });
    start = end;
  }
  return items;
}

/** heightOf returns the height of all items. */
export function heightOf(items: readonly Item[]): number {
  const last = items.at(-1);
  return last ? last.top + (last.kind === "day" ? headingHeight : rowHeight) : 0;
}

/** visible returns the interval of items between two positions, by binary search. */
export function visible(items: readonly Item[], from: number, to: number): { start: number; end: number } {
  const first = (at: number) => {
    let low = 0;
    let high = items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (items[middle]!.top < at) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return { start: Math.max(0, first(from) - 1), end: first(to) };
}
