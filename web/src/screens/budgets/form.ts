// The fields of the budget form, and what they mean for the API.
import type { Budget } from "../../api/types";
import { amountMessage, amountText, readAmount } from "../../components/amount";
import { today, weekDays, type Day } from "../../dates/dates";
import type { Digits } from "../../money/json";
import { digits, money } from "../../money/money";
import type en from "./en";

export interface Fields {
  name: string;
  limit: string;
  currency: string;
  walletId: string;
  categoryIds: string[];
  period: Budget["period"];
  startDate: string;
  endDate: string;
  alertThresholds: number[];
}

export type Errors = Partial<Record<keyof Fields, string>>;

export const periods = ["monthly", "weekly", "biweekly", "daily", "quarterly", "half_yearly", "yearly", "custom"] as const;

/**
 * proposedStart returns the first day of the current month, or of the current week for budgets of
 * weeks. The windows of a budget begin on its start, so the first day of the week in the settings
 * decides them only here.
 */
export function proposedStart(period: Budget["period"]): Day {
  const now = today();
  return period === "weekly" || period === "biweekly"
    ? weekDays(now).from
    : `${now.slice(0, 7)}-01`;
}

export function emptyFields(): Fields {
  return {
    name: "", limit: "", currency: "", walletId: "", categoryIds: [], period: "monthly",
    startDate: proposedStart("monthly"), endDate: "", alertThresholds: [80, 100],
  };
}

/** fieldsOf fills the form with a budget. */
export function fieldsOf(budget: Budget): Fields {
  return {
    name: budget.name,
    limit: amountText(digits(money(budget.limit, budget.currency))),
    currency: budget.currency,
    walletId: budget.walletId,
    categoryIds: [...budget.categoryIds],
    period: budget.period,
    startDate: budget.startDate,
    endDate: budget.endDate ?? "",
    alertThresholds: [...budget.alertThresholds],
  };
}

/** validate returns the exact limit, or the messages for the fields that the API would reject. */
export function validate(fields: Fields, t: typeof en): { limit: Digits } | { errors: Errors } {
  const errors: Errors = {};
  const limit = readAmount(fields.limit, fields.currency);
  if (!fields.name.trim()) errors.name = t.nameRequired;
  if (typeof limit === "string") errors.limit = amountMessage(limit, fields.currency);
  else if (limit.minor <= 0n) errors.limit = t.positive;
  if (!fields.walletId) errors.walletId = t.chooseWallet;
  if (fields.categoryIds.length === 0) errors.categoryIds = t.chooseCategory;
  if (fields.period === "custom" && !fields.endDate) errors.endDate = t.endRequired;
  if (fields.endDate && fields.endDate < fields.startDate) errors.endDate = t.endBeforeStart;
  if (typeof limit === "string" || Object.keys(errors).length) return { errors };
  return { limit: digits(limit) };
}

const same = (a: readonly unknown[], b: readonly unknown[]) =>
  a.length === b.length && a.every((item) => b.includes(item));

/** changesOf returns the changed fields as the body of a PATCH. An empty last day removes it. */
export function changesOf(fields: Fields, limit: Digits, opened: Budget) {
  const before = fieldsOf(opened);
  const sameLimit =
    fields.currency === opened.currency &&
    money(limit, fields.currency).minor === money(opened.limit, opened.currency).minor;
  return {
    ...(fields.name.trim() !== before.name && { name: fields.name }),
    ...(!sameLimit && { limit }),
    ...(fields.currency !== before.currency && { currency: fields.currency }),
    ...(fields.walletId !== before.walletId && { walletId: fields.walletId }),
    ...(!same(fields.categoryIds, before.categoryIds) && { categoryIds: fields.categoryIds }),
    ...(fields.period !== before.period && { period: fields.period }),
    ...(fields.startDate !== before.startDate && { startDate: fields.startDate }),
    ...(fields.endDate !== before.endDate && { endDate: fields.endDate || null }),
    ...(!same(fields.alertThresholds, before.alertThresholds) && {
      alertThresholds: fields.alertThresholds,
    }),
  };
}
