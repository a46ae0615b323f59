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
  };
  const names = new Set(Object.keys(addTags || removeTags ? { ...fields, tags: [] } : fields));
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)));
}
