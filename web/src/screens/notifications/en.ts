export default {
  title: "Notifications",
  empty: "Nothing new",
  emptyText: "Alerts of budgets and invitations appear here.",
};
