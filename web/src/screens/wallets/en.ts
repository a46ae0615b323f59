import { plural } from "../../i18n/i18n.svelte";

export default {
  title: "Wallets",
  empty: "No wallets yet",
  emptyText: "A wallet is an account, a card or cash. Each transaction belongs to one.",
  create: "New wallet",
  edit: "Edit wallet",
  total: "Total of all wallets",
  archived: (n: number) => plural(n, { one: "# archived wallet", other: "# archived wallets" }),
  allArchived: "All your wallets are archived",
  allArchivedText: "Restore one of them below, or create another one.",
  more: (n: number) => plural(n, { one: "# more currency", other: "# more currencies" }),
  actions: (name: string) => `Actions for ${name}`,
  archive: "Archive",
  restore: "Restore",
  wasArchived: (name: string) => `“${name}” is archived`,
  wasRestored: (name: string) => `“${name}” is back in the list`,
  wasDeleted: (name: string) => `“${name}” is deleted`,

  reorder: "Change the order",
  done: "Done",
  move: (name: string) => `Move ${name}`,
  moveHint: "Drag a wallet, or select its handle and press the arrow keys.",
  movedTo: (name: string, place: number, of: number) => `${name}, place ${place} of ${of}`,

  nameHint: "Checking account",
  kind: "Kind",
  kinds: {
    cash: "Cash", checking: "Checking account", savings: "Savings", card: "Card", loan: "Loan",
    investment: "Investment", asset: "Asset", other: "Other",
  },
  opening: "Opening balance",
  openingHint:
    "What it held before that day’s transactions. It may be negative. Balances of earlier days do not contain it.",
  openingAlways: "Without a day, the opening balance counts for all days.",
  openingDate: "Opening day",
  balances: "Balances",
  createButton: "Create wallet",
  limit: "You have 500 wallets, which is the limit. Delete one that has no transactions.",
  unsupported: "Coffer does not know this currency.",

  deleteTitle: (name: string) => `Delete “${name}”?`,
  usedTitle: (name: string) => `“${name}” cannot be deleted`,
  used: "It has transactions, and they would lose their wallet. Archive it instead: it disappears from lists and forms, and its transactions stay.",
  usedArchived:
    "It has transactions, and they would lose their wallet. It is archived already: lists and forms do not show it.",
  usedOnlyEmpty: "To delete it, first delete its transactions or move them to another wallet.",
  worth: "Net worth",
  reconcile: "Reconcile",
  showTransactions: "Show transactions",
  quoted: (name: string) => `“${name}”`,
  budgets: (names: string, n: number) =>
    n === 1
      ? `The budget ${names} counts this wallet only. It stays, but without progress.`
      : `The budgets ${names} count this wallet only. They stay, but without progress.`,
};
