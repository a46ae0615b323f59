// The data that the console keeps on the device, in IndexedDB: a snapshot of the last home and the latest transactions, and the queue of
// transactions that were entered without a connection. Signing out deletes all of it.

type Store = "snapshot" | "queue";

const name = "coffer";
let opened: Promise<IDBDatabase> | undefined;
/** wiped is true after a sign-out: an answer that arrives late must not store anything. */
let wiped = false;

/** startStore allows the storing of data, for a user who signed in. */
export function startStore(): void {
  wiped = false;
}

function open(): Promise<IDBDatabase> {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("snapshot");
      request.result.createObjectStore("queue");
    };
    request.onsuccess = () => {
      // Another tab deletes the database when its user signs out.
      request.result.onversionchange = () => {
        request.result.close();
        opened = undefined;
      };
      resolve(request.result);
    };
    request.onerror = () => reject(request.error);
  });
  return opened;
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

export async function read<T>(store: Store, key: string): Promise<T | undefined> {
  if (wiped) return undefined;
  const db = await open();
  return done(db.transaction(store).objectStore(store).get(key)) as Promise<T | undefined>;
}

export async function readAll<T>(store: Store): Promise<T[]> {
  if (wiped) return [];
  const db = await open();
  return done(db.transaction(store).objectStore(store).getAll()) as Promise<T[]>;
}

export async function write(store: Store, key: string, value: unknown): Promise<void> {
  if (wiped) return;
  const db = await open();
  await done(db.transaction(store, "readwrite").objectStore(store).put(value, key));
}

export async function remove(store: Store, key: string): Promise<void> {
  if (wiped) return;
  const db = await open();
  await done(db.transaction(store, "readwrite").objectStore(store).delete(key));
}

/** wipe deletes the database, the caches of the service worker, and the settings. */
export async function wipe(): Promise<void> {
  wiped = true;
  localStorage.clear();
  sessionStorage.clear();
  const db = await opened?.catch(() => undefined);
  db?.close();
  opened = undefined;
  await Promise.all([
    new Promise<void>((resolve) => {
      const request = indexedDB.deleteDatabase(name);
      request.onsuccess = request.onerror = request.onblocked = () => resolve();
    }),
    caches.keys().then((keys) => Promise.all(keys.map((key) => caches.delete(key)))),
  ]);
}
