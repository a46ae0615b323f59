// An import while the user reviews and commits it.
import { api, versionSeen } from "../../api/api";
import { reloadDirectory } from "../../api/directory.svelte";
import { isProblem, Problem } from "../../api/problem";
import { announce } from "../../api/topics";
import { fail } from "../../components/toasts.svelte";
import { isTable, missing } from "./mapping";
import { isFact, isOpen, questionsOf, type Question } from "./questions";
import { remaining, withChoices, type Choices } from "./choices";
import { perSecond, working } from "./steps";
import type { Change, Import, Mapping, Row, RowChange } from "./types";

const at = "/api/v1/imports/{id}";
/** wait is how long the server holds a request for the progress of a job, in seconds. */
const wait = 8;
const retryAfter = 2000;

/** few is the number of rows that the server changes at once. More of them are changed by a job. */
const few = 2000;

/** Wizard holds an import, sends the user's changes one after another, and follows its jobs. */
export class Wizard {
  readonly id: string;
  #data = $state.raw<Import | undefined>();
  /** #choices are the wallets and categories that the server does not have yet. */
  #choices = $state.raw<Choices>({});
  readonly #shown = $derived(this.#data && withChoices(this.#data, this.#choices));
  /** missing is true if the import does not exist. It is deleted after 7 days. */
  missing = $state(false);
  problem = $state.raw<Problem | undefined>();
  /** rejected is why the last change or commit was rejected, or the edits of the mapping. */
  rejected = $state.raw<Problem | undefined>();
  /** changes is the number of changes that are being sent. */
  changes = $state(0);
  /** revision counts the changes of rows. Lists of rows load again when it changes. */
  revision = $state(0);
  /** speed is that of the running job in rows per second. */
  speed = $state<number | undefined>();
  /** questions are those of the import, and the guesses that were answered since it was opened. */
  readonly questions = $derived.by(() => {
    const questions = this.data ? questionsOf(this.data) : [];
    for (const question of questions) if (isOpen(question) && !isFact(question.code)) this.#asked.set(question.code, question);
    return [...this.#asked.values(), ...questions.filter(({ code }) => !this.#asked.has(code))];
  });
  /** open is the number of questions that the user must answer before the commit. */
  readonly open = $derived(this.questions.filter((question) => this.isOpen(question)).length);
  #asked = new Map<string, Question>();
  /** #mapping has the edits that the server does not have, and #wrong is why it rejected them. */
  #mapping = $state.raw<Mapping | undefined>();
  #wrong: Problem | undefined;
  /** #settling ends the request that waits for the job of a change. */
  #settling = new AbortController();
  #last: Promise<unknown> = Promise.resolve();

  constructor(id: string) {
    this.id = id;
  }

  /** data is the import with all choices of the user. */
  get data(): Import | undefined {
    return this.#shown;
  }

  set data(data: Import | undefined) {
    this.#data = data;
  }

  get busy(): boolean {
    return this.changes > 0;
  }

  /** mapping has all edits, also those that are not accepted yet. The next edit begins with it. */
  get mapping(): Mapping | undefined {
    return this.#mapping ?? this.data?.mapping;
  }

  /** isOpen reports whether a question waits for an answer. */
  isOpen(question: Question): boolean {
    return isOpen(question) && this.data?.warnings.includes(question.code) === true;
  }

  /** isAnswered reports whether a question has an answer of the user. */
  isAnswered(question: Question): boolean {
    return question.assumption?.accepted || (this.#asked.has(question.code) && !this.isOpen(question));
  }

  /** refresh reads the import again after a change elsewhere, such as in another tab. */
  async refresh(signal: AbortSignal): Promise<void> {
    const seen = this.#data;
    if (!seen || this.busy || working(seen)) return;
    const answer = await api.get(at, { path: { id: this.id }, signal }).catch(() => undefined);
    // The answer to a change that this tab has sent meanwhile is newer.
    if (!answer || this.busy || answer.import.updatedAt === seen.updatedAt) return;
    this.data = answer.import as Import;
    this.revision++;
  }

  /** load reads the import, and follows its job if one is running. */
  async load(signal: AbortSignal): Promise<void> {
    this.problem = undefined;
    try {
      this.data = (await api.get(at, { path: { id: this.id }, signal })).import as Import;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Problem)) throw error;
      this.missing = error.code === "IMPORT_NOT_FOUND" || error.code === "INVALID_IMPORT_ID";
      this.problem = error;
    }
  }

  /** follow waits for the end of the running job. It continues after failed requests, not after a deletion. */
  async follow(signal: AbortSignal): Promise<void> {
    let first: { at: number; done: number } | undefined;
    this.speed = undefined;
    while (this.data && working(this.data) && !signal.aborted) {
      try {
        this.data = (await api.get(at, { path: { id: this.id }, query: { wait }, signal }))
          .import as Import;
        const observed = { at: performance.now(), done: this.data.progress?.done ?? 0 };
        if (this.data.status === "running") first ??= observed;
        if (first) this.speed = perSecond(first, observed) ?? this.speed;
      } catch (error) {
        if (signal.aborted || (this.missing = isProblem(error, "IMPORT_NOT_FOUND"))) return;
        if (!(error instanceof Problem)) throw error;
        await new Promise((resolve) => setTimeout(resolve, retryAfter));
      }
    }
    if (signal.aborted) return;
    this.revision++;
    announce("transactions", "wallets", "categories", "imports");
  }

