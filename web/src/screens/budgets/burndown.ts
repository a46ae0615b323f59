// The burn-down of a window: the amount left at the end of each day, and the amount that even spending would have left.
import type { Transaction } from "../../api/types";
import { dayOf, type Day } from "../../dates/dates";
import { daysOf, type Window } from "../../dates/windows";
import { money, type Money } from "../../money/money";

export interface Burndown {
  readonly days: readonly Day[];
  /** left is undefined for the days to come. */
  readonly left: readonly (bigint | undefined)[];
  readonly plan: readonly bigint[];
}

/** burndown counts the transactions in the currency of the limit, as the API does: a refund adds to what is left. */
export function burndown(window: Window, limit: Money, transactions: readonly Transaction[], now: Day): Burndown {
  const days = daysOf(window);
  const changes = new Map<Day, bigint>();
  for (const { date, amount, currency } of transactions) {
    if (currency !== limit.currency) continue;
    const day = dayOf(date);
    changes.set(day, (changes.get(day) ?? 0n) + money(amount, currency).minor);
  }
  // Transactions of the days to come count too, so the line continues to the last one of them.
  const last = [...changes.keys()].reduce((a, b) => (b > a ? b : a), now);
  let rest = limit.minor;
  const left = days.map((day) => {
    rest += changes.get(day) ?? 0n;
    return day <= last ? rest : undefined;
  });
  const plan = days.map((_, i) => limit.minor - (limit.minor * BigInt(i + 1)) / BigInt(days.length));
  return { days, left, plan };
}
