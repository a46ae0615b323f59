export default {
  title: "Go to",
  hint: "Screen, action, wallet, category, payee …",
  searchFor: (text: string) => `Search transactions for “${text}”`,
  groups: {
    actions: "Action",
    views: "View",
    screens: "Screen",
    wallets: "Wallet",
    categories: "Category",
    payees: "Payee",
    search: "Search",
  },
  actions: [
    ["/receipt", "Read a receipt"],
    ["/imports", "Import a file"],
    ["/export", "Export"],
    ["/transactions?type=transfer", "Transfers"],
  ] as readonly (readonly [path: string, text: string])[],
  screens: [
    ["/settings/security", "Security"],
    ["/settings/data", "Data"],
    ["/tokens", "Access tokens"],
    ["/webhooks", "Webhooks"],
  ] as readonly (readonly [path: string, text: string])[],
};
