export default {
  title: "Invitations",
  empty: "No invitations",
  emptyText: "When someone shares a budget with you, it appears here.",
};
