// The latest transactions on the device: suggestions while a user types, and the list without a
// connection.
import { read, write } from "../offline/store";
import type { Transaction } from "./types";

/** kept is the number of transactions that are stored on the device. */
export const kept = 200;

export async function recentTransactions(): Promise<readonly Transaction[]> {
  return (await read<Transaction[]>("snapshot", "transactions").catch(() => undefined)) ?? [];
}

export async function keepRecent(transactions: readonly Transaction[]): Promise<void> {
  await write("snapshot", ["transactions", transactions.slice(0, kept)]).catch(() => undefined);
}

/** suggestions returns the latest different payees or descriptions that contain the typed text. */
export function suggestions(
  transactions: readonly Transaction[],
  of: "payee" | "description",
  text: string,
  most = 5,
): Transaction[] {
  const typed = text.trim().toLocaleLowerCase();
  if (typed.length < 2) return [];
  const found = new Map<string, Transaction>();
  for (const transaction of transactions) {
    const name = (transaction[of] ?? "").toLocaleLowerCase();
    if (!name.includes(typed) || name === typed || found.has(name) || transaction.transferId)
      continue;
    found.set(name, transaction);
    if (found.size === most) break;
  }
  return [...found.values()];
}

/** byUse sorts items by how often recent transactions use them; equal ones keep their order. */
export function byUse<T extends { id: string }>(
  items: readonly T[],
  transactions: readonly Transaction[],
  idOf: (transaction: Transaction) => string | undefined,
): T[] {
  const uses = new Map<string, number>();
  for (const transaction of transactions) {
    const id = idOf(transaction);
    if (id) uses.set(id, (uses.get(id) ?? 0) + 1);
  }
  return [...items].sort((a, b) => (uses.get(b.id) ?? 0) - (uses.get(a.id) ?? 0));
}
