// The rows of the list: a heading for each day, and its transactions. Heights are fixed, so that only the visible rows need to exist.
import type { Transaction } from "../../api/types";
import { dayOf, type Day } from "../../dates/dates";
import { counted } from "../../money/counted";
import { sum, type Money } from "../../money/money";

export const headingHeight = 44;
export const rowHeight = 62;

export type Item =
  | { readonly kind: "day"; readonly key: Day; readonly top: number; readonly transactions: readonly Transaction[] }
  | { readonly kind: "row"; readonly key: string; readonly top: number; readonly transaction: Transaction };

/** A Grouping is a list of transactions with its items. */
export interface Grouping {
  readonly transactions: readonly Transaction[];
  readonly items: readonly Item[];
}

export const noGroups: Grouping = { transactions: [], items: [] };

/**
 * group returns transactions, sorted by date, with a heading before those of each day. It keeps the items of before up to the last day that
 * both begin with, so that another page of a long list costs its own rows only.
 */
export function group(transactions: readonly Transaction[], before: Grouping): Grouping {
  let same = 0;
  while (same < transactions.length && transactions[same] === before.transactions[same]) same++;
  // The day of the last common transaction may have more transactions now.
  const day = same > 0 && dayOf(transactions[same - 1]!.date);
  while (same > 0 && dayOf(transactions[same - 1]!.date) === day) same--;
  const kept = before.items.findLastIndex((item) => item.kind === "row" && item.transaction === transactions[same - 1]) + 1;
  const items = before.items.slice(0, kept);
  let top = heightOf(items);
  for (let start = same; start < transactions.length; ) {
    const key = dayOf(transactions[start]!.date);
    let end = start;
    while (end < transactions.length && dayOf(transactions[end]!.date) === key) end++;
    const ofDay = transactions.slice(start, end);
    items.push({ kind: "day", key, top, transactions: ofDay });
    top += headingHeight;
    for (const transaction of ofDay) {
      items.push({ kind: "row", key: transaction.id, top, transaction });
      top += rowHeight;
    }
    start = end;
  }
  return { transactions, items };
}

/**
 * sumsOf returns the sums of transactions per currency, of splits only the parts in the categories if there are any. Transfers are neither
 * expense nor income, and not in the sums.
 */
export function sumsOf(transactions: readonly Transaction[], categoryIds: readonly string[]): Money[] {
  return sum(transactions.filter(({ transferId }) => !transferId).map((transaction) => counted(transaction, categoryIds)));
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
