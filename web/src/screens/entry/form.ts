// The fields of the add and edit sheet, and what they mean for the API.
import { fetched } from "../../api/api";
import type { Problem } from "../../api/problem";
import type { Split, Transaction, Transfer } from "../../api/types";
import { amountMessage, amountText, readAmount } from "../../components/amount";
import { dayOf, today } from "../../dates/dates";
import { i18n } from "../../i18n/i18n.svelte";
import { decimalSign, formatMoney } from "../../money/format";
import type { Digits } from "../../money/json";
import { abs, digits, money } from "../../money/money";
import type texts from "./en";
import { left, partsOf, readPart, splitsOf, type Part } from "./split";

export interface Fields {
  kind: "expense" | "income" | "transfer" | "adjustment";
  amount: string;
  currency: string;
  payee: string;
  description: string;
  notes: string;
  tags: string[];
  date: string;
  /** walletId is the wallet that the amount leaves if the kind is transfer. */
  walletId: string;
  toWalletId: string;
  toAmount: string;
  toCurrency: string;
  categoryId: string;
  /** parts are the lines of a split, none if there is one category. */
  parts: Part[];
  /** cleared is true if the bank has booked the transaction. */
  cleared: boolean;
}

/** Opened is the edited transaction, with its transfer if it is a leg; both have one version. */
export interface Opened {
  readonly transaction: Transaction;
  readonly transfer?: Transfer;
  readonly version: string;
}

/** loadEntry loads a transaction, and its transfer if it is a leg. */
export async function loadEntry(id: string): Promise<Opened> {
  const { data, version } = await fetched("/api/v1/transaction/{id}", { path: { id } });
  const { transaction } = data;
  if (!transaction.transferId) return { transaction, version };
  const loaded = await fetched("/api/v1/transfers/{id}", { path: { id: transaction.transferId } });
  return { transaction, transfer: loaded.data.transfer, version: loaded.version };
}

/** shownFields are the fields of a request whose problems the form shows beside their controls. */
export const shownFields = [
  "amount", "currency", "type", "payee", "description", "notes", "tags", "date",
  "walletId", "fromWalletId", "toWalletId", "toAmount", "categoryId", "splits",
] as const;

export type Errors = Partial<Record<string, string>>;

/** errorsOf returns the messages by field. Some codes name none, but only one control can help. */
export function errorsOf(problem: Problem): Errors {
  if (problem.code === "WALLET_CURRENCY_LIMIT_REACHED" && !problem.details.length)
    return { currency: problem.message };
  if (problem.code === "TRANSFER_SAME_WALLET" && !problem.details.length)
    return { toWalletId: problem.message };
  const errors: Errors = Object.fromEntries(shownFields.map((name) => [name, problem.field(name)]));
  // A line of a split shows the message for its category and its amount. All others are below the
  // lines.
  delete errors.splits;
  for (const { field, message } of problem.details)
    errors[/^splits(?!\[\d+\]\.(amount|categoryId|description)$)/.test(field) ? "splits" : field] =
      message;
  return errors;
}

/** empty returns the fields of a new transaction. */
export function empty(): Fields {
  const texts = {
    amount: "", currency: "", payee: "", description: "", notes: "",
    walletId: "", toWalletId: "", toAmount: "", toCurrency: "", categoryId: "",
  };
  return { ...texts, kind: "expense", tags: [], date: today(), parts: [], cleared: false };
}

/** fieldsOf fills the form with a transaction or transfer. */
export function fieldsOf({ transaction, transfer }: Opened): Fields {
  const { amount, currency, description, notes = "", tags = [], date } = transfer ?? transaction;
  const text = (of: string, code: string) => amountText(digits(abs(money(of, code))));
  return {
    kind: transfer ? "transfer" : transaction.type,
    amount: text(amount, currency),
    currency,
    payee: transaction.payee ?? "",
    description,
    notes,
    tags: [...tags],
    date: dayOf(date),
    walletId: transfer?.fromWalletId ?? transaction.walletId,
    toWalletId: transfer?.toWalletId ?? "",
    toAmount: transfer ? text(transfer.toAmount, transfer.toCurrency) : "",
    toCurrency: transfer?.toCurrency ?? "",
    categoryId: transaction.categoryId ?? "",
    parts: partsOf(transaction.splits ?? [], currency, decimalSign(i18n.locale)),
    cleared: transaction.cleared,
  };
}

