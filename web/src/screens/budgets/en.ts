export default {
  title: "Budgets",
  empty: "No budgets yet",
  emptyText: "A budget limits the spending of some categories in a period.",
};
