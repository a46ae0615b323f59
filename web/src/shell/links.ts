// The entries of the navigation.
import type common from "../i18n/en";
import type { IconName } from "../components/icons";

type Text = {
  [K in keyof typeof common]: (typeof common)[K] extends string ? K : never;
}[keyof typeof common];

export interface Entry {
  readonly path: string;
  readonly text: Text;
  readonly icon: IconName;
}

export const mainEntries: readonly Entry[] = [
  { path: "/", text: "home", icon: "home" },
  { path: "/transactions", text: "transactions", icon: "list" },
  { path: "/budgets", text: "budgets", icon: "budget" },
];

export const moreEntries: readonly Entry[] = [
  { path: "/reports", text: "reports", icon: "chart" },
  { path: "/goals", text: "goals", icon: "goal" },
  { path: "/receipt", text: "receipt", icon: "scan" },
  { path: "/imports", text: "imports", icon: "upload" },
  { path: "/rules", text: "rules", icon: "filter" },
  { path: "/wallets", text: "wallets", icon: "wallet" },
  { path: "/categories", text: "categories", icon: "tag" },
  { path: "/invitations", text: "invitations", icon: "mail" },
  { path: "/settings", text: "settings", icon: "settings" },
];

/** above returns the path of the screen above. On a phone, those of moreEntries are below More. */
export function above(path: string): string | undefined {
  if (/^\/(export|webhooks)$/.test(path)) return "/settings/data";
  if (moreEntries.some((entry) => entry.path === path)) return "/more";
  return /^\/(budgets|webhooks|imports|settings|wallets)(?=\/)/.exec(path)?.[0];
}

/** isCurrent reports whether a path is that of an entry, or below it as /budgets/1 or /export. */
export function isCurrent({ path }: Entry, current: string): boolean {
  for (let at: string | undefined = current; at; at = above(at)) if (at === path) return true;
  return false;
}
