// The filters of the console as the query of a view, and back. All functions are pure.
import { addressOf as addressOfReports, chosenOf, type Chosen } from "../reports/state";
import { addressOf, filtersOf, requestOf, type Filters } from "../transactions/filters";
import type { View } from "./views.svelte";

/** queryOf returns the query string of the API with the same filters and the same order. */
export function queryOf(filters: Filters): string {
  return queryWith(requestOf(filters));
}

/**
 * reportQueryOf returns the query string of the API for the report that the user has chosen: without groups for the cash flow, and with
 * those of the spending. It returns undefined for the other pages, which are no report of this kind.
 */
export function reportQueryOf({ page, filters, interval, by }: Chosen): string | undefined {
  if (page !== "cashflow" && page !== "spending") return undefined;
  return queryWith({ ...filters, interval, groupBy: page === "spending" ? by : undefined });
}

function queryWith(values: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    for (const item of Array.isArray(value) ? value : [value]) if (item !== undefined && item !== "") query.append(name, String(item));
  query.sort();
  return query.toString();
}

const names: Record<string, string> = { walletId: "wallet", categoryId: "category", minAmount: "min", maxAmount: "max" };

/**
 * addressOfView returns the address of the list or report with the filters of a view. It returns undefined if the console does not have
 * one of them, because another program made the view: without it, the list would have other transactions.
 */
export function addressOfView({ kind, query }: Pick<View, "kind" | "query">): string | undefined {
  return kind === "report" ? addressOfReport(query) : addressOfList(query);
}

function addressOfReport(query: string): string | undefined {
  const stored = new URLSearchParams(query);
  if (stored.get("groupBy") === "none") stored.delete("groupBy");
  const address = new URLSearchParams();
  for (const [name, value] of stored) address.append(name === "groupBy" ? "by" : (names[name] ?? name), value);
  if (stored.has("groupBy")) address.set("page", "spending");
  const chosen = chosenOf(address);
  stored.sort();
  return reportQueryOf(chosen) === stored.toString() ? addressOfReports(chosen) : undefined;
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
