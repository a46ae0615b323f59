// Deletions of transactions, and what changes of many of them need.
import { api, newKey } from "../../api/api";
import { isProblem, type Problem } from "../../api/problem";
import { hide, reveal } from "../../api/removals.svelte";
import { announce } from "../../api/topics";
import { fail, offer } from "../../components/toasts.svelte";
import { loadMessages, messages } from "../../i18n/i18n.svelte";
import type en from "../table/en";

/** mostInBatch is the number of transactions that the API deletes in one request. */
const mostInBatch = 500;

/**
 * removeTransactions hides transactions, and deletes them unless the user takes it back. unlock also
 * deletes those that a reconciliation locks.
 */
export function removeTransactions(ids: readonly string[], text: string, unlock = false): void {
  hide(ids, text, () => void commit(ids, unlock));
}

/** commit deletes transactions. All requests start at once, because the page may be left. */
async function commit(ids: readonly string[], unlock: boolean): Promise<void> {
  const batches = Array.from({ length: Math.ceil(ids.length / mostInBatch) }, (_, i) =>
    ids.slice(i * mostInBatch, (i + 1) * mostInBatch),
  );
  const locked: string[] = [];
  const send = async (batch: readonly string[]) => {
    try {
      const kept = await deleteAll(batch, unlock);
      reveal(kept);
      locked.push(...kept);
    } catch (reason) {
      reveal(batch);
      return reason;
    }
    return undefined;
  };
  const failures = await Promise.all(batches.map(send));
  announce("transactions");
  const [failure] = failures.filter(Boolean);
  if (failure) fail(failure);
  if (locked.length) await offerUnlock(locked);
}

/** offerUnlock offers to delete transactions of whose locks the list did not know. */
async function offerUnlock(ids: readonly string[]): Promise<void> {
  await loadMessages("table");
  const t = messages<typeof en>("table");
  offer(t.locked(ids.length), t.lockedDeletion, { label: t.deleteAnyway, run: () => void commit(ids, true) });
}

/**
 * deleteAll deletes a batch without the transactions that were deleted elsewhere, and without those
 * that a reconciliation locks. It returns the locked ones.
 */
async function deleteAll(batch: readonly string[], unlock: boolean): Promise<string[]> {
  const locked: string[] = [];
  for (let left = batch; left.length; ) {
    try {
      await patient(() => sendDeletion(left, unlock));
      break;
    } catch (error) {
      if (!isProblem(error)) throw error;
      const reconciled = error.code === reconciledCode;
      const named = reconciled || error.status === 404 ? namedOf(error, "ids", left) : [];
      if (!named.length) throw error;
      if (reconciled) locked.push(...named);
      left = left.filter((id) => !named.includes(id));
    }
  }
  return locked;
}

function sendDeletion(ids: readonly string[], unlock: boolean): Promise<unknown> {
  const [id, another] = ids;
  // The API does not need a false value.
  const query = { unlock: unlock || undefined };
  if (id && !another) return api.delete("/api/v1/transaction/{id}", { path: { id }, query });
  return api.post("/api/v1/transaction/batch/delete", { query, body: { ids: [...ids] }, key: newKey() });
}

/** reconciledCode is the code of a change that a reconciliation prevents. */
export const reconciledCode = "TRANSACTION_RECONCILED";

/**
 * namedOf returns the items of a list that a problem names by their places: the item 2 for
 * lines[2].amount. The code is that of the first one. Items with another message have another
 * problem, which the next request returns. The problem of a request with one item names no place.
 */
export function namedOf<T>({ details }: Problem, list: string, items: readonly T[]): readonly T[] {
  if (items.length === 1) return items;
  const places = details
    .filter(({ message }) => message === details[0]?.message)
    .map(({ field }) => (field.startsWith(`${list}[`) ? parseInt(field.slice(list.length + 1)) : NaN));
  return items.filter((_, place) => places.includes(place));
}

/** patient sends a request each second as long as the rate limit rejects it. */
export async function patient<T>(send: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!isProblem(error, "RATE_LIMITED")) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}
