// Items that the user deleted a moment ago. They are hidden at once, and deleted on the server when
// the toast with Undo closes.
import { SvelteSet } from "svelte/reactivity";
import { fail, undoable } from "../components/toasts.svelte";
import type { Problem } from "./problem";
import { announce, type Topic } from "./topics";

type Send = () => Promise<unknown>;

const hidden = new SvelteSet<string>();

/** isRemoved reports whether lists hide an item. */
export function isRemoved(id: string): boolean {
  return hidden.has(id);
}

/** withoutRemoved returns the items that lists show. It copies the list only if it must. */
export function withoutRemoved<T extends { readonly id: string }>(
  items: readonly T[],
): readonly T[] {
  return hidden.size ? items.filter(({ id }) => !hidden.has(id)) : items;
}

/** remove hides an item, and sends its deletion unless the user takes it back. A 404 is no failure. */
export function remove(id: string, text: string, send: Send, topic: Topic): void {
  const failed = (error: Partial<Problem>) => {
    if (error.status === 404) return;
    reveal([id]);
    fail(error);
  };
  hide([id], text, () => void send().catch(failed).finally(() => announce(topic)));
}

/** hide hides items, and runs commit unless the user takes it back. */
export function hide(ids: readonly string[], text: string, commit: () => void): void {
  ids.forEach((id) => hidden.add(id));
  undoable(text, commit, () => reveal(ids));
}

/** reveal shows items again that could not be deleted. */
export function reveal(ids: readonly string[]): void {
  ids.forEach((id) => hidden.delete(id));
}
