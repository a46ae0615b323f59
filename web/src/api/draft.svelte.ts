// Drafts: editable copies of a resource that are saved with If-Match.
import type { Fetched } from "./api";
import { isProblem, type Problem } from "./problem";

interface Draft<F extends object> {
  /** fields are the edited values, undefined until they are loaded. */
  fields: F | undefined;
  /** problem is why loading or the last save failed. */
  readonly problem: Problem | undefined;
  readonly busy: boolean;
  /** theirs are the values that were saved elsewhere meanwhile. The user must choose: see Conflict. */
  readonly theirs: F | undefined;
  /** differing are the names of the fields in which the two versions differ. */
  readonly differing: readonly (keyof F)[];
  /** save sends the changed fields, and reports whether the resource now has the edited values. */
  save(): Promise<boolean>;
  /** keepMine saves the edited values over the other version. */
  keepMine(): Promise<boolean>;
  /** keepTheirs discards the edited values. */
  keepTheirs(): void;
  /** reload loads the fields and the version again, for a form that stays open after a save. It keeps what was edited since the save. */
  reload(): Promise<boolean>;
}

/**
 * draft loads the fields of a resource now. send gets the changed fields and the version for If-Match. It must be called while a
 * component is created.
 */
export function draft<F extends object>(load: () => Promise<Fetched<F>>, send: (changes: Partial<F>, version: string) => Promise<unknown>): Draft<F> {
  let fields = $state<F | undefined>();
  let problem = $state.raw<Problem | undefined>();
  let theirs = $state.raw<Fetched<F> | undefined>();
  let busy = $state(false);
  let original: Fetched<F>;

  const same = (a: F, b: F, name: keyof F) => JSON.stringify(a[name]) === JSON.stringify(b[name]);
  const changed = (from: F, to: F) => (Object.keys(from) as (keyof F)[]).filter((name) => !same(from, to, name));

  const only = (of: F, names: (keyof F)[]) => Object.fromEntries(names.map((name) => [name, of[name]])) as Partial<F>;

  function use(loaded: Fetched<F>) {
    original = loaded;
    fields = { ...loaded.data };
  }

  /** attempt runs a step and keeps its problem. */
  async function attempt(step: () => Promise<boolean>): Promise<boolean> {
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
  }

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
    attempt(async () => {
      const loaded = await load();
      const edits = fields && only(fields, changed(original.data, fields));
      use(loaded);
      Object.assign(fields!, edits);
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
      return problem;
    },
    get busy() {
      return busy;
    },
    get theirs() {
      return theirs?.data;
    },
    get differing() {
      return theirs && fields ? changed(theirs.data, fields) : [];
    },
    save: () => attempt(save),
    keepMine() {
      original = theirs!;
      theirs = undefined;
      return attempt(save);
    },
    keepTheirs() {
      use(theirs!);
      theirs = undefined;
    },
    reload,
  };
}
