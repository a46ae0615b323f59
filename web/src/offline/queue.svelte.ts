// The queue of transactions and transfers that were entered without a connection. Each has the Idempotency-Key of its form, so a request that is sent
// again after a lost answer books nothing twice.
import { api } from "../api/api";
import { networkCode, Problem } from "../api/problem";
import { announce } from "../api/topics";
import type { paths } from "../api/coffer";
import { read, readAll, remove, write } from "./store";

export type NewTransaction = paths["/api/v1/transaction"]["post"]["requestBody"]["content"]["application/json"];

export type NewTransfer = paths["/api/v1/transfers"]["post"]["requestBody"]["content"]["application/json"];
export type NewEntry = NewTransaction | NewTransfer;

export interface Queued {
  key: string;
  body: NewEntry;
  /** files are attached to the transaction after it is created. */
  files?: readonly File[];
  queuedAt: number;
  /** problem is why the server rejected it. The user corrects or discards it. */
  problem?: string;
}

/** keyLifetime is how long the server recognizes a repeated key. Older entries are shown to the user before they are sent. */
const keyLifetime = 24 * 3_600_000;

let entries = $state.raw<readonly Queued[]>([]);
let sending = false;

export const queue = {
  get entries(): readonly Queued[] {
    return entries;
  },
  get length(): number {
    return entries.length;
  },
};

async function refresh(): Promise<void> {
  entries = (await readAll<Queued>("queue")).sort((a, b) => a.queuedAt - b.queuedAt);
}

/** isTransfer distinguishes the two kinds of entries. */
export function isTransfer(body: NewEntry): body is NewTransfer {
  return "fromWalletId" in body;
}

/** create creates a transaction or a transfer, and returns the id of the transaction to which its files are attached. */
export async function create(body: NewEntry, key: string): Promise<string> {
  if (isTransfer(body)) return (await api.post("/api/v1/transfers", { body, key })).transfer.outTransactionId;
  return (await api.post("/api/v1/transaction", { body, key })).transaction.id;
}

/** unattached are the transactions of which an upload has failed. Their forms show it. */
export const unattached = new Set<string>();

/** attach uploads files to a new transaction, and reports whether all of them arrived. */
export async function attach(id: string, files: readonly File[] = []): Promise<boolean> {
  if (!files.length) return true;
  const { uploadAll } = await import("../screens/attachments/uploads.svelte");
  const done = await uploadAll(id, files);
  if (!done) unattached.add(id);
  return done;
}

/** enqueue keeps an entry until the connection returns. */
export async function enqueue(body: NewEntry, key: string, files: readonly File[]): Promise<void> {
  await write("queue", key, { key, body, files, queuedAt: Date.now() } satisfies Queued);
  await refresh();
  const registration = await navigator.serviceWorker?.getRegistration();
  const sync = (registration as { sync?: { register(tag: string): Promise<void> } } | undefined)?.sync;
  await sync?.register("coffer-queue").catch(() => undefined);
}

/** discard removes an entry that the user does not want to send. */
export async function discard(key: string): Promise<void> {
  await remove("queue", key);
  await refresh();
}

/** confirm sends an old entry: the user has seen that it was not booked. */
export async function confirm(key: string): Promise<void> {
  const entry = await read<Queued>("queue", key);
  if (entry) await write("queue", key, { ...entry, queuedAt: Date.now(), problem: undefined });
  await refresh();
  await sendQueue();
}

/** waiting reports whether an entry needs the user's decision. */
export function waiting(entry: Queued, now = Date.now()): boolean {
  return entry.problem !== undefined || now - entry.queuedAt > keyLifetime;
}

/** sendQueue sends the entries in order until the connection is lost again. Only one tab sends at a time. */
export async function sendQueue(): Promise<void> {
  if (sending) return;
  sending = true;
  try {
    await navigator.locks.request("coffer-queue", async () => {
      await refresh();
      for (const entry of entries) {
        if (waiting(entry)) continue;
        if (!(await sendOne(entry))) break;
      }
    });
  } finally {
    sending = false;
    await refresh();
  }
}

/** sendOne reports whether the next entry can be sent. */
async function sendOne(entry: Queued): Promise<boolean> {
  const { key, body, files } = entry;
  try {
    const id = await create(body, key);
    await remove("queue", key);
    announce("transactions");
    void attach(id, files);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === networkCode || error.status >= 500 || error.status === 429 || error.status === 401) return false;
    await write("queue", key, { ...entry, problem: error.message } satisfies Queued);
  }
  return true;
}

/** startQueue sends the queue now and when the connection returns, until the returned function is called. */
export function startQueue(): () => void {
  const send = () => void sendQueue();
  const message = (event: MessageEvent<{ type?: string }>) => event.data?.type === "send-queue" && send();
  send();
  window.addEventListener("online", send);
  navigator.serviceWorker?.addEventListener("message", message);
  return () => {
    window.removeEventListener("online", send);
    navigator.serviceWorker?.removeEventListener("message", message);
    entries = [];
  };
}
