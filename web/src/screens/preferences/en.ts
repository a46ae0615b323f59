export default {
  text: "These settings apply on all your devices.",
  fields: { timeZone: "Time zone", weekStart: "First day of the week", locale: "Regional format", baseCurrency: "Main currency", defaultWalletId: "Usual wallet", defaultCategoryId: "Usual category" },
  weekStarts: { monday: "Monday", sunday: "Sunday", saturday: "Saturday" },
};
