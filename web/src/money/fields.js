/** moneyFields are the JSON fields with amounts. A unit test compares them with the API. */
export const moneyFields = new Set([
  "amount", "balance", "initialBalance", "income", "expense", "net", "spent", "remaining", "limit", "unitPrice",
  "discount", "rounding", "subtotal", "tax", "tip", "total", "minAmount", "maxAmount", "toAmount", "transferredIn", "transferredOut",
  "openingBalance", "closingBalance", "formerAmount", "saved", "target", "neededPerMonth",
  "averagePerMonth", "assigned", "free", "balances", "assets", "debts", "adjusted",
]);
