// The figures of Home, computed from summaries of the API.
import type { Summary } from "../../api/types";
import { addDays, daysBetween, type Day } from "../../dates/dates";
import { money, ratio, type Money } from "../../money/money";

interface DayTotals {
  date: string;
  currency: string;
  income: string;
  expense: string;
}

/**
 * cumulative returns the spending of a period up to each of its days. Days after last, which are
 * still to come, are undefined. The expense of a day is never negative, because a refund within an
 * expense is smaller than the expense. So the sum never falls.
 */
export function cumulative(daily: readonly DayTotals[], currency: string, from: Day, to: Day, last: Day): (bigint | undefined)[] {
  const byDay = new Map<string, bigint>();
  for (const day of daily)
    if (day.currency === currency) byDay.set(day.date, money(day.expense, currency).minor);
  let total = 0n;
  return Array.from({ length: daysBetween(from, to) + 1 }, (_, i) => {
    const day = addDays(from, i);
    total += byDay.get(day) ?? 0n;
    return day > last ? undefined : total;
  });
}

export interface Share {
  readonly id?: string;
  readonly name: string;
  readonly spent: Money;
  readonly percentage: number;
}

/**
 * shares returns the categories with the highest spending, and one entry with the sum of the
 * others. Percentages are shares in the sum of these. Categories with more refunds than expenses
 * are last, without a share, so that all entries add up to the total expense.
 */
export function shares(summary: Summary, currency: string, most: number, nameOfRest: (n: number) => string): Share[] {
  const all = summary.byCategory
    .filter((category) => category.currency === currency)
    .map(({ categoryId, name, expense }) => ({
      id: categoryId,
      name,
      spent: money(expense, currency),
    }))
    .sort((a, b) => (a.spent.minor < b.spent.minor ? 1 : -1));
  const spending = all.filter(({ spent }) => spent.minor > 0n);
  const total = spending.reduce((sum, { spent }) => sum + spent.minor, 0n);
  const percentage = (spent: Money) => ratio(spent.minor, total) * 100;
  // A rest of one category would say less than its name.
  const head = spending.length <= most + 1 ? spending : spending.slice(0, most);
  const rest = spending.slice(head.length);
  const list: Share[] = head.map((share) => ({ ...share, percentage: percentage(share.spent) }));
  if (rest.length) {
    const spent = { minor: rest.reduce((sum, share) => sum + share.spent.minor, 0n), currency };
    list.push({ name: nameOfRest(rest.length), spent, percentage: percentage(spent) });
  }
  const refunded = all.filter(({ spent }) => spent.minor < 0n);
  return [...list, ...refunded.map((share) => ({ ...share, percentage: 0 }))];
}

/**
 * currenciesOf returns the currencies of a month and of the wallets, the main one first, then by
 * transactions. The main one is that of the settings, and otherwise that of the most wallets: a
 * single receipt in another currency must not decide it.
 */
export function currenciesOf(
  summary: Summary,
  walletCurrencies: readonly string[],
  base: string | undefined,
): string[] {
  const used = [...summary.totals]
    .sort((a, b) => b.transactionCount - a.transactionCount)
    .map(({ currency }) => currency);
  const all = [...new Set([...used, ...walletCurrencies])];
  const wallets = (code: string) => walletCurrencies.filter((other) => other === code).length;
  const rank = (code: string) => (code === base ? Infinity : wallets(code));
  const main = Math.max(...all.map(rank));
  const first = all.find((code) => rank(code) === main);
  return all.sort((a, b) => Number(b === first) - Number(a === first));
}
