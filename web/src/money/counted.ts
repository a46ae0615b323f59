// The amounts of transactions that count in categories.
import type { Transaction } from "../api/types";
import { money, type Money } from "./money";

/**
 * counted returns the amount of a transaction that counts in categories: that of its parts in them
 * if it is split, as in the totals of the API. Without categories, the whole amount counts.
 */
export function counted(
  { amount, currency, type, splits }: Pick<Transaction, "amount" | "currency" | "type" | "splits">,
  categoryIds: readonly string[],
): Money {
  if (!splits?.length || !categoryIds.length) return money(amount, currency);
  const parts = splits.filter(({ categoryId }) => categoryIds.includes(categoryId));
  const minor = parts.reduce((sum, part) => sum + money(part.amount, currency).minor, 0n);
  return { minor: type === "expense" ? -minor : minor, currency };
}
