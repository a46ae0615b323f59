// The state of the reports. All of it is in the address, so that a link restores it.
import { addDays, addMonths, daysBetween, monthDays, monthOf, weekDays, type Day } from "../../dates/dates";
import { addressOf as listAddress, filtersOf, type Filters } from "../transactions/filters";

export const pages = ["cashflow", "spending", "comparison", "worth", "calendar"] as const;
const groupings = ["category", "wallet", "payee", "tag"] as const;

export type Grouping = (typeof groupings)[number];
export type Interval = "day" | "week" | "month" | "quarter" | "year";

/**
 * longest are the days of the longest period of each interval: a report has at most 400. A period
 * can begin on the last day of an interval, so whole weeks and years are fewer.
 */
const longest: Record<Interval, number> = { day: 400, week: 2794, month: 12_000, quarter: 36_000, year: 145_000 };

/** Chosen is the part of the state that the user has chosen. Defaults are absent. */
export interface Chosen {
  readonly page: (typeof pages)[number];
  readonly filters: Filters;
  readonly interval?: Interval;
  readonly by: Grouping;
  /** lines shows a line per group instead of stacked bars. */
  readonly lines: boolean;
  /** year compares with the year before, and otherwise with the period before. */
  readonly year: boolean;
  /** income compares incomes, and otherwise spending. */
  readonly income: boolean;
}

/** State has the defaults too. Its filters have a period and a currency. */
export interface State extends Chosen {
  readonly chosen: Chosen;
  readonly filters: Filters & { readonly from: Day; readonly to: Day; readonly currency: string };
  readonly interval: Interval;
}

/** chosenOf reads what the user has chosen from the address. */
export function chosenOf(query: URLSearchParams): Chosen {
  const one = <T extends string>(name: string, values: readonly T[]) => values.find((value) => value === query.get(name));
  const { walletId, categoryId, tag, payee, currency, from, to } = filtersOf(query);
  const ordered = from && to && from > to ? {} : { from, to };
  return {
    page: one("page", pages) ?? "cashflow",
    filters: { walletId, categoryId, tag, payee, currency, ...ordered },
    interval: one("interval", Object.keys(longest) as Interval[]),
    by: one("by", groupings) ?? "category",
    lines: query.get("view") === "lines",
    year: query.get("with") === "year",
    income: query.get("of") === "income",
  };
}

/** addressOf returns the address of the reports with the choices of the user. */
export function addressOf({ page, filters, interval, by, lines, year, income }: Chosen): string {
  const query = new URLSearchParams(listAddress(filters).split("?")[1]);
  for (const [name, value] of [
    ["page", page === "cashflow" ? undefined : page],
    ["interval", interval],
    ["by", by === "category" ? undefined : by],
    ["view", lines && "lines"],
    ["with", year && "year"],
    ["of", income && "income"],
  ] as const) {
    if (value) query.set(name, value);
  }
  const text = query.toString();
  return text ? `/reports?${text}` : "/reports";
}

/**
 * stateOf adds the defaults: the last twelve months, but a comparison is of the month before. A
 * calendar shows the last month of the period, and by default the current one.
 */
export function stateOf(chosen: Chosen, today: Day, currency: string): State {
  const month = monthOf(today);
  const days =
    chosen.page === "comparison"
      ? monthDays(addMonths(month, -1))
      : { from: `${addMonths(month, -11)}-01`, to: monthDays(month).to };
  const { from = days.from, to = days.to > from ? days.to : from } = chosen.filters;
  const first = from > to ? to : from;
  const { interval } = chosen;
  if (chosen.page === "calendar") {
    const shown = monthDays(monthOf(chosen.filters.to ?? today));
    const filters = { ...chosen.filters, ...shown, currency: chosen.filters.currency ?? currency };
    return { ...chosen, chosen, filters, interval: "day" };
  }
  return {
    ...chosen,
    chosen,
    filters: { ...chosen.filters, from: first, to, currency: chosen.filters.currency ?? currency },
    interval: interval && intervalsOf(first, to).includes(interval) ? interval : fitting(first, to),
  };
}

