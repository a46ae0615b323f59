// The names of intervals.
import { formatMonth, formatShortDay, monthOf } from "../../dates/dates";
import type { Period } from "./report";
import type { Interval } from "./state";

const quarter = (day: string) => `Q${Math.ceil(Number(day.slice(5, 7)) / 3)} ${day.slice(0, 4)}`;

/** nameOf returns the name of an interval: "March 2026". */
export function nameOf({ start, end }: Period, interval: Interval, locale: string): string {
  switch (interval) {
    case "day": return formatShortDay(start, locale);
    case "week": return start === end ? formatShortDay(start, locale) : `${formatShortDay(start, locale)} – ${formatShortDay(end, locale)}`;
    case "month": return formatMonth(monthOf(start), locale);
    case "quarter": return quarter(start);
    case "year": return start.slice(0, 4);
  }
}

/** shortNameOf returns the name below an axis: "Mar", with the year in January. */
export function shortNameOf({ start }: Period, interval: Interval, locale: string): string {
  if (interval === "quarter" || interval === "year") return interval === "year" ? start.slice(0, 4) : quarter(start);
  if (interval !== "month") return formatShortDay(start, locale);
  const january = start.slice(5, 7) === "01";
  return new Intl.DateTimeFormat(locale, { month: "short", year: january ? "numeric" : undefined, timeZone: "UTC" }).format(new Date(`${start}T00:00:00Z`));
}
