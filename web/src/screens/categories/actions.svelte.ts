// Deletion and merging of categories.
import { SvelteSet } from "svelte/reactivity";
import { api } from "../../api/api";
import { isProblem } from "../../api/problem";
import { announce } from "../../api/topics";
import type { Category } from "../../api/types";
import { fail, undoable } from "../../components/toasts.svelte";
import type texts from "./en";

export interface Asked {
  readonly category: Category;
  /** deleting is true if the user wants to delete a category that is in use, false to merge it. */
  readonly deleting: boolean;
  readonly used: boolean;
  /** budgets are the names of the budgets that use the category. */
  readonly budgets: readonly string[];
}

let asked = $state.raw<Asked | undefined>();
const removed = new SvelteSet<string>();

/** isRemoved reports whether a category is deleted as soon as its toast closes. */
export function isRemoved(id: string): boolean {
  return removed.has(id);
}

/** merging is the open dialog, if any. */
export const merging = {
  get asked(): Asked | undefined {
    return asked;
  },
  close(): void {
    asked = undefined;
  },
};

/** askToMerge opens the dialog that merges a category. */
export function askToMerge(category: Category): void {
  asked = { category, deleting: false, used: false, budgets: [] };
}

/** askToDelete deletes an unused category, with Undo, and otherwise opens the dialog. */
export async function askToDelete(category: Category, t: typeof texts): Promise<void> {
  try {
    const [{ transactions }, { budgets }] = await Promise.all([
      api.get("/api/v1/transaction", { query: { categoryId: [category.id], limit: 1 } }),
      api.get("/api/v1/budgets", { query: { limit: 200 } }),
    ]);
    const names = budgets
      .filter(({ categoryIds }) => categoryIds?.includes(category.id))
      .map(({ name }) => name);
    if (transactions.length || names.length) {
      asked = { category, deleting: true, used: transactions.length > 0, budgets: names };
      return;
    }
  } catch (error) {
    fail(error);
    return;
  }
  removed.add(category.id);
  undoable(t.wasDeleted(category.name), () => void commit(category), () => removed.delete(category.id));
}

async function commit(category: Category): Promise<void> {
  try {
    await api.delete("/api/v1/categories/{id}", { path: { id: category.id } });
  } catch (error) {
    removed.delete(category.id);
    // A transaction was added while the toast was open.
    if (isProblem(error, "CATEGORY_IN_USE"))
      asked = { category, deleting: true, used: true, budgets: [] };
    else if (!isProblem(error, "INVALID_CATEGORY_EXIST_PARAMS")) fail(error);
  }
  announce("categories");
}
