/** moneyFields are the names of all JSON fields that contain an amount of money. A unit test compares them with the OpenAPI document. */
export const moneyFields = new Set([
  "amount", "balance", "initialBalance", "income", "expense", "net", "spent", "remaining", "limit", "unitPrice",
  "discount", "rounding", "subtotal", "tax", "tip", "total", "minAmount", "maxAmount", "toAmount", "transferredIn", "transferredOut",
  "openingBalance", "closingBalance",
]);
