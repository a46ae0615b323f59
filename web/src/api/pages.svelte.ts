// Lists that grow by older pages when the user asks for them.
import { fail } from "../components/toasts.svelte";
import { isProblem, type Problem } from "./problem";
import { resource } from "./resource.svelte";
import type { Topic } from "./topics";

export interface Page<T> {
  readonly items: readonly T[];
  readonly pagination: { readonly nextCursor: string };
}

interface Pages<T> {
  /** list has the first page, kept current, and older ones; undefined until it is loaded. */
  readonly list: readonly T[] | undefined;
  readonly problem: Problem | undefined;
  readonly hasOlder: boolean;
  /** busy is true while an older page is loaded. */
  readonly busy: boolean;
  reload(): void;
  loadOlder(): Promise<void>;
  /** reset drops the older pages, because the filter changed. */
  reset(): void;
}

/** pages loads the first page now and after changes. Call it while a component is created. */
export function pages<T extends { id: string }>(
  load: (cursor: string | undefined, signal?: AbortSignal) => Promise<Page<T>>,
  topics: readonly Topic[],
): Pages<T> {
  const first = resource((signal) => load(undefined, signal), topics);
  let older = $state.raw<readonly T[]>([]);
  let olderCursor = $state<string | undefined>();
  let busy = $state(false);
  const cursor = $derived(olderCursor ?? first.data?.pagination.nextCursor);
  const list = $derived.by(() => {
    if (!first.data) return undefined;
    const ids = new Set(first.data.items.map(({ id }) => id));
    return [...first.data.items, ...older.filter(({ id }) => !ids.has(id))];
  });

  return {
    get list() {
      return list;
    },
    get problem() {
      return first.problem;
    },
    get hasOlder() {
      return Boolean(cursor);
    },
    get busy() {
      return busy;
    },
    reload: first.reload,
    async loadOlder() {
      busy = true;
      try {
        const next = await load(cursor);
        older = [...older, ...next.items];
        olderCursor = next.pagination.nextCursor;
      } catch (error) {
        if (!isProblem(error)) throw error;
        fail(error);
      } finally {
        busy = false;
      }
    },
    reset() {
      older = [];
      olderCursor = undefined;
    },
  };
}
