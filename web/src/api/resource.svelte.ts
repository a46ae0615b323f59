// Loaded data of a component, which reloads when its topics change.
import { onChange, type Topic } from "./topics";
import { Problem } from "./problem";

export interface Resource<T> {
  /** data is the last loaded value; it stays visible while it is loaded again. */
  readonly data: T | undefined;
  readonly problem: Problem | undefined;
  readonly loading: boolean;
  reload(): void;
  /** set replaces the value, for a change that the server has accepted. */
  set(data: T): void;
}

/**
 * resource loads data now, again when a signal that load reads before its first await changes, and
 * again after a change of one of the topics. It must be called while a component is created.
 * initial is shown until the first answer, for example a stored snapshot.
 */
export function resource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  topics: readonly Topic[],
  initial?: T,
): Resource<T> {
  let data = $state.raw<T | undefined>(initial);
  let problem = $state.raw<Problem | undefined>();
  let loading = $state(true);
  let turn = $state(0);

  $effect(() => {
    void turn;
    const controller = new AbortController();
    loading = true;
    load(controller.signal).then(
      (loaded) => {
        if (controller.signal.aborted) return;
        data = loaded;
        problem = undefined;
        loading = false;
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        if (!(error instanceof Problem)) throw error;
        problem = error;
        loading = false;
      },
    );
    return () => controller.abort();
  });
  $effect(() => onChange(topics, () => turn++));

  return {
    get data() {
      return data;
    },
    get problem() {
      return problem;
    },
    get loading() {
      return loading;
    },
    reload: () => turn++,
    set: (value) => (data = value),
  };
}