function amountError(text: string, currency: string, positive: string): string | undefined {
  const amount = readAmount(text, currency);
  if (typeof amount === "string") return amountMessage(amount, currency);
  return amount.minor <= 0n ? positive : undefined;
}

/** validate returns the messages for the fields that the API would reject. */
export function validate(fields: Fields, t: typeof texts): Errors {
  const { kind, amount, currency, parts } = fields;
  const errors: Errors = { amount: amountError(amount, currency, t.positive) };
  if (!fields.walletId) errors.walletId = t.chooseWallet;
  if (kind === "transfer") {
    if (!fields.toWalletId) errors.toWalletId = t.chooseWallet;
    else if (fields.toWalletId === fields.walletId && fields.toCurrency === currency)
      errors.toWalletId = t.sameWallet;
    if (fields.toCurrency !== currency)
      errors.toAmount = amountError(fields.toAmount, fields.toCurrency, t.positive);
  } else if (parts.length) {
    const sign = decimalSign(i18n.locale);
    parts.forEach((part, i) => {
      const read = readPart(part, currency, sign);
      if (typeof read === "string") errors[`splits[${i}].amount`] = amountMessage(read, currency);
      if (!part.categoryId) errors[`splits[${i}].categoryId`] = t.chooseCategory;
    });
    const rest = left(amount, parts, currency, sign);
    if (rest?.minor)
      errors.splits =
        rest.minor < 0n
          ? t.tooMuch(formatMoney(abs(rest), i18n.locale))
          : t.notDistributed(formatMoney(rest, i18n.locale));
  } else if (kind !== "adjustment" && !fields.categoryId) errors.categoryId = t.chooseCategory;
  return Object.fromEntries(Object.entries(errors).filter(([, message]) => message));
}

/** Body has the fields of a transaction or transfer. Those that do not apply are undefined. */
export interface Body {
  type?: "expense" | "income";
  amount: Digits;
  currency: string;
  toAmount?: Digits;
  toCurrency?: string;
  payee?: string;
  description: string;
  notes: string;
  tags: string[];
  date: string;
  walletId?: string;
  fromWalletId?: string;
  toWalletId?: string;
  categoryId?: string;
  splits?: Split[];
  cleared?: boolean;
}

/** bodyOf returns the fields for the API. The amounts must be valid. */
export function bodyOf(fields: Fields): Body {
  const { kind, currency, date, walletId, toWalletId, toCurrency, parts } = fields;
  const exact = (text: string, code: string) => {
    const amount = readAmount(text, code);
    return typeof amount === "string" ? ("" as Digits) : digits(amount);
  };
  const shared = { amount: exact(fields.amount, currency), currency, date, description: fields.description.trim(), notes: fields.notes.trim(), tags: [...fields.tags] };
  if (kind === "transfer") {
    return { ...shared, fromWalletId: walletId, toWalletId, toCurrency, toAmount: toCurrency === currency ? undefined : exact(fields.toAmount, toCurrency) };
  }
  const own = { ...shared, payee: fields.payee.trim(), walletId, cleared: fields.cleared };
  if (kind === "adjustment") return own;
  const splits = splitsOf(parts, currency, decimalSign(i18n.locale));
  return { ...own, type: kind, splits, categoryId: parts.length ? undefined : fields.categoryId };
}

/** given returns the fields that are not empty, as the body of a POST. */
export function given(body: Body): Body {
  return Object.fromEntries(
    Object.entries(body).filter(([, value]) => typeof value !== "boolean" && value?.length),
  ) as unknown as Body;
}

/** changesOf returns the changed fields as the body of a PATCH, and those that belong to them. */
export function changesOf(body: Body, before: Body): Partial<Body> {
  const changed = new Set<string>();
  for (const [name, value] of Object.entries(body)) {
    if (value !== undefined && JSON.stringify(value) !== JSON.stringify(before[name as keyof Body]))
      changed.add(name);
  }
  if (changed.has("currency")) changed.add("amount");
  if (changed.has("toCurrency") && body.toAmount) changed.add("toAmount");
  // The parts of a split belong to its amount. A category ends a split, and the end of a split
  // needs a category.
  if (body.splits?.length && (changed.has("amount") || changed.has("splits")))
    changed.add("amount").add("splits");
  if (changed.has("splits") && !body.splits?.length) changed.add("categoryId");
  return Object.fromEntries(Object.entries(body).filter(([name]) => changed.has(name)));
}