/** intervalsOf returns the intervals of which a period has at most as many as a report may have. */
export function intervalsOf(from: Day, to: Day): Interval[] {
  const days = daysBetween(from, to) + 1;
  return (Object.keys(longest) as Interval[]).filter((interval) => days <= longest[interval]);
}

/** fitting returns an interval with which a chart of the period is readable. */
function fitting(from: Day, to: Day): Interval {
  const days = daysBetween(from, to) + 1;
  if (days <= 31) return "day";
  if (days <= 120) return "week";
  return days <= 3 * 366 ? "month" : days <= 10 * 366 ? "quarter" : "year";
}

/** Preset is a period that is chosen by its name. */
interface Preset {
  readonly name: "thisMonth" | "lastMonth" | "months3" | "months6" | "months12" | "thisYear" | "lastYear" | "years3" | "years10";
  readonly from: Day;
  readonly to: Day;
}

/** presetsOf returns the periods that are chosen by name. Those of several months end with this one. */
export function presetsOf(today: Day): Preset[] {
  const month = monthOf(today);
  const year = Number(today.slice(0, 4));
  const back = (n: number) => ({ from: `${addMonths(month, 1 - n)}-01`, to: monthDays(month).to });
  return [
    { name: "thisMonth", ...monthDays(month) },
    { name: "lastMonth", ...monthDays(addMonths(month, -1)) },
    { name: "months3", ...back(3) },
    { name: "months6", ...back(6) },
    { name: "months12", ...back(12) },
    { name: "thisYear", from: `${year}-01-01`, to: `${year}-12-31` },
    { name: "lastYear", from: `${year - 1}-01-01`, to: `${year - 1}-12-31` },
    { name: "years3", ...back(36) },
    { name: "years10", ...back(120) },
  ];
}

/** weeksOf returns the days of a month by week. Those of other months are undefined. */
export function weeksOf(first: Day): (Day | undefined)[][] {
  const weeks: (Day | undefined)[][] = [];
  for (let day = weekDays(first).from; day <= monthDays(monthOf(first)).to; day = addDays(day, 7)) {
    const days = Array.from({ length: 7 }, (_, i) => addDays(day, i));
    weeks.push(days.map((one) => (monthOf(one) === monthOf(first) ? one : undefined)));
  }
  return weeks;
}

/** queryOf returns the filters as parameters of a report. */
export function queryOf({ filters: { from, to, currency, payee, walletId, categoryId, tag } }: State) {
  return { from, to, currency, payee, walletId: [...walletId], categoryId: [...categoryId], tag: [...tag] };
}

/** balancesOf returns the filters and the interval as parameters of the net worth, which no other filter changes. */
export function balancesOf({ filters: { from, to, currency, walletId }, interval }: State) {
  return { from, to, currency, walletId: [...walletId], interval };
}

/** withOf returns what a comparison compares with. */
export function withOf({ year }: State): "year" | "previous" {
  return year ? "year" : "previous";
}

/**
 * remedyOf returns what works instead of a report with too many transactions: the period since the
 * day that the error names, and otherwise whole months by category, which have no limit.
 */
export function remedyOf(state: State, message: string | undefined): { since?: Day; chosen: Chosen } {
  const { chosen, filters } = state;
  const since = /must be (\d{4}-\d{2}-\d{2})/.exec(message ?? "")?.[1];
  if (since && chosen.page !== "calendar")
    return { since, chosen: { ...chosen, filters: { ...chosen.filters, from: since, to: filters.to } } };
  const from = `${monthOf(filters.from)}-01`;
  const { to } = monthDays(monthOf(filters.to));
  const interval = ["quarter", "year"].includes(state.interval) ? state.interval : "month";
  const whole = { ...chosen.filters, tag: [], payee: undefined, from, to };
  const page = chosen.page === "calendar" ? "cashflow" : chosen.page;
  return { chosen: { ...chosen, page, by: "category", interval, filters: whole } };
}
