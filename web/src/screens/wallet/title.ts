// The title of a transaction in the register of a wallet.
import { directory } from "../../api/directory.svelte";
import type { Transaction } from "../../api/types";
import { common } from "../../i18n/i18n.svelte";
import type texts from "./en";

/** titleOf returns what a user recognizes a transaction by. */
export function titleOf(transaction: Transaction, t: typeof texts): string {
  const { payee, description, type, categoryId } = transaction;
  const kind = { adjustment: t.adjustment, transfer: common().transfer, expense: t.split, income: t.split };
  return payee || description || directory.category(categoryId)?.name || kind[type];
}
