// The standing of a budget in a window, as numbers for the card and the detail.
import type { Budget, BudgetLimit } from "../../api/types";
import type { Day } from "../../dates/dates";
import { daysLeft, elapsedDays, windowLength, type Window } from "../../dates/windows";
import { abs, money, type Money } from "../../money/money";

interface Standing {
  readonly window: Window;
  readonly limit: Money;
  readonly spent: Money;
  /** rest is the amount that is left, or by which the limit is exceeded if over is true. */
  readonly rest: Money;
  readonly over: boolean;
  readonly percentage: number;
  readonly state: "ok" | "near" | "over";
  /** elapsed is the part of the window that has passed, 0 to 1. */
  readonly elapsed: number;
  readonly daysLeft: number;
  /**
   * ahead is even spending up to today less the spending: positive if less was spent. It is absent
   * outside of the window.
   */
  readonly ahead: Money | undefined;
}

/** standing returns undefined if the API knows no progress at the moment. */
export function standing({ progress, limit, currency }: Budget, now: Day): Standing | undefined {
  if (!progress) return undefined;
  const window = { from: progress.windowStart, to: progress.windowEnd };
  const [whole, spent, remaining] = [
    money(limit, currency),
    money(progress.spent, currency),
    money(progress.remaining, currency),
  ];
  const [length, elapsed] = [windowLength(window), elapsedDays(window, now)];
  const running = now >= window.from && now <= window.to;
  const planned = (whole.minor * BigInt(elapsed)) / BigInt(length);
  return {
    window,
    limit: whole,
    spent,
    rest: abs(remaining),
    over: remaining.minor < 0n,
    percentage: progress.percentage,
    state: progress.state,
    elapsed: elapsed / length,
    daysLeft: daysLeft(window, now),
    ahead: running ? { minor: planned - spent.minor, currency } : undefined,
  };
}

/**
 * limitOf returns the limit at the end of a window, and the spending as a percentage of it. limits
 * has the newest first. A limit in another currency than the spending cannot be compared, so the
 * present one counts then.
 */
export function limitOf(
  limits: readonly BudgetLimit[],
  { windowEnd, spent }: Pick<NonNullable<Budget["progress"]>, "windowEnd" | "spent">,
  currency: string,
) {
  const [present, first] = [limits[0], limits.at(-1)];
  if (!present || !first) throw new RangeError("a budget has a limit from its start on");
  const then = limits.find(({ from }) => from <= windowEnd) ?? first;
  const { limit } = then.currency === currency ? then : present;
  const [part, whole] = [Number(spent), Number(limit)];
  // As in the API: rounded to two decimals, and 100 only if the limit is reached.
  const percentage = Math.round((part / whole) * 10_000) / 100;
  return { limit, percentage: part < whole ? Math.min(percentage, 99.99) : percentage };
}

/** percentText returns "62%". It rounds down: 100% means that the limit is reached. */
export function percentText(percentage: number, locale: string): string {
  return new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 }).format(
    Math.floor(percentage) / 100,
  );
}

/** ringText returns a percentage that fits into a ring, such as "62%" or "999+". */
export function ringText(percentage: number): string {
  return percentage >= 1000 ? "999+" : `${Math.floor(percentage)}%`;
}
