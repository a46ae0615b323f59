// The balance of a wallet after each of its transactions.
import { dayOf } from "../../dates/dates";
import { money } from "../../money/money";

interface Row {
  readonly date: string;
  readonly amount: string;
}

/** Opening is the opening balance of a wallet. It counts from its day on, or always without one. */
interface Opening {
  readonly minor: bigint;
  readonly date?: string;
}

/**
 * runningBalances returns the balance after each transaction in one currency. The newest comes
 * first, and current is the balance after it.
 */
export function runningBalances(
  rows: readonly Row[],
  currency: string,
  current: bigint,
  opening: Opening = { minor: 0n },
): bigint[] {
  let balance = current;
  let opened = true;
  return rows.map(({ date, amount }) => {
    if (opened && opening.date && dayOf(date) < opening.date) {
      opened = false;
      balance -= opening.minor;
    }
    const after = balance;
    balance -= money(amount, currency).minor;
    return after;
  });
}
