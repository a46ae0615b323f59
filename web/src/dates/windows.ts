// Windows of budgets: how much of one has passed, and days of the windows before it. The API
// computes the windows themselves.
import { addDays, addMonths, dayNumber, daysBetween, monthDays, monthOf, type Day } from "./dates";

export interface Window {
  /** from and to are the first and the last day. */
  readonly from: Day;
  readonly to: Day;
}

const inDays: Record<string, number> = { daily: 1, weekly: 7, biweekly: 14 };
const inMonths: Record<string, number> = { monthly: 1, quarterly: 3, half_yearly: 6, yearly: 12 };

/** windowLength returns the number of days of a window. */
export function windowLength({ from, to }: Window): number {
  return daysBetween(from, to) + 1;
}

/** elapsedDays returns how many days of a window have begun: 0 before it, all of them after it. */
export function elapsedDays(window: Window, now: Day): number {
  return Math.max(0, Math.min(windowLength(window), daysBetween(window.from, now) + 1));
}

/** daysLeft returns the days until the end of a window, today included, and 0 after it. */
export function daysLeft({ to }: Window, now: Day): number {
  return Math.max(0, daysBetween(now, to) + 1);
}

/** daysOf returns all days of a window. */
export function daysOf(window: Window): Day[] {
  return Array.from({ length: windowLength(window) }, (_, i) => addDays(window.from, i));
}

/**
 * earlierDays returns a day in each of the windows before one, newest first, none before the first
 * day of the budget. The days are in the middle of their windows, so that the different lengths of
 * months do not matter.
 */
export function earlierDays(period: string, window: Window, first: Day, most: number): Day[] {
  const middle = addDays(window.from, Math.floor((windowLength(window) - 1) / 2));
  const days: Day[] = [];
  for (let i = 1; i <= most; i++) {
    const day = before(middle, period, i);
    if (day === undefined || day < first) break;
    days.push(day);
  }
  return days;
}

function before(day: Day, period: string, windows: number): Day | undefined {
  if (inDays[period]) return addDays(day, -inDays[period] * windows);
  if (!inMonths[period]) return undefined;
  const month = addMonths(monthOf(day), -inMonths[period] * windows);
  const last = dayNumber(monthDays(month).to);
  return `${month}-${String(Math.min(dayNumber(day), last)).padStart(2, "0")}`;
}
