// Drafts: the edited fields of a form, of a new resource or of a stored one that is saved with
// If-Match.
import { newKey, nextKey, type Fetched } from "./api";
import { isProblem, type Problem } from "./problem";

export interface Draft<F extends object> {
  /** fields are the edited values, undefined until they are loaded. */
  fields: F | undefined;
  /** problem is why loading or the last save failed. */
  readonly problem: Problem | undefined;
  readonly busy: boolean;
  /** conflict is set if another version was saved meanwhile. names are the fields that differ. */
  readonly conflict: { mine: F; theirs: F; names: readonly (keyof F)[] } | undefined;
  /** save sends the fields, and reports whether the resource now has the edited values. */
  save(): Promise<boolean>;
  /** keepMine saves the edited values over the other version. */
  keepMine(): Promise<boolean>;
  /** keepTheirs discards the edited values. */
  keepTheirs(): void;
}

/** StoredDraft can load again, for a form that stays open after a save. It keeps later edits. */
interface StoredDraft<F extends object> extends Draft<F> {
  reload(): Promise<boolean>;
}

/** attempts runs steps one at a time, and keeps the problem of the last one. */
function attempts() {
  let problem = $state.raw<Problem | undefined>();
  let busy = $state(false);
  return {
    get problem() {
      return problem;
    },
    get busy() {
      return busy;
    },
    async run(step: () => Promise<boolean>): Promise<boolean> {
      if (busy) return false;
      busy = true;
      problem = undefined;
      try {
        return await step();
      } catch (error) {
        if (!isProblem(error)) throw error;
        problem = error;
        return false;
      } finally {
        busy = false;
      }
    },
  };
}

/** newDraft has the fields of a new resource. send gets the Idempotency-Key as key. */
export function newDraft<F extends object>(
  initial: F,
  send: (fields: F, key: string) => Promise<unknown>,
): Draft<F> {
  const fields = $state(initial);
  const attempt = attempts();
  let key = newKey();
  const save = async () => {
    const saved = await attempt.run(async () => {
      await send($state.snapshot(fields) as F, key);
      return true;
    });
    if (attempt.problem) key = nextKey(key, attempt.problem);
    return saved;
  };
  return {
    fields,
    get problem() {
      return attempt.problem;
    },
    get busy() {
      return attempt.busy;
    },
    conflict: undefined,
    save,
    keepMine: save,
    keepTheirs: () => undefined,
  };
}

/**
 * draft loads the fields of a resource now. send gets the changed fields and the version for
 * If-Match. It must be called while a component is created.
 */
export function draft<F extends object>(
  load: () => Promise<Fetched<F>>,
  send: (changes: Partial<F>, version: string) => Promise<unknown>,
): StoredDraft<F> {
  let fields = $state<F | undefined>();
  let theirs = $state.raw<Fetched<F> | undefined>();
  const attempt = attempts();
  let original: Fetched<F>;

  const same = (a: F, b: F, name: keyof F) => JSON.stringify(a[name]) === JSON.stringify(b[name]);
  const changed = (from: F, to: F) =>
    (Object.keys(from) as (keyof F)[]).filter((name) => !same(from, to, name));
  const only = (of: F, names: (keyof F)[]) =>
    Object.fromEntries(names.map((name) => [name, of[name]])) as Partial<F>;

  async function save(): Promise<boolean> {
    const edited = $state.snapshot(fields) as F;
    const names = changed(original.data, edited);
    if (names.length === 0) return true;
    try {
      await send(only(edited, names), original.version);
      original = { ...original, data: edited };
      return true;
    } catch (error) {
      if (!isProblem(error, "VERSION_MISMATCH")) throw error;
    }
    const current = await load();
    if (changed(current.data, edited).length === 0) {
      original = current;
      return true;
    }
    theirs = current;
    return false;
  }

  const reload = () =>
    attempt.run(async () => {
      const loaded = await load();
      const edits = fields && only(fields, changed(original.data, fields));
      original = loaded;
      fields = { ...loaded.data, ...edits };
      return true;
    });
  void reload();

  return {
    get fields() {
      return fields;
    },
    set fields(to) {
      fields = to;
    },
    get problem() {
      return attempt.problem;
    },
    get busy() {
      return attempt.busy;
    },
    get conflict() {
      return (
        theirs &&
        fields && { mine: fields, theirs: theirs.data, names: changed(theirs.data, fields) }
      );
    },
    save: () => attempt.run(save),
    keepMine() {
      original = theirs ?? original;
      theirs = undefined;
      return attempt.run(save);
    },
    keepTheirs() {
      original = theirs ?? original;
      fields = { ...original.data };
      theirs = undefined;
    },
    reload,
  };
}
