// The numbers of a report as exact amounts, each with the filters of its list of transactions.
import type { components } from "../../api/coffer";
import { money } from "../../money/money";
import { noFilters, type Filters } from "../transactions/filters";
import type { Grouping, State } from "./state";

type Schemas = components["schemas"];
type Comparison = Schemas["Comparison"];

/** Period is an interval: its first and its last day. */
export interface Period {
  readonly start: string;
  readonly end: string;
}

export interface Numbers {
  readonly income: readonly bigint[];
  readonly expense: readonly bigint[];
}

/** Kind is what a number is the sum of. */
export type Kind = "income" | "expense" | "net";

/** Group has the numbers of a group by interval, and the filters that select its transactions. */
export interface Group extends Numbers {
  readonly key: string;
  readonly name: string;
  readonly filters: Partial<Filters>;
  /** count is the number of groups that this one adds up. */
  readonly count: number;
}

/**
 * othersKey is the key of the group that adds up all others. Keys of payees and tags are in lower
 * case, so no group has it, not even that of a payee "Other".
 */
export const othersKey = "OTHERS";

export interface Report {
  readonly periods: readonly Period[];
  readonly totals: Numbers;
  readonly groups: readonly Group[];
  readonly other?: Group;
  /** hidden is the number of tags without numbers. Their sum would count transactions twice. */
  readonly hidden: number;
}

/** sumOf adds up numbers. */
export function sumOf(values: readonly bigint[]): bigint {
  return values.reduce((sum, value) => sum + value, 0n);
}

/** numberOf returns a number of an interval. */
export function numberOf({ income, expense }: Numbers, kind: Kind, i: number): bigint {
  const [earned = 0n, spent = 0n] = [income[i], expense[i]];
  return kind === "income" ? earned : kind === "expense" ? spent : earned - spent;
}

/** totalOf returns the sum of a number over all intervals. */
export function totalOf({ income, expense }: Numbers, kind: Kind): bigint {
  return numberOf({ income: [sumOf(income)], expense: [sumOf(expense)] }, kind, 0);
}

/** selects returns the filters that select the transactions of a group. */
function selects(by: Grouping, key: string, name: string): Partial<Filters> {
  switch (by) {
    case "category": return { categoryId: [key] };
    case "wallet": return { walletId: [key] };
    case "payee": return key ? { payee: name } : { withoutPayee: true };
    case "tag": return key ? { tag: [name] } : { untagged: true };
  }
}

/**
 * excludes returns the filters that select all groups except some. Where the report itself is
 * limited to some, these are the rest of them.
 */
function excludes(by: Grouping, keys: readonly string[], { walletId, categoryId }: Filters): Partial<Filters> {
  const rest = (ids: readonly string[]) => ids.filter((id) => !keys.includes(id));
  if (by === "wallet") return walletId.length ? { walletId: rest(walletId) } : { exceptWalletId: keys };
  if (by === "category") return categoryId.length ? { categoryId: rest(categoryId) } : { exceptCategoryId: keys };
  return { exceptPayee: keys };
}

/** Names are the names of groups without a name. */
export interface Names {
  readonly withoutPayee: string;
  readonly untagged: string;
  readonly others: (n: number) => string;
}

function named(by: Grouping, { key, name }: { key: string; name: string }, names: Names): string {
  return key ? name : by === "tag" ? names.untagged : names.withoutPayee;
}

/**
 * shownIn reports whether a group belongs to a report by tag with a filter by tags. Transactions
 * with these tags have others too, and no list selects those with both.
 */
function shownIn(by: Grouping, name: string, { tag }: Filters): boolean {
  return by !== "tag" || !tag.length || tag.some((one) => one.toLowerCase() === name.toLowerCase());
}

