// The comparison of the items of a receipt with its total. Pure functions, with unit tests.
import { digits, zero, type Money } from "../../money/money";
import type { Digits } from "../../money/json";

/** adjustments are the amounts between the items and the total, as they are shown. */
export const adjustments = ["tax", "tip", "discount", "rounding"] as const;
export type Adjustment = (typeof adjustments)[number];

export interface Comparison {
  readonly sum: Money;
  /** rest is the part of the total that the items lack; negative if they exceed it. */
  readonly rest: Money;
  /** count is the number of transactions: one for each item and adjustment that is not zero. */
  readonly count: number;
}

/** compare adds items and adjustments, less a discount, and compares them with the total. */
export function compare(items: readonly Money[], adjusted: Readonly<Partial<Record<Adjustment, Money>>>, total: Money): Comparison {
  const parts = items.map(({ minor }) => minor);
  for (const name of adjustments) {
    const amount = adjusted[name]?.minor ?? 0n;
    parts.push(name === "discount" ? -amount : amount);
  }
  const sum = { ...zero(total.currency), minor: parts.reduce((all, part) => all + part, 0n) };
  return { sum, rest: { ...sum, minor: total.minor - sum.minor }, count: parts.filter((part) => part !== 0n).length };
}

/** sameAmount reports whether digits of the API have the value of an amount. */
export function sameAmount(read: Digits | undefined, amount: Money): boolean {
  if (!read) return false;
  const plain = (text: string) => text.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
  return plain(read) === plain(digits(amount));
}
