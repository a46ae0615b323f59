// Changes of a transaction. All functions are pure.
import type { paths } from "../../api/coffer";
import type { Transaction } from "../../api/types";
import { dayOf } from "../../dates/dates";
import { abs, digits, money } from "../../money/money";

type Change = paths["/api/v1/transaction/batch"]["patch"]["requestBody"]["content"]["application/json"]["items"][number];

/** Fields are changes of a transaction, as in the API. */
export type Fields = Omit<Change, "id" | "etag">;

/** namesOf returns the names of tags in a typed text. */
export function namesOf(text: string): string[] {
  return text.split(",").map((name) => name.trim()).filter(Boolean);
}

const same = (a: string, b: string) => a.toLocaleLowerCase() === b.toLocaleLowerCase();

/** changed returns a transaction with changes, as the server will probably answer. */
export function changed(row: Transaction, { addTags, removeTags, amount, ...fields }: Fields): Transaction {
  const tags = fields.tags ?? row.tags ?? [];
  const left = tags.filter((tag) => !removeTags?.some((name) => same(name, tag)));
  const added = addTags?.filter((name) => !left.some((tag) => same(name, tag))) ?? [];
  const sign = (fields.type ?? row.type) === "expense" ? "-" : "";
  return {
    ...row,
    ...fields,
    date: fields.date && dayOf(row.date) !== dayOf(fields.date) ? `${dayOf(fields.date)}T00:00:00Z` : row.date,
    tags: [...left, ...added],
    amount: amount === undefined ? row.amount : (`${sign}${amount}` as Transaction["amount"]),
  } as Transaction;
}

/** isLocked reports whether a reconciliation prevents changes of a transaction. Its category, payee, tags and texts can be changed. */
export function isLocked(row: Transaction, fields: Fields): boolean {
  if (!row.reconciled) return false;
  const after = changed(row, fields);
  const amount = (of: Transaction) => money(of.amount, of.currency).minor;
  return amount(after) !== amount(row) || (["date", "walletId", "currency", "cleared"] as const).some((name) => after[name] !== row[name]);
}

/** former returns the changes that give a transaction the values again that it had before changes. */
export function former(row: Transaction, { addTags, removeTags, ...fields }: Fields): Fields {
  const values: Fields = {
    date: row.date,
    payee: row.payee ?? "",
    description: row.description,
    categoryId: row.categoryId,
    tags: row.tags ?? [],
    walletId: row.walletId,
    amount: digits(abs(money(row.amount, row.currency))),
    cleared: row.cleared,
  };
  const names = new Set(Object.keys(addTags || removeTags ? { ...fields, tags: [] } : fields));
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)));
}
