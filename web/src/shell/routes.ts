// The screens of the console. Each is a lazy chunk with its messages beside it:
// src/screens/<name>/{<Component>.svelte,en.ts,de.ts}.
import type { Component } from "svelte";
import { loadMessages } from "../i18n/i18n.svelte";

type Load = () => Promise<{ default: Component<Record<string, never>> }>;

/** screens maps names of screens to components. The name is that of the folder, or in textsOf. */
export const screens: Record<string, Load> = {
  signin: () => import("../screens/signin/Signin.svelte"),
  // The sign-in loads this for a user with a second factor.
  secondstep: () =>
    import("../screens/secondstep/SecondStep.svelte") as unknown as ReturnType<Load>,
  links: () => import("../screens/links/Links.svelte"),
  welcome: () => import("../screens/welcome/Welcome.svelte"),
  home: () => import("../screens/home/Home.svelte"),
  transactions: () => import("../screens/transactions/Transactions.svelte"),
  receipt: () => import("../screens/receipt/Receipt.svelte"),
  reports: () => import("../screens/reports/Reports.svelte"),
  budgets: () => import("../screens/budgets/Budgets.svelte"),
  budget: () => import("../screens/budgets/Budget.svelte"),
  goals: () => import("../screens/goals/Goals.svelte"),
  invitations: () => import("../screens/invitations/Invitations.svelte"),
  wallets: () => import("../screens/wallets/Wallets.svelte"),
  wallet: () => import("../screens/wallet/Wallet.svelte"),
  categories: () => import("../screens/categories/Categories.svelte"),
  webhooks: () => import("../screens/webhooks/Webhooks.svelte"),
  tokens: () => import("../screens/tokens/Tokens.svelte"),
  imports: () => import("../screens/imports/Imports.svelte"),
  import: () => import("../screens/imports/Import.svelte"),
  rules: () => import("../screens/rules/Rules.svelte"),
  export: () => import("../screens/export/Export.svelte"),
  settings: () => import("../screens/settings/Settings.svelte"),
  activity: () => import("../screens/activity/Activity.svelte"),
  preferences: () => import("../screens/preferences/Preferences.svelte"),
  tags: () => import("../screens/tags/Tags.svelte"),
  // The settings of security load these, and the shell the confirmation of the identity.
  factors: () => import("../screens/factors/Factors.svelte"),
  confirm: () => import("../screens/confirm/Confirm.svelte"),
  shortcuts: () => import("../screens/shortcuts/Shortcuts.svelte"),
  more: () => import("../screens/more/More.svelte"),
  // On a desktop, the list of transactions is a table.
  table: () => import("../screens/table/Table.svelte") as unknown as ReturnType<Load>,
  // The screens with transactions load these when entries are not sent.
  unsent: () => import("../screens/unsent/Unsent.svelte"),
  earlier: () => import("../screens/unsent/Earlier.svelte"),
  missing: () => import("../screens/missing/Missing.svelte"),
  // The sheet entry loads this part when its fold opens.
  attachments: () =>
    import("../screens/attachments/Attachments.svelte") as unknown as ReturnType<Load>,
};

/** sheets open above any screen, by a query parameter of their name: /?entry=new. */
export const sheets: Record<string, Load> = {
  entry: () => import("../screens/entry/Entry.svelte"),
  notifications: () => import("../screens/notifications/Notifications.svelte"),
  help: () => import("../screens/shortcuts/Help.svelte"),
  palette: () => import("../screens/palette/Palette.svelte"),
  views: () => import("../screens/views/Views.svelte"),
};

/** routes maps paths to names of screens. */
export const routes: Record<string, string> = {
  "/": "home",
  "/forgot": "links",
  "/reset": "links",
  "/verify": "links",
  "/revert": "links",
  "/join": "links",
  "/welcome": "welcome",
  "/transactions": "transactions",
  "/receipt": "receipt",
  "/reports": "reports",
  "/budgets": "budgets",
  "/budgets/:id": "budget",
  "/goals": "goals",
  "/invitations": "invitations",
  "/wallets": "wallets",
  "/wallets/:id": "wallet",
  "/categories": "categories",
  "/webhooks": "webhooks",
  "/webhooks/:id": "webhooks",
  "/tokens": "tokens",
  "/imports": "imports",
  "/imports/:id": "import",
  "/rules": "rules",
  "/export": "export",
  "/settings": "settings",
  "/settings/:section": "settings",
  "/more": "more",
};

/** textsOf are the folders of the screens that share their texts with another one. */
const textsOf: Record<string, string> = { budget: "budgets", import: "imports", earlier: "unsent", help: "shortcuts" };

const opened = new Map<string, Component<Record<string, never>>>();

/** openScreen loads the code and the texts of a screen. An opened one is there at once. */
export function openScreen(
  name: string,
): Component<Record<string, never>> | Promise<Component<Record<string, never>>> {
  return opened.get(name) ?? load(name);
}

async function load(name: string): Promise<Component<Record<string, never>>> {
  const [{ default: component }] = await Promise.all([
    (screens[name] ?? sheets[name])!(),
    loadMessages(textsOf[name] ?? name),
  ]);
  opened.set(name, component);
  return component;
}
