// The database of the releases before ADR 109, which all users of the browser shared.
import { connect, deleteDatabase, done } from "../../offline/store";

const name = "coffer";

/** adopt passes each entry of the former database to keep, and then deletes the database. */
export async function adopt<T>(keep: (entry: T) => Promise<void>): Promise<void> {
  const db = await connect(name, false);
  const entries = (await done(db.transaction("queue").objectStore("queue").getAll())) as T[];
  db.close();
  for (const entry of entries) await keep(entry);
  await deleteDatabase(name);
}
