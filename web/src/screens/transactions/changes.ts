// Changes of transactions from the list.
import { api, fetched, newKey } from "../../api/api";
import { announce } from "../../api/topics";
import type { Transaction } from "../../api/types";
import { money } from "../../money/money";

/** setCategory moves a transaction to a category. The version is read first, so that a change made meanwhile elsewhere is not overwritten. */
export async function setCategory(id: string, categoryId: string): Promise<Transaction> {
  const { version } = await fetched("/api/v1/transaction/{id}", { path: { id } });
  const { transaction } = await api.patch("/api/v1/transaction/{id}", { path: { id }, body: { categoryId }, version });
  announce("transactions");
  return transaction;
}

/** hasCategory reports whether a transaction has one category that can be changed: a leg has none, and a split has several. */
export function hasCategory({ transferId, splits }: Transaction): boolean {
  return !transferId && !splits?.length;
}

/** legsOf returns an expense and an income that can become a transfer, the expense first, and undefined for other transactions. */
export function legsOf(transactions: readonly Transaction[]): [out: Transaction, arrived: Transaction] | undefined {
  const [a, b] = transactions;
  if (transactions.length !== 2 || !transactions.every((one) => hasCategory(one) && !one.receiptId)) return undefined;
  const [out, arrived] = a!.type === "expense" ? [a!, b!] : [b!, a!];
  const opposite = out.type === "expense" && arrived.type === "income" && out.walletId !== arrived.walletId;
  const equal = out.currency !== arrived.currency || money(out.amount, out.currency).minor === -money(arrived.amount, arrived.currency).minor;
  return opposite && equal ? [out, arrived] : undefined;
}

/** match makes a transfer of an expense and an income. */
export async function match(out: Transaction, arrived: Transaction): Promise<void> {
  await api.post("/api/v1/transfers/match", { body: { outTransactionId: out.id, inTransactionId: arrived.id }, key: newKey() });
  announce("transactions");
}
