export default {
  hint: "Shortcuts work while no field has the focus. “?” shows this list on every screen.",
  add: "New transaction",
  search: "Search",
  palette: "Go to a screen, wallet, category or view",
  home: "Go to Home",
  transactions: "Go to Transactions",
  budgets: "Go to Budgets",
  rows: "Next and previous row",
  edit: "Edit the row",
  select: "Select the row",
  help: "This list",
};
