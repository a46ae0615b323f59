// The queue of transactions and transfers that were entered without a connection, and of their
// files. Each has the Idempotency-Key of its form, so a request that is sent again after a lost
// answer has no second effect. An entry leaves the queue when the server has the transaction and
// all files. The rows are sealed, because they stay on the device if the session ends before they
// are sent.
import { api } from "../api/api";
import { networkCode, Problem } from "../api/problem";
import { announce } from "../api/topics";
import type { paths } from "../api/coffer";
import { common } from "../i18n/i18n.svelte";
import { hasKey, seal, type Sealed, unseal } from "./seal";
import { read, readAll, remove, storeOwner, write } from "./store";

type NewTransaction =
  paths["/api/v1/transaction"]["post"]["requestBody"]["content"]["application/json"];

type NewTransfer = paths["/api/v1/transfers"]["post"]["requestBody"]["content"]["application/json"];
export type NewEntry = NewTransaction | NewTransfer;

/** QueuedFile describes a file. key is that of its content, and its Idempotency-Key. */
interface QueuedFile {
  readonly key: string;
  readonly name: string;
  readonly type: string;
}

export interface Queued {
  readonly key: string;
  readonly body: NewEntry;
  /** files are attached to the transaction after it is created. A file that was sent is removed. */
  readonly files: readonly QueuedFile[];
  readonly queuedAt: number;
  /** transactionId is the created transaction, whose files are not all sent. */
  readonly transactionId?: string;
  /** problem is why the server rejected the entry or a file. The user corrects or discards it. */
  readonly problem?: string;
}

/** keyLifetime is how long the server knows a key. The user confirms older entries. */
const keyLifetime = 24 * 3_600_000;

let entries = $state.raw<readonly Queued[]>([]);
/** unreadable are the keys of rows that were sealed with another service key. */
let unreadable = $state.raw<readonly string[]>([]);
/** signedIn is the time of the sign-in. Earlier entries wait for the user's decision. */
let signedIn = $state(0);
let sending = false;

export const queue = {
  get entries(): readonly Queued[] {
    return entries;
  },
  get unreadable(): readonly string[] {
    return unreadable;
  },
  /** length includes entries that cannot be read. */
  get length(): number {
    return entries.length + unreadable.length;
  },
  /** earlier are the entries of an earlier session. */
  get earlier(): readonly Queued[] {
    return entries.filter(isEarlier);
  },
};

/** isEarlier reports whether an entry was made before the user signed in. */
export function isEarlier(entry: Queued): boolean {
  return entry.queuedAt < signedIn;
}

/** countUnsent returns the number of entries that are not sent, also those of other tabs. */
export async function countUnsent(): Promise<number> {
  await refresh();
  return queue.length;
}

async function refresh(): Promise<void> {
  signedIn = (await read<number>("device", "signedIn")) ?? 0;
  const rows = (await hasKey()) ? await readAll<Sealed>("queue") : [];
  const opened = await Promise.all(
    rows.map(async ([key, row]) => ({ key, entry: await open(key, row).catch(() => undefined) })),
  );
  entries = opened.flatMap(({ entry }) => entry ?? []).sort((a, b) => a.queuedAt - b.queuedAt);
  unreadable = opened.filter(({ entry }) => !entry).map(({ key }) => key);
}

async function open(key: string, row: Sealed): Promise<Queued> {
  return JSON.parse(new TextDecoder().decode(await unseal(key, row)));
}

/** store seals an entry and writes it. */
async function store(entry: Queued): Promise<void> {
  await write("queue", [
    entry.key,
    await seal(entry.key, new TextEncoder().encode(JSON.stringify(entry))),
  ]);
}

/** isTransfer distinguishes the two kinds of entries. */
export function isTransfer(body: NewEntry): body is NewTransfer {
  return "fromWalletId" in body;
}

