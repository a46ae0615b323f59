export default {
  title: "Receipt",
  empty: "No receipt chosen",
  emptyText: "Enter the transaction by hand, or upload the receipt through the API.",
  byHand: "Enter by hand",
};
