// The filters of the console as the query of a view, and back. All functions are pure.
import { addressOf as addressOfReports, chosenOf, type Chosen } from "../reports/state";
import { addressOf, filtersOf, requestOf, type Filters } from "../transactions/filters";
import type { View } from "./views.svelte";

/** queryOf returns the query string of the API with the same filters and the same order. */
export function queryOf(filters: Filters): string {
  return queryWith(requestOf(filters));
}

/** reportViewOf returns the kind and the query string of the API for the report that the user has chosen. */
export function reportViewOf({ page, filters, interval, by, year, income }: Chosen): Pick<View, "kind" | "query"> {
  const { from, to, currency, walletId } = filters;
  switch (page) {
    case "comparison": return { kind: "comparison", query: queryWith({ ...filters, groupBy: by, with: year ? "year" : undefined, orderBy: income ? "income" : undefined }) };
    case "worth": return { kind: "balances", query: queryWith({ from, to, currency, walletId, interval }) };
    case "calendar": return { kind: "calendar", query: queryWith(filters) };
    default: return { kind: "report", query: queryWith({ ...filters, interval, groupBy: page === "spending" ? by : undefined }) };
  }
}

function queryWith(values: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    for (const item of Array.isArray(value) ? value : [value]) if (item !== undefined && item !== "") query.append(name, String(item));
  query.sort();
  return query.toString();
}

const names: Record<string, string> = { walletId: "wallet", categoryId: "category", minAmount: "min", maxAmount: "max", groupBy: "by", orderBy: "of" };

/** pages are the pages of the reports that show a view. That of a report depends on its groups. */
const pages: Partial<Record<View["kind"], Chosen["page"]>> = { comparison: "comparison", balances: "worth", calendar: "calendar" };

/** defaults are values of the API that mean the same as no value. */
const defaults: Record<string, string> = { groupBy: "none", with: "previous", orderBy: "expense" };

/**
 * addressOfView returns the address of the list or report with the filters of a view. It returns undefined if the console does not have
 * one of them, because another program made the view: without it, the list would have other transactions.
 */
export function addressOfView(view: Pick<View, "kind" | "query">): string | undefined {
  return view.kind === "transactions" ? addressOfList(view.query) : addressOfReport(view);
}

function addressOfReport({ kind, query }: Pick<View, "kind" | "query">): string | undefined {
  const stored = new URLSearchParams(query);
  for (const [name, value] of Object.entries(defaults)) if (stored.get(name) === value) stored.delete(name);
  if (kind === "comparison" && !stored.has("groupBy")) stored.set("groupBy", "category");
  const address = new URLSearchParams();
  for (const [name, value] of stored) address.append(names[name] ?? name, value);
  const page = pages[kind] ?? (stored.has("groupBy") ? "spending" : undefined);
  if (page) address.set("page", page);
  const chosen = chosenOf(address);
  const same = reportViewOf(chosen);
  stored.sort();
  return same.kind === kind && same.query === stored.toString() ? addressOfReports(chosen) : undefined;
}

function addressOfList(query: string): string | undefined {
  const stored = new URLSearchParams(query);
  const address = new URLSearchParams();
  const swapped: Record<string, string> = stored.get("type") === "expense" ? { minAmount: "max", maxAmount: "min" } : {};
  for (const [name, value] of stored) address.append(swapped[name] ?? names[name] ?? name, swapped[name] ? value.replace(/^-/, "") : value);
  const filters = filtersOf(address);
  stored.sort();
  return queryOf(filters) === stored.toString() ? addressOf(filters) : undefined;
}
