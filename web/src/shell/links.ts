// The entries of the navigation.
import type common from "../i18n/en";
import type { IconName } from "../components/icons";

type Text = { [K in keyof typeof common]: (typeof common)[K] extends string ? K : never }[keyof typeof common];

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
  { path: "/receipt", text: "receipt", icon: "scan" },
  { path: "/wallets", text: "wallets", icon: "wallet" },
  { path: "/categories", text: "categories", icon: "tag" },
  { path: "/invitations", text: "invitations", icon: "mail" },
  { path: "/webhooks", text: "webhooks", icon: "webhook" },
  { path: "/settings", text: "settings", icon: "settings" },
];

/** isCurrent reports whether a path belongs to an entry: /budgets/1 belongs to /budgets, and the screens of Settings, Data to /settings. */
export function isCurrent(entry: Entry, path: string): boolean {
  if (entry.path === "/settings" && /^\/(imports|rules|export)\b/.test(path)) return true;
  return entry.path === "/" ? path === "/" : path === entry.path || path.startsWith(`${entry.path}/`);
}
