export default {
  title: "Categories",
  empty: "No categories yet",
  emptyText: "Categories group transactions, for example groceries and rent.",
};
