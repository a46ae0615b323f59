// Transactions that the user deleted a moment ago. They are hidden at once, and deleted on the server when the toast with Undo closes.
import { SvelteSet } from "svelte/reactivity";
import { fail, undoable } from "../components/toasts.svelte";
import { api } from "./api";
import { isProblem } from "./problem";
import { announce } from "./topics";

const hidden = new SvelteSet<string>();

/** isRemoved reports whether lists hide a transaction. */
export function isRemoved(id: string): boolean {
  return hidden.has(id);
}

/** removeTransactions hides transactions, and deletes them unless the user takes it back. */
export function removeTransactions(ids: readonly string[], text: string): void {
  ids.forEach((id) => hidden.add(id));
  undoable(
    text,
    () => void commit(ids),
    () => ids.forEach((id) => hidden.delete(id)),
  );
}

async function commit(ids: readonly string[]): Promise<void> {
  const outcomes = await Promise.allSettled(ids.map((id) => api.delete("/api/v1/transaction/{id}", { path: { id } })));
  announce("transactions");
  outcomes.forEach((outcome, i) => {
    if (outcome.status === "fulfilled" || isProblem(outcome.reason, "TRANSACTION_NOT_FOUND")) return;
    hidden.delete(ids[i]!);
    fail(outcome.reason);
  });
}
