// The burn-down of a window: the amount left at the end of each day, and the amount that even
// spending would have left.
import type { Transaction } from "../../api/types";
import { dayOf, type Day } from "../../dates/dates";
import { daysOf, type Window } from "../../dates/windows";
import { counted } from "../../money/counted";
import type { Money } from "../../money/money";

interface Burndown {
  readonly days: readonly Day[];
  /** left is undefined for the days to come. */
  readonly left: readonly (bigint | undefined)[];
  readonly plan: readonly bigint[];
}

/**
 * burndown counts the transactions in the currency of the limit, as the API does: of a split only
 * the parts in the categories, and a refund adds to what is left. The last value is therefore what
 * the API reports as remaining.
 */
export function burndown(window: Window, limit: Money, transactions: readonly Transaction[], categoryIds: readonly string[], now: Day): Burndown {
  const days = daysOf(window);
  const changes = new Map<Day, bigint>();
  for (const transaction of transactions) {
    if (transaction.currency !== limit.currency) continue;
    const day = dayOf(transaction.date);
    changes.set(day, (changes.get(day) ?? 0n) + counted(transaction, categoryIds).minor);
  }
  // Transactions of the days to come count too, so the line continues to the last one of them.
  const last = [...changes.keys()].reduce((a, b) => (b > a ? b : a), now);
  let rest = limit.minor;
  const left = days.map((day) => {
    rest += changes.get(day) ?? 0n;
    return day <= last ? rest : undefined;
  });
  const plan = days.map(
    (_, i) => limit.minor - (limit.minor * BigInt(i + 1)) / BigInt(days.length),
  );
  return { days, left, plan };
}
