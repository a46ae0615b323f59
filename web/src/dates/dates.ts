// Civil dates as strings YYYY-MM-DD and months as YYYY-MM. The day of a transaction is the UTC date
// of its time, as in the API.

export type Day = string;
export type Month = string;

const dayLength = 86_400_000;

/** utc returns the beginning of a day in UTC, the time zone in which civil dates are formatted. */
export function utc(day: Day): Date {
  return new Date(`${day}T00:00:00Z`);
}

function iso(date: Date): Day {
  return date.toISOString().slice(0, 10);
}

type WeekStart = "monday" | "sunday" | "saturday";

/** browserZone is the name of the browser's time zone. */
export const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

let zone = browserZone;
let weekStart: WeekStart = "monday";

/**
 * useDaySettings sets the time zone that decides which day is today, and the first day of the week,
 * from the settings of the user. Without settings, or if the browser does not know the zone, it is
 * that of the browser.
 */
export function useDaySettings(
  settings: { timeZone?: string; weekStart?: WeekStart } | undefined,
): void {
  weekStart = settings?.weekStart ?? "monday";
  zone = settings?.timeZone ?? browserZone;
  try {
    today();
  } catch {
    zone = browserZone;
  }
}

/** today returns the current day in the time zone of the settings. Nothing else decides it. */
export function today(now = new Date()): Day {
  // Swedish dates have the form YYYY-MM-DD.
  return format(now, "sv-SE", { timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" });
}

const firstWeekdays: Record<WeekStart, number> = { sunday: 0, monday: 1, saturday: 6 };

/** weekDays returns the first and last day of a day's week, which begins as the settings say. */
export function weekDays(day: Day): { from: Day; to: Day } {
  const from = addDays(day, -((utc(day).getUTCDay() - firstWeekdays[weekStart] + 7) % 7));
  return { from, to: addDays(from, 6) };
}

/** dayOf returns the day of an RFC 3339 time. */
export function dayOf(time: string): Day {
  return time.slice(0, 10);
}

export function addDays(day: Day, days: number): Day {
  return iso(new Date(utc(day).getTime() + days * dayLength));
}

/** daysBetween returns the number of days from the first day to the second. */
export function daysBetween(from: Day, to: Day): number {
  return Math.round((utc(to).getTime() - utc(from).getTime()) / dayLength);
}

export function monthOf(day: Day): Month {
  return day.slice(0, 7);
}

export function addMonths(month: Month, months: number): Month {
  const date = utc(`${month}-01`);
  date.setUTCMonth(date.getUTCMonth() + months);
  return iso(date).slice(0, 7);
}

/** monthDays returns the first and the last day of a month. */
export function monthDays(month: Month): { from: Day; to: Day } {
  return { from: `${month}-01`, to: addDays(`${addMonths(month, 1)}-01`, -1) };
}

/** dayNumber returns the day of the month, 1 to 31. */
export function dayNumber(day: Day): number {
  return Number(day.slice(8, 10));
}

/** isDay reports whether a text is an existing date. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(utc(text).getTime()) && iso(utc(text)) === text;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

function format(date: Date, locale: string, options: Intl.DateTimeFormatOptions): string {
  const key = locale + JSON.stringify(options);
  let made = formatters.get(key);
  if (!made) {
    made = new Intl.DateTimeFormat(locale, options);
    formatters.set(key, made);
  }
  return made.format(date);
}

/** formatDay returns "Today", "Yesterday" or "Mon, November 16", with the year if it is another. */
export function formatDay(day: Day, locale: string, now: Day = today()): string {
  const distance = daysBetween(now, day);
  if (distance >= -1 && distance <= 1) {
    const text = new Intl.RelativeTimeFormat(locale, { numeric: "auto" }).format(distance, "day");
    return text.charAt(0).toLocaleUpperCase(locale) + text.slice(1);
  }
  const year = day.slice(0, 4) === now.slice(0, 4) ? undefined : "numeric";
  return format(utc(day), locale, { weekday: "short", day: "numeric", month: "long", year, timeZone: "UTC" });
}

/** formatShortDay returns "Nov 16", or "Nov 16, 2025" if the year is not the current one. */
export function formatShortDay(day: Day, locale: string, now: Day = today()): string {
  const year = day.slice(0, 4) === now.slice(0, 4) ? undefined : "numeric";
  return format(utc(day), locale, { day: "numeric", month: "short", year, timeZone: "UTC" });
}

/** formatMonth returns "November 2026", or "November" in the current year. */
export function formatMonth(month: Month, locale: string, now: Day = today()): string {
  const year = month.slice(0, 4) === now.slice(0, 4) ? undefined : "numeric";
  return format(utc(`${month}-01`), locale, { month: "long", year, timeZone: "UTC" });
}

/** formatTime returns the date and time of an RFC 3339 time in the time zone of the settings. */
export function formatTime(time: string, locale: string): string {
  return format(new Date(time), locale, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZone: zone });
}

/** formatAgo returns "now", "3 minutes ago", "yesterday" and so on. */
export function formatAgo(time: string, locale: string, now = Date.now()): string {
  const seconds = (new Date(time).getTime() - now) / 1000;
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  for (const [unit, length] of [["day", 86_400], ["hour", 3_600], ["minute", 60]] as const) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  }
  return relative.format(0, "second");
}
