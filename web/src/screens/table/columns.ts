// The columns of the table: which cells can be changed in place, and what a typed text changes.
import { directory } from "../../api/directory.svelte";
import type { Transaction } from "../../api/types";
import { amountMessage, amountText, readAmount } from "../../components/amount";
import { dayOf, formatShortDay, isDay } from "../../dates/dates";
import { common, i18n } from "../../i18n/i18n.svelte";
import { formatMoney } from "../../money/format";
import { abs, digits, money } from "../../money/money";
import { hasCategory } from "../transactions/changes";
import { namesOf, type Fields } from "./fields";

export type Column = "date" | "payee" | "description" | "category" | "tags" | "wallet" | "amount" | "balance";

/** Cell is a cell of a row: the box that selects it, a column, or the link to its sheet. */
export type Cell = Column | "select" | "open";

export const columns: readonly Column[] = ["date", "payee", "description", "category", "tags", "wallet", "amount"];

/** isEditable reports whether a cell can be changed in place. Transfers and splits are changed in their sheet. */
export function isEditable(row: Transaction, column: Column): boolean {
  if (column === "balance") return false;
  if (column === "wallet") return !row.transferId;
  return column === "category" || column === "amount" ? hasCategory(row) : true;
}

/** textOf returns the value of a cell as text. */
export function textOf(row: Transaction, column: Column): string {
  switch (column) {
    case "date": return formatShortDay(dayOf(row.date), i18n.locale, directory.day);
    case "category": return directory.category(row.categoryId)?.name ?? "";
    case "wallet": return directory.wallet(row.walletId)?.name ?? "";
    case "amount": return formatMoney(money(row.amount, row.currency), i18n.locale, "always");
    default: return valueOf(row, column);
  }
}

/** valueOf returns the value with which the editor of a cell starts. */
export function valueOf(row: Transaction, column: Column): string {
  switch (column) {
    case "date": return dayOf(row.date);
    case "payee": return row.payee ?? "";
    case "description": return row.description;
    case "category": return row.categoryId ?? "";
    case "tags": return (row.tags ?? []).join(", ");
    case "wallet": return row.walletId;
    case "amount": return amountText(digits(abs(money(row.amount, row.currency))));
    case "balance": return "";
  }
}

/** fieldsOf returns the change that a value means, or the message why it is invalid. */
export function fieldsOf(row: Transaction, column: Column, value: string): Fields | string {
  switch (column) {
    case "date": return isDay(value) ? { date: value } : common().required;
    case "payee": return { payee: value.trim() };
    case "description": return { description: value.trim() };
    case "category": return directory.category(value) ? { categoryId: value } : common().required;
    case "tags": return { tags: namesOf(value) };
    case "wallet": return directory.wallet(value) ? { walletId: value } : common().required;
    case "amount": {
      const read = readAmount(value, row.currency);
      if (typeof read === "string") return amountMessage(read, row.currency);
      return read.minor > 0n ? { amount: digits(read) } : common().amountInvalid;
    }
    case "balance": return {};
  }
}
