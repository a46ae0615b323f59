// The choices of wallets and categories that the server does not have yet. All functions are pure.
import type { Account, Category, Defaults, Import } from "./types";

type AccountChoice = Pick<Account, "key" | "walletId" | "create"> & { name?: string };
type CategoryChoice = Pick<Category, "name" | "categoryId" | "create">;

/** Choices are by key of the account, name of the category and name of the default. */
export interface Choices {
  readonly accounts?: Record<string, AccountChoice>;
  readonly categories?: Record<string, CategoryChoice>;
  readonly defaults?: Defaults;
}

/** withChoices returns an import as the user sees it: with the choices. */
export function withChoices(data: Import, { accounts, categories, defaults }: Choices): Import {
  return {
    ...data,
    accounts: data.accounts.map((of) => ({ ...of, ...accounts?.[of.key] })),
    categories: data.categories.map((of) => ({ ...of, ...categories?.[of.name] })),
    defaults: { ...data.defaults, ...defaults },
  };
}

/** remaining returns the choices that are not among those that were sent. */
export function remaining(choices: Choices, sent: Choices): Choices {
  const without = <T>(of: Record<string, T> = {}, known: Record<string, T> = {}) =>
    Object.fromEntries(Object.entries(of).filter(([key, value]) => known[key] !== value));
  return {
    accounts: without(choices.accounts, sent.accounts),
    categories: without(choices.categories, sent.categories),
    defaults: without(choices.defaults as Record<string, string>, sent.defaults as Record<string, string>),
  };
}
