// The filters of the transaction list: in the address of the page, in requests, and as typed text such as ">50 food last month".
import { addMonths, isDay, monthDays, monthOf, type Day } from "../../dates/dates";
import type { Digits } from "../../money/json";

/**
 * Filters are those of the screen. Amounts are without sign, as users think of them, and apply to one type; without a type they are
 * those of expenses.
 */
export interface Filters {
  readonly q?: string;
  readonly walletId: readonly string[];
  readonly categoryId: readonly string[];
  readonly tag: readonly string[];
  /** untagged selects the transactions without tags. It excludes tag. */
  readonly untagged?: boolean;
  readonly payee?: string;
  readonly type?: "expense" | "income" | "transfer";
  readonly currency?: string;
  readonly from?: Day;
  readonly to?: Day;
  readonly minAmount?: Digits;
  readonly maxAmount?: Digits;
}

export const noFilters: Filters = { walletId: [], categoryId: [], tag: [] };

const amount = /^\d{1,12}(\.\d{1,4})?$/;

/** filtersOf reads the filters from the query of the address. Values that the API would reject are left out. */
export function filtersOf(query: URLSearchParams): Filters {
  const valid = (name: string, test: (text: string) => boolean) => {
    const value = query.get(name);
    return value && test(value) ? value : undefined;
  };
  const uuid = /^[0-9a-f-]{36}$/;
  const digits = (text: string) => amount.test(text);
  return typed({
    q: query.get("q") || undefined,
    walletId: query.getAll("wallet").filter((id) => uuid.test(id)),
    categoryId: query.getAll("category").filter((id) => uuid.test(id)),
    tag: query.has("untagged") ? [] : query.getAll("tag"),
    untagged: query.has("untagged") || undefined,
    payee: query.get("payee") || undefined,
    type: valid("type", (text) => /^(expense|income|transfer)$/.test(text)) as Filters["type"],
    currency: valid("currency", (text) => /^[A-Z]{3}$/.test(text)),
    from: valid("from", isDay),
    to: valid("to", isDay),
    minAmount: valid("min", digits) as Digits | undefined,
    maxAmount: valid("max", digits) as Digits | undefined,
  });
}

/** typed adds the type that an amount refers to. */
function typed(filters: Filters): Filters {
  return !filters.type && (filters.minAmount || filters.maxAmount) ? { ...filters, type: "expense" } : filters;
}

/** requestOf returns the query parameters of the API, where the amounts of expenses are negative. */
export function requestOf(filters: Filters): Filters {
  if (filters.type !== "expense") return filters;
  const negative = (digits: Digits | undefined) => digits && (`-${digits}` as Digits);
  return { ...filters, minAmount: negative(filters.maxAmount), maxAmount: negative(filters.minAmount) };
}

/** addressOf returns the address of the list with filters. */
export function addressOf(filters: Filters): string {
  const query = new URLSearchParams();
  if (filters.q) query.set("q", filters.q);
  filters.walletId.forEach((id) => query.append("wallet", id));
  filters.categoryId.forEach((id) => query.append("category", id));
  filters.tag.forEach((name) => query.append("tag", name));
  for (const [name, value] of [
    ["untagged", filters.untagged && "true"],
    ["payee", filters.payee],
    ["type", filters.type],
    ["currency", filters.currency],
    ["from", filters.from],
    ["to", filters.to],
    ["min", filters.minAmount],
    ["max", filters.maxAmount],
  ] as const) {
    if (value) query.set(name, value);
  }
  const text = query.toString();
  return text ? `/transactions?${text}` : "/transactions";
}

/** isFiltered reports whether any filter is set. */
export function isFiltered(filters: Filters): boolean {
  return addressOf(filters) !== "/transactions";
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Vocabulary is what a typed text can refer to, in the user's language. */
export interface Vocabulary {
  readonly wallets: readonly Named[];
  readonly categories: readonly Named[];
  readonly today: Day;
  readonly income: string;
  readonly expense: string;
  readonly transfer: string;
  /** months are the names of the twelve months. */
  readonly months: readonly string[];
}

const thisMonth = /\b(this month|diesen monat|dieser monat)\b/i;
const lastMonth = /\b(last month|letzten monat|letzter monat|vormonat)\b/i;

/**
 * readFilters turns a typed text into filters: ">50" and "<20" are amounts, "#holiday" is a tag, names of wallets, categories and months
 * and words such as "last month" are filters, and the rest is searched in payees, descriptions and notes.
 */
export function readFilters(text: string, base: Filters, words: Vocabulary): Filters {
  let rest = ` ${text} `;
  let filters: Filters = { ...base, q: undefined };
  const take = (pattern: RegExp, apply: (match: RegExpExecArray) => Partial<Filters>) => {
    const match = pattern.exec(rest);
    if (!match) return;
    rest = rest.replace(match[0], " ");
    filters = { ...filters, ...apply(match) };
  };
  take(/>=?\s*(\d+(?:[.,]\d{1,2})?)(?=\s)/, ([, n]) => ({ minAmount: n!.replace(",", ".") as Digits }));
  take(/<=?\s*(\d+(?:[.,]\d{1,2})?)(?=\s)/, ([, n]) => ({ maxAmount: n!.replace(",", ".") as Digits }));
  while (/\s#[^\s#,/]/.test(rest)) take(/(?<=\s)#([^\s#,/]+)/, ([, name]) => ({ tag: [...new Set([...filters.tag, name!])], untagged: undefined }));
  take(thisMonth, () => monthDays(monthOf(words.today)));
  take(lastMonth, () => monthDays(addMonths(monthOf(words.today), -1)));
  words.months.forEach((name, i) =>
    take(word(name, "(?:\\s+(\\d{4}))?"), (match) => monthDays(latestMonth(i + 1, words.today, match[1]))),
  );
  take(word(words.income), () => ({ type: "income" }));
  take(word(words.expense), () => ({ type: "expense" }));
  take(word(words.transfer), () => ({ type: "transfer" }));
  for (const { id, name } of longestFirst(words.categories)) take(word(name), () => ({ categoryId: [...new Set([...filters.categoryId, id])] }));
  for (const { id, name } of longestFirst(words.wallets)) take(word(name), () => ({ walletId: [...new Set([...filters.walletId, id])] }));
  return typed({ ...filters, q: rest.trim().replace(/\s+/g, " ") || undefined });
}

/** word matches a name between spaces, in any case. */
function word(name: string, suffix = ""): RegExp {
  return new RegExp(`(?<=\\s)${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}${suffix}(?=\\s)`, "i");
}

function longestFirst(items: readonly Named[]): Named[] {
  return [...items].sort((a, b) => b.name.length - a.name.length);
}

/** latestMonth returns the latest month of that number that is not in the future, or that of the given year. */
function latestMonth(number: number, today: Day, year: string | undefined): string {
  const month = String(number).padStart(2, "0");
  const current = monthOf(today);
  const inYear = `${year ?? current.slice(0, 4)}-${month}`;
  return !year && inYear > current ? addMonths(inYear, -12) : inYear;
}
