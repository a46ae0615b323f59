// Changes of transactions from the list.
import { api, fetched } from "../../api/api";
import { announce } from "../../api/topics";
import type { Transaction } from "../../api/types";

/** setCategory moves a transaction to a category. The version is read first, so that a change made meanwhile elsewhere is not overwritten. */
export async function setCategory(id: string, categoryId: string): Promise<Transaction> {
  const { version } = await fetched("/api/v1/transaction/{id}", { path: { id } });
  const { transaction } = await api.patch("/api/v1/transaction/{id}", { path: { id }, body: { categoryId }, version });
  announce("transactions");
  return transaction;
}
