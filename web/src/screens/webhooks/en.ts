export default {
  title: "Webhooks",
  empty: "No webhooks yet",
  emptyText: "A webhook sends each change to a server of yours.",
};