/** create creates a transaction or transfer, and returns the transaction that gets the files. */
export async function create(body: NewEntry, key: string): Promise<string> {
  if (isTransfer(body))
    return (await api.post("/api/v1/transfers", { body, key })).transfer.outTransactionId;
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

/** enqueue keeps an entry for later. It throws a Problem if the device cannot keep it. */
export async function enqueue(body: NewEntry, key: string, files: readonly File[]): Promise<void> {
  await keep(body, key, files, Date.now()).catch(() => {
    throw new Problem("NOT_KEPT", common().notKept);
  });
  await refresh();
  const registration = await navigator.serviceWorker?.getRegistration();
  const sync = (registration as { sync?: { register(tag: string): Promise<void> } } | undefined)
    ?.sync;
  await sync?.register("coffer-queue").catch(() => undefined);
}

async function keep(body: NewEntry, key: string, files: readonly File[], queuedAt: number): Promise<void> {
  const keyed = files.map((file, i) => ({ file, key: `${key}.${i}` }));
  const contents = keyed.map(
    async ({ file, key }) => [key, await seal(key, await file.arrayBuffer())] as const,
  );
  await write("files", ...(await Promise.all(contents)));
  await store({ key, body, files: keyed.map(({ file: { name, type }, key }) => ({ key, name, type })), queuedAt });
}

/**
 * adoptFormer moves the entries of the database that all users shared into that of the signed-in
 * user. They wait for the user's decision, because nothing says whose they are.
 */
async function adoptFormer(): Promise<void> {
  if (!(await hasKey()) || !(await indexedDB.databases()).some(({ name }) => name === "coffer"))
    return;
  const { adopt } = await import("../screens/unsent/former");
  await adopt<{ body: NewEntry; key: string; files?: readonly File[] }>(
    ({ body, key, files = [] }) => keep(body, key, files, 0),
  );
}

/** discard removes entries that the user does not want to send. */
export async function discard(...keys: readonly string[]): Promise<void> {
  await Promise.all(keys.map(drop));
  await refresh();
}

async function drop(key: string): Promise<void> {
  const files = (await readAll<Sealed>("files"))
    .map(([name]) => name)
    .filter((name) => name.startsWith(`${key}.`));
  await remove("files", ...files);
  await remove("queue", key);
}

/** confirm sends entries that waited for the user, who has seen that they were not booked. */
export async function confirm(...keys: readonly string[]): Promise<void> {
  const chosen = entries.filter(({ key }) => keys.includes(key));
  await Promise.all(
    chosen.map((entry) => store({ ...entry, queuedAt: Date.now(), problem: undefined })),
  );
  await refresh();
  await sendQueue();
}

/** waiting reports whether an entry needs the user's decision. */
export function waiting(entry: Queued, now = Date.now()): boolean {
  return entry.problem !== undefined || isEarlier(entry) || now - entry.queuedAt > keyLifetime;
}

/** sendQueue sends the entries in order while there is a connection, in one tab of the user. */
async function sendQueue(): Promise<void> {
  if (sending) return;
  sending = true;
  try {
    // Another tab may hold the lock for a long time.
    await refresh();
    await navigator.locks.request(`coffer-queue-${storeOwner()}`, async () => {
      await refresh();
      for (const entry of entries) {
        if (!waiting(entry) && !(await sendOne(entry))) break;
      }
    });
  } finally {
    sending = false;
    await refresh();
  }
}

/** sendOne sends an entry, then its files, and reports whether the next entry can be sent. */
async function sendOne(entry: Queued): Promise<boolean> {
  let left = entry;
  try {
    const transactionId = left.transactionId ?? (await create(left.body, left.key));
    if (!left.transactionId) {
      left = { ...left, transactionId };
      if (left.files.length) await store(left);
      announce("transactions");
    }
    for (const file of entry.files) {
      await sendFile(transactionId, file);
      left = { ...left, files: left.files.filter(({ key }) => key !== file.key) };
      await store(left);
      await remove("files", file.key);
      announce("transactions");
    }
    await remove("queue", left.key);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === networkCode || error.status >= 500 || error.status === 429 || error.status === 401) return false;
    await store({ ...left, problem: error.message });
  }
  return true;
}

/** sendFile attaches a queued file to its transaction. */
async function sendFile(transactionId: string, { key, name, type }: QueuedFile): Promise<void> {
  const sealed = await read<Sealed>("files", key);
  if (!sealed) return;
  const body = new FormData();
  body.append("file", new File([await unseal(key, sealed)], name, { type }));
  await api.post("/api/v1/transaction/{transactionId}/attachments", { path: { transactionId }, body, key });
}

/** startQueue sends the queue now and when the connection returns. The result ends that. */
export function startQueue(): () => void {
  const send = () => void sendQueue();
  const message = (event: MessageEvent<{ type?: string }>) =>
    event.data?.type === "send-queue" && send();
  void adoptFormer().finally(send);
  window.addEventListener("online", send);
  navigator.serviceWorker?.addEventListener("message", message);
  return () => {
    window.removeEventListener("online", send);
    navigator.serviceWorker?.removeEventListener("message", message);
    entries = [];
    unreadable = [];
  };
}