  /**
   * choose changes wallets and categories. Those of a large import are sent together by the next
   * request, because the server reads all its rows again for each request.
   */
  choose({ accounts, categories, defaults }: Choices): void {
    this.#choices = {
      accounts: { ...this.#choices.accounts, ...accounts },
      categories: { ...this.#choices.categories, ...categories },
      defaults: { ...this.#choices.defaults, ...defaults },
    };
    if (!this.#isLarge()) void this.flush();
  }

  #isLarge(): boolean {
    return this.#data!.counts.total > few;
  }

  /** flush sends the choices that the server does not have, and reports whether it has all. */
  flush(): Promise<boolean> {
    return this.#send(async () => {});
  }

  /** #flush sends all choices at once. Rejected ones are dropped. */
  async #flush(): Promise<void> {
    const sent = this.#choices;
    const { accounts = {}, categories = {}, defaults } = sent;
    if (![accounts, categories, defaults ?? {}].some((of) => Object.keys(of).length)) return;
    const body = { accounts: Object.values(accounts), categories: Object.values(categories), defaults };
    try {
      await this.#patch(body as Change);
    } finally {
      this.#choices = remaining(this.#choices, sent);
    }
  }

  /** confirm answers a question. It is rejected if the import is not as the user saw it. */
  confirm(code: string): Promise<boolean> {
    const seen = this.data!;
    return this.#send(async () => {
      const version = await versionSeen(at, seen);
      await this.#patch({ confirm: [code] } as Change, version);
    }, false);
  }

  /**
   * edit changes the mapping. One that lacks a field stays here, because the server would reject
   * it. A rejected one stays too, with its problem, until the next edit.
   */
  async edit(mapping: Mapping): Promise<boolean> {
    this.discard();
    this.#mapping = mapping;
    if (isTable(mapping) && missing(mapping).length > 0) return false;
    const accepted = await this.#send(() => this.#patch({ mapping } as Change));
    if (this.#mapping !== mapping) return accepted;
    if (accepted) this.#mapping = undefined;
    else this.#wrong = this.rejected;
    return accepted;
  }

  /** discard discards the edits of the mapping that the server does not have. */
  discard(): void {
    this.#mapping = undefined;
    this.#wrong = undefined;
    this.rejected = undefined;
  }

  async #patch(body: Change, version?: string): Promise<void> {
    // The page shows the progress of a job at once.
    const query = { wait: this.#isLarge() ? 0 : undefined };
    const answer = await api.patch(at, { path: { id: this.id }, query, version, body });
    this.data = answer.import as Import;
    await this.#settle();
    this.revision++;
  }

  /** #settle waits until the rows are changed. In a large import a job does that. */
  async #settle(): Promise<void> {
    if (this.#data?.status !== "updating") return;
    while (this.#data?.status === "updating" && !this.#data.progress?.problem) {
      const { signal } = (this.#settling = new AbortController());
      try {
        const answer = await api.get(at, { path: { id: this.id }, query: { wait }, signal });
        this.data = answer.import as Import;
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
    const problem = this.#data?.progress?.problem;
    if (problem) throw new Problem(problem, problem);
  }

  /** changeRow changes a row, and returns it as it is now; undefined if the change was rejected. */
  async changeRow(change: RowChange): Promise<Row | undefined> {
    let changed: Row | undefined;
    await this.#send(async () => {
      const answer = await api.patch(`${at}/rows`, {
        path: { id: this.id },
        body: { rows: [change] },
      });
      this.data = answer.import as Import;
      changed = answer.rows[0];
      await this.#settle();
    });
    return changed;
  }

  /** commit starts the job that books the rows. The server requires that all questions are answered. */
  commit(): Promise<boolean> {
    return this.#send(async () => {
      this.data = (await api.post(`${at}/commit`, { path: { id: this.id }, body: {} }))
        .import as Import;
    });
  }

  /** cancel stops the running job, without waiting for the changes before it. */
  async cancel(): Promise<void> {
    try {
      this.rejected = undefined;
      this.data = (await api.post(`${at}/cancel`, { path: { id: this.id }, body: {} }))
        .import as Import;
      this.#settling.abort();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.rejected = error;
    }
  }

  /** undo starts the deletion of the booked transactions, with force also of changed ones. */
  undo(force: boolean): Promise<boolean> {
    return this.#send(async () => {
      this.data = (await api.post(`${at}/undo`, { path: { id: this.id }, body: { force } }))
        .import as Import;
    });
  }

  /** #send sends a request after the earlier ones, by default also the choices before it. */
  async #send(request: () => Promise<void>, flush = true): Promise<boolean> {
    this.changes++;
    const sent = this.#last.then(async () => {
      this.rejected = this.#wrong;
      try {
        if (flush) await this.#flush();
        await request();
        return true;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        // Another tab has changed or deleted the import or its job, or a wallet or category of the
        // rows was deleted.
        const changed = error.code === "IMPORT_STATE";
        this.rejected = changed ? new Problem("VERSION_MISMATCH", error.message) : error;
        if (changed || ["IMPORT_NOT_READY", "IMPORT_NOT_FOUND", "VERSION_MISMATCH"].includes(error.code)) {
          void this.load(new AbortController().signal);
          this.revision++;
        }
        return false;
      } finally {
        this.changes--;
      }
    });
    this.#last = sent;
    return sent;
  }
}

/** createCategory creates a category and returns its id; undefined if that failed. */
export async function createCategory(name: string): Promise<string | undefined> {
  try {
    const { category } = await api.post("/api/v1/categories", { body: { name } });
    await reloadDirectory();
    announce("categories");
    return category.id;
  } catch (error) {
    if (!isProblem(error)) throw error;
    fail(error);
    return undefined;
  }
}