/** reportOf converts a report of the API. */
export function reportOf({ intervals, totals, series, other }: Schemas["Report"], by: Grouping, { filters }: State, names: Names): Report {
  const { currency } = filters;
  const amounts = (list: readonly string[]) => list.map((digits) => money(digits, currency).minor);
  const numbers = (of: { income: readonly string[]; expense: readonly string[] } | undefined): Numbers => ({ income: amounts(of?.income ?? []), expense: amounts(of?.expense ?? []) });
  const groups = series
    .filter(({ name }) => shownIn(by, name, filters))
    .map((one) => ({ ...numbers(one), key: one.key, name: named(by, one, names), filters: selects(by, one.key, one.name), count: 1 }));
  const keys = groups.map(({ key }) => key);
  const rest = other && by !== "tag" ? { ...numbers(other), key: othersKey, name: names.others(other.groups), filters: excludes(by, keys, filters), count: other.groups } : undefined;
  return { periods: intervals, totals: numbers(totals), groups, other: rest, hidden: by === "tag" && !filters.tag.length ? (other?.groups ?? 0) : 0 };
}

/**
 * largest returns the groups with the largest sums of a kind, and one that adds up all others. Tags
 * have none, because their sum would count transactions twice.
 */
export function largest({ groups, other, periods }: Report, kind: "income" | "expense", most: number, by: Grouping, { filters }: State, names: Names): Group[] {
  const sorted = groups
    .filter((group) => group[kind].some((value) => value !== 0n))
    .sort((a, b) => Number(sumOf(b[kind]) > sumOf(a[kind])) - Number(sumOf(b[kind]) < sumOf(a[kind])));
  const wanted = other?.[kind].some((value) => value !== 0n) ? other : undefined;
  if (sorted.length <= most && !wanted) return sorted;
  const head = sorted.slice(0, most);
  if (by === "tag") return head;
  const rest = [...sorted.slice(most), ...(wanted ? [wanted] : [])];
  const add = (of: "income" | "expense") => periods.map((_, i) => sumOf(rest.map((group) => group[of][i] ?? 0n)));
  const count = rest.reduce((sum, group) => sum + group.count, 0);
  const keys = head.map(({ key }) => key);
  return [...head, { key: othersKey, name: names.others(count), filters: excludes(by, keys, filters), income: add("income"), expense: add("expense"), count }];
}

/** listOf returns the filters of the list of transactions of a number. */
export function listOf({ filters }: State, kind: Kind, { start, end }: Period, group: Partial<Filters> = {}): Filters {
  const { walletId, categoryId, tag, payee, currency } = filters;
  const type = kind === "net" ? { counted: true } : { type: kind };
  return { ...noFilters, walletId, categoryId, tag, payee, currency, from: start, to: end, ...type, ...group };
}

/** Pair has the numbers of a group in two periods. */
export interface Pair {
  readonly key: string;
  readonly name: string;
  readonly filters: Partial<Filters>;
  readonly now: bigint;
  readonly before: bigint;
  /** count is the number of groups that this one adds up. */
  readonly count: number;
}

/**
 * pairsOf returns the groups of a comparison, those with the largest difference first, and one that
 * adds up all groups beyond most. Tags have none, as in largest.
 */
export function pairsOf({ groups, other }: Comparison, most: number, state: State, names: Names): Pair[] {
  const kind = state.income ? "income" : "expense";
  const { by, filters } = state;
  const changed = ({ now, before }: { now: bigint; before: bigint }) => now !== 0n || before !== 0n;
  const pairs = groups
    .filter(({ name }) => shownIn(by, name, filters))
    .map((group) => ({ ...pairOf(group, kind, filters.currency), key: group.key, name: named(by, group, names), filters: selects(by, group.key, group.name), count: 1 }))
    .filter(changed);
  const [head, rest] = [pairs.slice(0, most), pairs.slice(most)];
  const others = [...rest, ...(other ? [{ ...pairOf(other, kind, filters.currency), count: other.groups }] : [])];
  const [now, before] = [sumOf(others.map((pair) => pair.now)), sumOf(others.map((pair) => pair.before))];
  if (by === "tag" || !others.some(changed)) return head;
  const count = others.reduce((sum, pair) => sum + pair.count, 0);
  return [...head, { key: othersKey, name: names.others(count), filters: excludes(by, head.map(({ key }) => key), filters), now, before, count }];
}

/** pairOf returns a number of a group in both periods. */
export function pairOf(group: Comparison["totals"] | Comparison["other"], kind: "income" | "expense", currency: string): { now: bigint; before: bigint } {
  const amount = (of: "now" | "before") => money(group?.[of]?.[kind] ?? "0", currency).minor;
  return { now: amount("now"), before: amount("before") };
}
