// Deletions of transactions, and what changes of many of them need.
import { api, newKey } from "../../api/api";
import { isProblem, Problem } from "../../api/problem";
import { hide, remove, reveal } from "../../api/removals.svelte";
import { announce } from "../../api/topics";
import { fail } from "../../components/toasts.svelte";

/** mostInBatch is the number of transactions that the API deletes in one request. */
const mostInBatch = 500;

/**
 * removeTransactions hides transactions, and deletes them unless the user takes it back. unlock also
 * deletes those that a reconciliation locks.
 */
export function removeTransactions(ids: readonly string[], text: string, unlock = false): void {
  const [id, another] = ids;
  if (id && !another) {
    remove(ids, text, () => api.delete("/api/v1/transaction/{id}", { path: { id }, query: unlocking(unlock) }), "transactions");
    return;
  }
  hide(ids, text, () => void commitBatch(ids, unlock));
}

/** unlocking returns the query of a deletion. The API does not need a false value. */
const unlocking = (unlock: boolean) => ({ unlock: unlock || undefined });

/** commitBatch deletes transactions. All requests start at once, because the page may be left. */
async function commitBatch(ids: readonly string[], unlock: boolean): Promise<void> {
  const batches = Array.from({ length: Math.ceil(ids.length / mostInBatch) }, (_, i) =>
    ids.slice(i * mostInBatch, (i + 1) * mostInBatch),
  );
  const send = async (batch: readonly string[]) => {
    try {
      await deleteAll(batch, unlock);
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
}

/** deleteAll deletes a batch without the transactions that were deleted elsewhere. */
async function deleteAll(batch: readonly string[], unlock: boolean): Promise<void> {
  for (let left = [...batch]; left.length; ) {
    try {
      const request = { query: unlocking(unlock), body: { ids: left }, key: newKey() };
      await patient(() => api.post("/api/v1/transaction/batch/delete", request));
      return;
    } catch (error) {
      const gone = error instanceof Problem && error.status === 404 ? placesOf(error, "ids") : [];
      if (!gone.length) throw error;
      left = left.filter((_, place) => !gone.includes(place));
    }
  }
}

/** placesOf returns the places in a list whose items a problem names: 2 for lines[2].amount. */
export function placesOf({ details }: Problem, list: string): number[] {
  return details.flatMap(({ field }) => {
    const place = field.startsWith(`${list}[`) ? parseInt(field.slice(list.length + 1)) : NaN;
    return isNaN(place) ? [] : place;
  });
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
