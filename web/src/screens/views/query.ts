// The filters of the console as the query of a view, and back. All functions are pure.
import { addressOf, filtersOf, requestOf, type Filters } from "../transactions/filters";

/** queryOf returns the query string of the API with the same filters and the same order. */
export function queryOf(filters: Filters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(requestOf(filters)))
    for (const item of Array.isArray(value) ? value : [value]) if (item !== undefined && item !== "") query.append(name, String(item));
  query.sort();
  return query.toString();
}

const names: Record<string, string> = { walletId: "wallet", categoryId: "category", minAmount: "min", maxAmount: "max" };

/**
 * addressOfView returns the address of the list with the filters of a view. It returns undefined if the console does not have one of them,
 * because another program made the view: without it, the list would have other transactions.
 */
export function addressOfView(query: string): string | undefined {
  const stored = new URLSearchParams(query);
  const address = new URLSearchParams();
  const swapped: Record<string, string> = stored.get("type") === "expense" ? { minAmount: "max", maxAmount: "min" } : {};
  for (const [name, value] of stored) address.append(swapped[name] ?? names[name] ?? name, swapped[name] ? value.replace(/^-/, "") : value);
  const filters = filtersOf(address);
  stored.sort();
  return queryOf(filters) === stored.toString() ? addressOf(filters) : undefined;
}
