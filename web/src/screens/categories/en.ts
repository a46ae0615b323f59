import { plural } from "../../i18n/i18n.svelte";

export default {
  title: "Categories",
  empty: "No categories yet",
  emptyText: "Categories group transactions, for example groceries and rent. Choose some to start with:",
  addStarters: (n: number) => plural(n, { one: "Add # category", other: "Add # categories" }),
  create: "New category",
  createButton: "Create category",
  edit: "Edit category",
  merge: "Merge into another",
  actions: (name: string) => `Actions for ${name}`,
  search: "Search categories",
  nothing: (text: string) => `No category contains “${text}”`,
  wasDeleted: (name: string) => `“${name}” is deleted`,
  wasMerged: (name: string, target: string) => `“${name}” is now part of “${target}”`,

  nameHint: "Groceries",
  kind: "For",
  kinds: { expense: "Expenses", income: "Income", both: "Both" },
  groups: { expense: "Expenses", income: "Income", both: "Expenses and income" },
  kindHint: "Forms offer the category for these transactions. Existing ones do not change.",
  exists: "You already have a category with this name.",
  limit: "You have 1000 categories, which is the limit. Merge or delete one.",

  mergeTitle: (name: string) => `Merge “${name}”`,
  deleteTitle: (name: string) => `Delete “${name}”`,
  usedBy: (name: string, used: boolean, budgets: string, n: number) =>
    [used && `Transactions use “${name}”.`, n === 1 && `The budget ${budgets} uses it.`, n > 1 && `The budgets ${budgets} use it.`].filter(Boolean).join(" "),
  needsTarget: "Choose the category that they get instead.",
  mergeText: (name: string) => `All transactions and budgets of “${name}” move to the category that you choose.`,
  target: "New category",
  choose: "Choose a category",
  steps: (name: string, target: string) => `Everything in “${name}” will be in “${target}”. Then “${name}” is deleted.`,
  forever: "This cannot be undone: afterwards, the transactions of the two categories cannot be distinguished.",
  noTarget: "This is your only category. Create another one first.",
  mergeButton: "Merge",
  quoted: (name: string) => `“${name}”`,
};
