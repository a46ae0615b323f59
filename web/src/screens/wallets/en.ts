export default {
  title: "Wallets",
  empty: "No wallets yet",
  emptyText: "A wallet is an account, a card or cash.",
};
