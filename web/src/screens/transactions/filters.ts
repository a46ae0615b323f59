// The filters of the transaction list: in the address of the page and in requests.
import { isDay, type Day } from "../../dates/dates";
import type { Digits } from "../../money/json";

/**
 * Filters are those of the screen. Amounts are without sign, as users think of them, and apply to
 * one type; without a type they are those of expenses.
 */
export interface Filters {
  readonly q?: string;
  readonly walletId: readonly string[];
  readonly categoryId: readonly string[];
  readonly tag: readonly string[];
  /** untagged selects the transactions without tags. It excludes tag. */
  readonly untagged?: boolean;
  readonly payee?: string;
  /** withoutPayee selects the transactions without payee. It excludes payee. */
  readonly withoutPayee?: boolean;
  /** The lists that begin with except select what is outside of them. Each excludes its opposite. */
  readonly exceptWalletId?: readonly string[];
  readonly exceptCategoryId?: readonly string[];
  /** exceptPayee has an empty text if transactions without payee are excluded. */
  readonly exceptPayee?: readonly string[];
  /** counted selects income and spending, and no transfers. */
  readonly counted?: boolean;
  readonly type?: "expense" | "income" | "transfer" | "adjustment";
  readonly currency?: string;
  readonly from?: Day;
  readonly to?: Day;
  readonly minAmount?: Digits;
  readonly maxAmount?: Digits;
  /** sort is the order of the table if it is not the newest first. */
  readonly sort?: "date" | "amount" | "-amount";
}

export const noFilters: Filters = { walletId: [], categoryId: [], tag: [] };

const amount = /^\d{1,12}(\.\d{1,4})?$/;

/** filtersOf reads the filters from the address, without values that the API would reject. */
export function filtersOf(query: URLSearchParams): Filters {
  const valid = (name: string, test: (text: string) => boolean) => {
    const value = query.get(name);
    return value && test(value) ? value : undefined;
  };
  const uuid = /^[0-9a-f-]{36}$/;
  const ids = (name: string) => query.getAll(name).filter((id) => uuid.test(id));
  /** excluded returns a list, unless it is empty or its opposite is there. */
  const excluded = (list: readonly string[], opposite: string) => (list.length && !query.has(opposite) ? list : undefined);
  const digits = (text: string) => amount.test(text);
  return typed({
    q: query.get("q") || undefined,
    walletId: ids("wallet"),
    categoryId: ids("category"),
    tag: query.has("untagged") ? [] : query.getAll("tag"),
    untagged: query.has("untagged") || undefined,
    payee: query.get("payee") || undefined,
    withoutPayee: (query.has("nopayee") && !query.has("payee")) || undefined,
    exceptWalletId: excluded(ids("notwallet"), "wallet"),
    exceptCategoryId: excluded(ids("notcategory"), "category"),
    exceptPayee: excluded(query.getAll("notpayee"), "payee"),
    counted: query.has("counted") || undefined,
    type: valid("type", (text) => /^(expense|income|transfer|adjustment)$/.test(text)) as Filters["type"],
    currency: valid("currency", (text) => /^[A-Z]{3}$/.test(text)),
    from: valid("from", isDay),
    to: valid("to", isDay),
    minAmount: valid("min", digits) as Digits | undefined,
    maxAmount: valid("max", digits) as Digits | undefined,
    sort: valid("sort", (text) => /^(date|-?amount)$/.test(text)) as Filters["sort"],
  });
}

/** typed adds the type that an amount refers to. */
export function typed(filters: Filters): Filters {
  return !filters.type && (filters.minAmount || filters.maxAmount)
    ? { ...filters, type: "expense" }
    : filters;
}

/** requestOf returns the query of the API, where the amounts of expenses are negative. */
export function requestOf(filters: Filters): Filters {
  if (filters.type !== "expense") return filters;
  const negative = (digits: Digits | undefined) => digits && (`-${digits}` as Digits);
  return {
    ...filters,
    minAmount: negative(filters.maxAmount),
    maxAmount: negative(filters.minAmount),
  };
}

/** addressOf returns the address of the list with filters. */
export function addressOf(filters: Filters): string {
  const query = new URLSearchParams();
  if (filters.q) query.set("q", filters.q);
  filters.walletId.forEach((id) => query.append("wallet", id));
  filters.categoryId.forEach((id) => query.append("category", id));
  filters.tag.forEach((name) => query.append("tag", name));
  filters.exceptWalletId?.forEach((id) => query.append("notwallet", id));
  filters.exceptCategoryId?.forEach((id) => query.append("notcategory", id));
  filters.exceptPayee?.forEach((name) => query.append("notpayee", name));
  for (const [name, value] of [
    ["untagged", filters.untagged && "true"],
    ["payee", filters.payee],
    ["nopayee", filters.withoutPayee && "true"],
    ["counted", filters.counted && "true"],
    ["type", filters.type],
    ["currency", filters.currency],
    ["from", filters.from],
    ["to", filters.to],
    ["min", filters.minAmount],
    ["max", filters.maxAmount],
    ["sort", filters.sort],
  ] as const) {
    if (value) query.set(name, value);
  }
  const text = query.toString();
  return text ? `/transactions?${text}` : "/transactions";
}

/** isFiltered reports whether any filter is set. The order is none. */
export function isFiltered(filters: Filters): boolean {
  return addressOf({ ...filters, sort: undefined }) !== "/transactions";
}
