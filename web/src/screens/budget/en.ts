export default {
  title: "Budget",
  limit: "Limit",
  spent: "Spent",
  remaining: "Left",
};
