// The rows of the list: a heading for each day, and its transactions. The lines of a receipt are
// one row, which opens to its lines. Heights are fixed, so that only the visible rows need to
// exist.
import type { Transaction } from "../../api/types";
import { dayOf, type Day } from "../../dates/dates";
import { counted } from "../../money/counted";
import { add, sum, type Money } from "../../money/money";

export const headingHeight = 44;
export const rowHeight = 62;

/** Lines are a transaction, or the lines of a receipt that are one row. */
export type Lines = [Transaction, ...Transaction[]];

export type Item =
  | { readonly kind: "day"; readonly key: Day; readonly top: number; readonly transactions: readonly Transaction[] }
  | { readonly kind: "receipt"; readonly key: string; readonly top: number; readonly transactions: Lines; readonly open: boolean }
  | { readonly kind: "row"; readonly key: string; readonly top: number; readonly transaction: Transaction; readonly line: boolean };

/** A Grouping is a list with its items. opened has the keys of receipts whose lines are items. */
interface Grouping {
  readonly transactions: readonly Transaction[];
  readonly opened: ReadonlySet<string>;
  readonly items: readonly Item[];
}

export const noGroups: Grouping = { transactions: [], opened: new Set(), items: [] };

/** receiptKey identifies the lines of a receipt that are one row: those of one day and currency. */
export function receiptKey({ receiptId, date, currency }: Transaction): string {
  return `${receiptId} ${dayOf(date)} ${currency}`;
}

/** bundle returns each transaction alone, and the lines of a receipt together at the first one. */
export function bundle(transactions: readonly Transaction[]): Lines[] {
  const receipts = new Map<string, Lines>();
  const bundles: Lines[] = [];
  for (const transaction of transactions) {
    const key = transaction.receiptId && receiptKey(transaction);
    const lines = key && receipts.get(key);
    if (lines) lines.push(transaction);
    else {
      const added: Lines = [transaction];
      bundles.push(added);
      if (key) receipts.set(key, added);
    }
  }
  return bundles;
}

/**
 * group returns transactions, sorted by date, with a heading before those of each day. It keeps the
 * items of before up to the last day that both begin with, so that another page of a long list
 * costs its own rows only. A receipt whose lines are on two pages is in that day, so its row gets
 * the lines of the second one.
 */
export function group(transactions: readonly Transaction[], opened: ReadonlySet<string>, before: Grouping): Grouping {
  let same = 0;
  while (opened === before.opened && same < transactions.length && transactions[same] === before.transactions[same]) same++;
  // The day of the last common transaction may have more transactions now.
  const dayAt = (index: number) => transactions[index] && dayOf(transactions[index].date);
  const day = dayAt(same - 1);
  while (same > 0 && dayAt(same - 1) === day) same--;
  const changed = before.transactions[same];
  const kept =
    same &&
    before.items.findLastIndex((item) => item.kind === "day" && item.transactions[0] === changed);
  const items = before.items.slice(0, kept);
  let top = heightOf(items);
  let start = same;
  for (let key = dayAt(start); key; key = dayAt(start)) {
    let end = start;
    while (dayAt(end) === key) end++;
    const ofDay = transactions.slice(start, end);
    items.push({ kind: "day", key, top, transactions: ofDay });
    top += headingHeight;
    for (const lines of bundle(ofDay)) {
      const line = lines.length > 1;
      const receipt = line ? receiptKey(lines[0]) : "";
      const open = opened.has(receipt);
      if (line) {
        items.push({ kind: "receipt", key: receipt, top, transactions: lines, open });
        top += rowHeight;
      }
      for (const transaction of line && !open ? [] : lines) {
        items.push({ kind: "row", key: transaction.id, top, transaction, line });
        top += rowHeight;
      }
    }
    start = end;
  }
  return { transactions, opened, items };
}

/**
 * sumsOf returns the sums of transactions per currency, of splits only the parts in the categories
 * if there are any. Transfers are neither expense nor income, and not in the sums.
 */
export function sumsOf(
  transactions: readonly Transaction[],
  categoryIds: readonly string[],
): Money[] {
  return sum(
    transactions
      .filter(({ transferId }) => !transferId)
      .map((transaction) => counted(transaction, categoryIds)),
  );
}

/** totalOf returns the sum of the lines of a receipt. They have one currency, and none is a leg. */
export function totalOf(lines: Lines, categoryIds: readonly string[]): Money {
  return lines.map((line) => counted(line, categoryIds)).reduce(add);
}

/** heightOf returns the height of all items. */
export function heightOf(items: readonly Item[]): number {
  const last = items.at(-1);
  return last ? last.top + (last.kind === "day" ? headingHeight : rowHeight) : 0;
}

/** visible returns the interval of items between two positions, by binary search. */
export function visible(
  items: readonly Item[],
  from: number,
  to: number,
): { start: number; end: number } {
  const first = (at: number) => {
    let low = 0;
    let high = items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((items[middle]?.top ?? at) < at) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return { start: Math.max(0, first(from) - 1), end: first(to) };
}
