// The balance of a wallet after each of its transactions.
import type { Transaction, Wallet } from "../../api/types";
import { dayOf } from "../../dates/dates";
import { money, subtract, type Money } from "../../money/money";
import { addressOf, type Filters } from "../transactions/filters";

/** walletOf returns the wallet whose balances a list shows: all of its transactions, the newest first, up to a day or without a limit. */
export function walletOf(filters: Filters): string | undefined {
  const [id, another] = filters.walletId;
  const only = addressOf({ walletId: filters.walletId, categoryId: [], tag: [], from: filters.from });
  return id && !another && addressOf(filters) === only ? id : undefined;
}

/** Balances are those after the transactions, and the ones before the last of them, by currency. */
export interface Balances {
  readonly rows: readonly Transaction[];
  readonly after: readonly Money[];
  readonly before: ReadonlyMap<string, Money>;
  /** opened is false if the last of them is before the day of the opening balance. */
  readonly opened: boolean;
}

/**
 * balancesOf computes backwards from the current balances of the wallet, which contain transactions of any date. The opening balance
 * counts from its day on, or always without one. known are the balances of the same list before it got another page, so that a page of a
 * long list costs its own rows only.
 */
export function balancesOf(rows: readonly Transaction[], wallet: Wallet, known?: Balances): Balances {
  const same = known && known.rows.length && known.rows.length <= rows.length && known.rows.every((row, i) => row === rows[i]);
  const after = same ? [...known.after] : [];
  const left = new Map(same ? known.before : wallet.balances.map(({ currency, amount }) => [currency, money(amount, currency)]));
  let opened = same ? known.opened : true;
  for (const { amount, currency, date } of rows.slice(after.length)) {
    if (opened && wallet.openingDate && currency === wallet.currency && dayOf(date) < wallet.openingDate) {
      opened = false;
      left.set(currency, subtract(left.get(currency) ?? money("0", currency), money(wallet.initialBalance, currency)));
    }
    const balance = left.get(currency) ?? money("0", currency);
    after.push(balance);
    left.set(currency, subtract(balance, money(amount, currency)));
  }
  return { rows, after, before: left, opened };
}
