// The fields of the add and edit sheet, and what they mean for the API.
import { amountMessage, amountText, readAmount } from "../../components/amount";
import type { Problem } from "../../api/problem";
import type { Transaction } from "../../api/types";
import { dayOf } from "../../dates/dates";
import type { Digits } from "../../money/json";
import { abs, digits, money } from "../../money/money";

export interface Fields {
  kind: "expense" | "income";
  amount: string;
  currency: string;
  description: string;
  date: string;
  walletId: string;
  categoryId: string;
}

/** shownFields are the fields of a request whose problems the form shows beside their controls. */
export const shownFields = ["amount", "currency", "type", "description", "date", "walletId", "categoryId"] as const;

export type Errors = Partial<Record<(typeof shownFields)[number], string>>;

/** errorsOf returns the messages of a problem by field. The limit of currencies names no field, but only another currency helps. */
export function errorsOf(problem: Problem): Errors {
  if (problem.code === "WALLET_CURRENCY_LIMIT_REACHED" && !problem.details.length) return { currency: problem.message };
  return Object.fromEntries(shownFields.map((name) => [name, problem.field(name)]));
}

/** fieldsOf fills the form with a transaction. */
export function fieldsOf(transaction: Transaction): Fields {
  return {
    kind: transaction.type === "income" ? "income" : "expense",
    amount: amountText(digits(abs(money(transaction.amount, transaction.currency)))),
    currency: transaction.currency,
    description: transaction.description,
    date: dayOf(transaction.date),
    walletId: transaction.walletId,
    categoryId: transaction.categoryId ?? "",
  };
}

/** validate returns the exact amount, or the messages for the fields that the API would reject. */
export function validate(fields: Fields, texts: { positive: string; chooseWallet: string; chooseCategory: string }): { amount: Digits } | { errors: Errors } {
  const errors: Errors = {};
  const amount = readAmount(fields.amount, fields.currency);
  if (typeof amount === "string") errors.amount = amountMessage(amount, fields.currency);
  else if (amount.minor <= 0n) errors.amount = texts.positive;
  if (!fields.walletId) errors.walletId = texts.chooseWallet;
  if (!fields.categoryId) errors.categoryId = texts.chooseCategory;
  if (typeof amount === "string" || Object.keys(errors).length) return { errors };
  return { amount: digits(amount) };
}

/** changesOf returns the fields that differ from the opened transaction, as the body of a PATCH. */
export function changesOf(fields: Fields, amount: Digits, opened: Transaction) {
  const before = fieldsOf(opened);
  const sameAmount = money(amount, fields.currency).minor === abs(money(opened.amount, opened.currency)).minor && fields.currency === opened.currency;
  return {
    ...(!sameAmount && { amount }),
    ...(fields.kind !== before.kind && { type: fields.kind }),
    ...(fields.currency !== before.currency && { currency: fields.currency }),
    ...(fields.description.trim() !== before.description && { description: fields.description }),
    ...(fields.date !== before.date && { date: fields.date }),
    ...(fields.walletId !== before.walletId && { walletId: fields.walletId }),
    ...(fields.categoryId !== before.categoryId && { categoryId: fields.categoryId }),
  };
}
