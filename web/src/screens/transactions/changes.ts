// Changes of transactions from the list.
import { api, newKey, versionSeen } from "../../api/api";
import { announce } from "../../api/topics";
import type { Transaction } from "../../api/types";
import { money } from "../../money/money";

/** setCategory moves a transaction, as the list shows it, to a category. */
export async function setCategory(shown: Transaction, categoryId: string): Promise<Transaction> {
  const { id } = shown;
  const version = await versionSeen("/api/v1/transaction/{id}", shown);
  const { transaction } = await api.patch("/api/v1/transaction/{id}", {
    path: { id },
    body: { categoryId },
    version,
  });
  announce("transactions");
  return transaction;
}

/** hasCategory reports whether a transaction has one category: legs and adjustments have none, a split several. */
export function hasCategory({ categoryId }: Transaction): boolean {
  return categoryId !== undefined;
}

/** lockedOf returns the given transactions that a reconciliation locks. It locks a transfer with one of its legs. */
export function lockedOf(rows: readonly Transaction[], given: ReadonlySet<string>): string[] {
  const locked = rows.filter(({ reconciled }) => reconciled);
  const transfers = new Set(locked.flatMap(({ transferId }) => transferId ?? []));
  return rows
    .filter(({ id, transferId, reconciled }) => given.has(id) && (reconciled || transfers.has(transferId ?? "")))
    .map(({ id }) => id);
}

/** legsOf returns an expense and an income that can become a transfer, the expense first. */
export function legsOf(
  transactions: readonly Transaction[],
): [out: Transaction, arrived: Transaction] | undefined {
  const [a, b, c] = transactions;
  if (!a || !b || c || !transactions.every((one) => hasCategory(one) && !one.receiptId))
    return undefined;
  const [out, arrived] = a.type === "expense" ? [a, b] : [b, a];
  const opposite =
    out.type === "expense" && arrived.type === "income" && out.walletId !== arrived.walletId;
  const equal =
    out.currency !== arrived.currency ||
    money(out.amount, out.currency).minor === -money(arrived.amount, arrived.currency).minor;
  return opposite && equal ? [out, arrived] : undefined;
}

/** match makes a transfer of an expense and an income. */
export async function match(out: Transaction, arrived: Transaction): Promise<void> {
  await api.post("/api/v1/transfers/match", {
    body: { outTransactionId: out.id, inTransactionId: arrived.id },
    key: newKey(),
  });
  announce("transactions");
}

/** payeeOf returns the payee that all transactions have. */
export function payeeOf(transactions: readonly Transaction[]): string | undefined {
  const payee = transactions[0]?.payee;
  return payee && transactions.every((one) => one.payee === payee) ? payee : undefined;
}

/**
 * setAlways creates a rule that gives a payee a category. The first rule that sets a category
 * decides it, so an existing rule of this kind gets the category instead: a second one would have
 * no effect.
 */
export async function setAlways(payee: string, categoryId: string, key: string): Promise<void> {
  const same = (value: string | undefined) => value?.toLowerCase() === payee.toLowerCase();
  const actions = [{ kind: "setCategory" as const, value: categoryId }];
  const { rules } = await api.get("/api/v1/rules");
  const existing = rules.find(
    ({ conditions: [one, another], actions: [action, more] }) =>
      !another && !more && one?.field === "payee" && one.op === "is" && !one.not && same(one.values[0]) && action?.kind === "setCategory",
  );
  if (existing) {
    const version = await versionSeen("/api/v1/rules/{id}", existing);
    await api.patch("/api/v1/rules/{id}", {
      path: { id: existing.id },
      body: { actions, enabled: true },
      version,
    });
  } else {
    const name = [...payee].slice(0, 100).join("");
    const conditions = [{ field: "payee" as const, op: "is" as const, values: [payee] }];
    await api.post("/api/v1/rules", { body: { name, conditions, actions }, key });
  }
  announce("rules");
}
