// The balances and amounts of an import.
import { decimals } from "../../money/currencies";
import { money, type Money } from "../../money/money";
import type { Account } from "./types";

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
