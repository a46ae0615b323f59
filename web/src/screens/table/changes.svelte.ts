// Changes of the transactions in the table: of one or of many at once, conditional on the versions that the user saw, and their undo.
import { SvelteMap } from "svelte/reactivity";
import { api, fetched, patched } from "../../api/api";
import { isProblem } from "../../api/problem";
import { announce } from "../../api/topics";
import type { Transaction } from "../../api/types";
import { fail, offer, toast } from "../../components/toasts.svelte";
import { common, messages } from "../../i18n/i18n.svelte";
import { namedOf, patient, reconciledCode } from "../transactions/batches";
import type { TransactionList } from "../transactions/list.svelte";
import type en from "./en";
import { changed, former, isLocked, type Fields } from "./fields";

/** Change is a change of a transaction as the user saw it, in its version. */
export interface Change {
  readonly row: Transaction;
  readonly version: string;
  readonly fields: Fields;
  /** unlock also changes a transaction that a reconciliation locks. */
  readonly unlock?: boolean;
}

/** Conflict has the change of the user, and the version that was saved elsewhere. */
export interface Conflict {
  readonly fields: Fields;
  readonly theirs: Transaction;
  readonly version: string;
}

/** mostInRequest is the number of transactions that the API changes in one request. */
const mostInRequest = 500;

/** tableChanges changes the transactions of a list. Call it while a component is created. */
export function tableChanges(list: TransactionList) {
  const t = $derived(messages<typeof en>("table"));
  const conflicts = new SvelteMap<string, Conflict>();
  let locked = $state.raw<readonly Change[]>([]);
  let progress = $state.raw<{ done: number; total: number } | undefined>();
  /** next has the versions that own changes left, by id and version: a second change expects the version of the first one. */
  const next = new Map<string, string>();
  let undos: readonly (readonly Change[])[] = [];
  let last: Promise<void> = Promise.resolve();

  const key = ({ row, version }: Change) => `${row.id} ${version}`;

  function current(change: Change): string {
    let { version } = change;
    for (let later = next.get(key(change)); later; later = next.get(`${change.row.id} ${later}`)) version = later;
    return version;
  }

  /** send sends the changes in one request, and returns the changes that would undo them. */
  async function send(changes: readonly Change[]): Promise<Change[]> {
    const items = changes.map((change) => ({ id: change.row.id, etag: current(change), ...change.fields }));
    const [item, another] = items;
    const query = { unlock: changes.some(({ unlock }) => unlock) || undefined };
    let sent: { transactions: readonly Transaction[]; etags: readonly string[] };
    if (item && !another) {
      const { id, etag, ...body } = item;
      const { data, version } = await patient(() => patched("/api/v1/transaction/{id}", { path: { id }, query, body, version: etag }));
      sent = { transactions: [data.transaction], etags: [version] };
    } else sent = await patient(() => api.patch("/api/v1/transaction/batch", { query, body: { items } }));
    list.replace(...sent.transactions.map((row, i) => ({ ...row, etag: sent.etags[i] })));
    return changes.flatMap(({ row, fields }, i) => {
      const [after, version = "", before] = [sent.transactions[i], sent.etags[i], items[i]?.etag];
      if (!after) return [];
      next.set(`${after.id} ${before}`, version);
      conflicts.delete(after.id);
      return { row: after, version, fields: former(row, fields) };
    });
  }

  /** collide shows the version that was saved elsewhere beside that of the user. */
  async function collide({ row, fields }: Change): Promise<void> {
    try {
      const { data, version } = await patient(() => fetched("/api/v1/transaction/{id}", { path: { id: row.id } }));
      list.replace({ ...data.transaction, etag: version });
      conflicts.set(row.id, { fields, theirs: data.transaction, version });
    } catch (error) {
      if (!isProblem(error)) throw error;
      // It was deleted, or the connection is lost: the list is loaded again.
    }
  }

  /** hold keeps changes that a reconciliation prevents, until the user decides about them. */
  function hold(changes: readonly Change[]): void {
    if (!changes.length) return;
    locked = [...locked, ...changes];
    list.replace(...changes.map(({ row }) => row));
  }

  /** submit sends a batch, and again without the transactions that were changed or deleted elsewhere, or that are locked. */
  async function submit(batch: readonly Change[]): Promise<Change[]> {
    for (let left = batch; left.length; ) {
      try {
        return await send(left);
      } catch (error) {
        if (!isProblem(error)) throw error;
        const reconciled = error.code === reconciledCode;
        // An error names ten transactions.
        const named = reconciled || [404, 412].includes(error.status) ? namedOf(error, "items", left) : [];
        if (!named.length) throw error;
        if (reconciled) hold(named);
        else await Promise.all(named.map(collide));
        left = left.filter((change) => !named.includes(change));
      }
    }
    return [];
  }

  /** run sends all changes in batches, and returns those that would undo the ones that succeeded. */
  async function run(all: readonly Change[]): Promise<Change[]> {
    const isHeld = ({ row, fields, unlock }: Change) => !unlock && isLocked(row, fields);
    hold(all.filter(isHeld));
    const changes = all.filter((change) => !isHeld(change));
    list.send(...changes.map(({ row, fields }) => changed(row, fields)));
    const undo: Change[] = [];
    try {
      for (let i = 0; i < changes.length; i += mostInRequest) {
        if (changes.length > mostInRequest) progress = { done: i, total: changes.length };
        undo.push(...(await submit(changes.slice(i, i + mostInRequest))));
      }
    } catch (error) {
      const done = new Set(undo.map(({ row }) => row.id));
      list.replace(...changes.filter(({ row }) => !done.has(row.id)).map(({ row }) => row));
      fail(error);
      void list.reload();
    } finally {
      progress = undefined;
      list.send();
    }
    if (undo.length) announce("transactions");
    return undo;
  }

  function enqueue(work: () => Promise<void>): Promise<void> {
    last = last.then(work);
    return last;
  }

  /** takeBack undoes changes, once. */
  function takeBack(changes: readonly Change[] | undefined): void {
    if (!changes || !undos.includes(changes)) return;
    undos = undos.filter((other) => other !== changes);
    void enqueue(async () => {
      const undone = await run(changes);
      if (undone.length) toast(t.undone(undone.length));
    });
  }

  /** change changes transactions one batch after the other, and offers Undo. after runs if at least one has changed. */
  function change(changes: readonly Change[], after?: () => void): Promise<void> {
    return enqueue(async () => {
      const undo = await run(changes);
      if (!undo.length) return;
      undos = [...undos, undo];
      offer(t.changed(undo.length), undefined, { label: common().undo, run: () => takeBack(undo) });
      after?.();
    });
  }

  return {
    conflicts,
    /** progress is that of a change of more transactions than one request has. */
    get progress() {
      return progress;
    },
    change,
    /** locked are the changes that reconciliations prevent. */
    get locked() {
      return locked;
    },
    /** insist sends the locked changes again, and unlocks their transactions. */
    insist(): void {
      const all = locked.map((change) => ({ ...change, unlock: true }));
      locked = [];
      void change(all);
    },
    /** giveUp drops the locked changes. */
    giveUp: () => (locked = []),
    /** undoLast undoes the last change, also one that is being sent. */
    undoLast: () => void last.then(() => takeBack(undos.at(-1))),
    /** keepMine sends the user's change again, based on the version that was saved elsewhere. */
    keepMine(id: string): void {
      const conflict = conflicts.get(id);
      if (conflict) void change([{ row: conflict.theirs, version: conflict.version, fields: conflict.fields }]);
    },
    keepTheirs: (id: string) => conflicts.delete(id),
  };
}
