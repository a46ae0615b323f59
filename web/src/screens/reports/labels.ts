// The names of intervals.
import { addMonths, formatMonth, formatShortDay, monthDays, monthOf, utc } from "../../dates/dates";
import type { Period } from "./report";
import type { Interval } from "./state";

const quarter = (day: string) => `Q${Math.ceil(Number(day.slice(5, 7)) / 3)} ${day.slice(0, 4)}`;

const lengths: Partial<Record<Interval, number>> = { month: 1, quarter: 3, year: 12 };

/** isWhole reports whether an interval of months has all of their days. The period of a report may begin or end within one. */
function isWhole({ start, end }: Period, interval: Interval): boolean {
  const months = lengths[interval];
  return months !== undefined && start === `${monthOf(start)}-01` && end === monthDays(addMonths(monthOf(start), months - 1)).to;
}

/** nameOf returns the name of an interval: "March 2026", or its days if it is not a whole one. */
export function nameOf(period: Period, interval: Interval, locale: string): string {
  const { start, end } = period;
  if (!isWhole(period, interval))
    return [...new Set([start, end])].map((day) => formatShortDay(day, locale)).join(" – ");
  if (interval === "month") return formatMonth(monthOf(start), locale);
  return interval === "quarter" ? quarter(start) : start.slice(0, 4);
}

/** shortNameOf returns the name below an axis: "Mar", with the year in January, or the first day if the interval is not a whole one. */
export function shortNameOf(period: Period, interval: Interval, locale: string): string {
  const { start } = period;
  if (!isWhole(period, interval)) return formatShortDay(start, locale);
  if (interval === "quarter" || interval === "year") return interval === "year" ? start.slice(0, 4) : quarter(start);
  const january = start.slice(5, 7) === "01";
  return new Intl.DateTimeFormat(locale, { month: "short", year: january ? "numeric" : undefined, timeZone: "UTC" }).format(utc(start));
}
