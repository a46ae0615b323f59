// The comparison of the rows of an account with the balances that the file states.
import { decimals } from "../../money/currencies";
import { add, money, subtract, sum, type Money } from "../../money/money";
import type { Account, Row } from "./types";

/** Comparison says how far the rows of an account are from its closing balance. */
export interface Comparison {
  readonly account: Account;
  readonly opening: Money;
  readonly rows: Money;
  readonly closing: Money;
  readonly difference: Money;
}

/** stated reports whether a file states both balances of an account. */
export function stated(account: Account): boolean {
  return account.openingBalance !== undefined && account.closingBalance !== undefined;
}

/** exact returns an amount, or undefined if it has more decimals than its currency. */
export function exact(digits: string | undefined, currency: string | undefined): Money | undefined {
  if (digits === undefined || !currency) return undefined;
  const fraction = (/\.(\d+)$/.exec(digits)?.[1] ?? "").replace(/0+$/, "");
  return fraction.length > decimals(currency) ? undefined : money(digits, currency);
}

/**
 * compare adds up the rows of each account for which the file states both balances. Rows of other
 * currencies do not count.
 */
export function compare(accounts: readonly Account[], rows: readonly Row[]): Comparison[] {
  return accounts.filter(stated).flatMap((account) => {
    const currency = account.currency ?? rows.find((row) => row.account === account.key)?.currency;
    const opening = exact(account.openingBalance, currency);
    const closing = exact(account.closingBalance, currency);
    if (!opening || !closing) return [];
    const amounts = rows.flatMap((row) => (row.account === account.key && row.currency === currency ? (exact(row.amount, currency) ?? []) : []));
    const total = sum(amounts)[0] ?? { minor: 0n, currency: opening.currency };
    return [{ account, opening, rows: total, closing, difference: subtract(closing, add(opening, total)) }];
  });
}
