// The data that the console keeps on the device, in an IndexedDB database for each user: a snapshot
// of the last home and the latest transactions, the sealed queue of entries that were made without
// a connection, and the key that seals them. A tab reads and writes only the database of the
// signed-in user. When the session ends, all of it is deleted except unsent entries, which nobody can read
// without the next sign-in of their user (ADR 109).

/** Store names an object store. queue and files have sealed values, device has the key. */
type Store = "snapshot" | "queue" | "files" | "device";

const prefix = "coffer-";
/** owner is the user of this tab. It is empty after a sign-out: late answers store nothing. */
let owner = "";
let opened: Promise<IDBDatabase> | undefined;

/** storeOwner returns the id of the user whose database this tab uses, or an empty text. */
export function storeOwner(): string {
  return owner;
}

/** startStore opens the database of a user who signed in. */
export function startStore(user: string): void {
  if (owner === user) return;
  owner = user;
  opened = undefined;
}

/** connect opens a database. Without create it rejects if the database does not exist. */
export function connect(name: string, create = true): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => {
      if (!create) return request.transaction?.abort();
      for (const store of ["snapshot", "queue", "files", "device"] satisfies Store[])
        request.result.createObjectStore(store);
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function open(): Promise<IDBDatabase> {
  opened ??= connect(prefix + owner).then((db) => {
    // Another tab deletes the database when its user signs out.
    db.onversionchange = () => {
      db.close();
      opened = undefined;
    };
    return db;
  });
  return opened;
}

/** done resolves with the result of a request. */
export function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

export async function read<T>(store: Store, key: string): Promise<T | undefined> {
  if (!owner) return undefined;
  const db = await open();
  return done(db.transaction(store).objectStore(store).get(key)) as Promise<T | undefined>;
}

/** readAll returns the keys and values of a store. */
export async function readAll<T>(store: Store): Promise<[key: string, value: T][]> {
  if (!owner) return [];
  const objects = (await open()).transaction(store).objectStore(store);
  const [keys, values] = await Promise.all([done(objects.getAllKeys()), done(objects.getAll())]);
  return keys.map((key, i) => [String(key), values[i] as T]);
}

/** write stores values, all of them or none. */
export async function write(
  store: Store,
  ...rows: readonly (readonly [key: string, value: unknown])[]
): Promise<void> {
  if (!owner) return;
  const transaction = (await open()).transaction(store, "readwrite");
  await Promise.all(
    rows.map(([key, value]) => done(transaction.objectStore(store).put(value, key))),
  );
}

export async function remove(store: Store, ...keys: readonly string[]): Promise<void> {
  if (!owner) return;
  const transaction = (await open()).transaction(store, "readwrite");
  await Promise.all(keys.map((key) => done(transaction.objectStore(store).delete(key))));
}

/**
 * endStore deletes what the device has of a user. With keep, unsent entries stay, without the key
 * that opens them. Two tabs may call it for the same user, so it holds a lock.
 */
export async function endStore(user: string, keep: boolean): Promise<void> {
  const name = prefix + user;
  if (owner === user) {
    owner = "";
    (await opened?.catch(() => undefined))?.close();
    opened = undefined;
  }
  await navigator.locks.request(`${name}-end`, async () => {
    if (keep && (await keepQueue(name))) return;
    await deleteDatabase(name);
  });
}

/** keepQueue deletes everything except the queue with its files, and reports whether it has any. */
async function keepQueue(name: string): Promise<boolean> {
  const db = await connect(name, false).catch(() => undefined);
  if (!db) return false;
  const transaction = db.transaction(["queue", "snapshot", "device"], "readwrite");
  const [kept] = await Promise.all([
    done(transaction.objectStore("queue").count()),
    done(transaction.objectStore("snapshot").clear()),
    done(transaction.objectStore("device").clear()),
  ]);
  db.close();
  return kept > 0;
}

/** keptEntries returns the number of unsent entries of all users on this device. */
export async function keptEntries(): Promise<number> {
  const databases = await indexedDB.databases();
  const counts = databases.map(async ({ name }) => {
    if (!name?.startsWith(prefix)) return 0;
    const db = await connect(name, false);
    const count = await done(db.transaction("queue").objectStore("queue").count());
    db.close();
    return count;
  });
  return (await Promise.allSettled(counts)).reduce(
    (sum, count) => sum + (count.status === "fulfilled" ? count.value : 0),
    0,
  );
}

export function deleteDatabase(name: string): Promise<void> {
  return new Promise((resolve) => {
    const request = indexedDB.deleteDatabase(name);
    request.onsuccess = request.onerror = request.onblocked = () => resolve();
  });
}
