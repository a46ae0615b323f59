// The queue of transactions that were entered without a connection. Each has the Idempotency-Key of its form, so a request that is sent
// again after a lost answer books nothing twice.
import { api } from "../api/api";
import { networkCode, Problem } from "../api/problem";
import { announce } from "../api/topics";
import type { paths } from "../api/coffer";
import { read, readAll, remove, write } from "./store";

export type NewTransaction = paths["/api/v1/transaction"]["post"]["requestBody"]["content"]["application/json"];

export interface Queued {
  key: string;
  body: NewTransaction;
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

/** enqueue keeps a transaction until the connection returns. */
export async function enqueue(body: NewTransaction, key: string): Promise<void> {
  await write("queue", key, { key, body, queuedAt: Date.now() } satisfies Queued);
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
async function sendOne({ key, body, queuedAt }: Queued): Promise<boolean> {
  try {
    await api.post("/api/v1/transaction", { body, key });
    await remove("queue", key);
    announce("transactions");
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === networkCode || error.status >= 500 || error.status === 429 || error.status === 401) return false;
    await write("queue", key, { key, body, queuedAt, problem: error.message } satisfies Queued);
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
