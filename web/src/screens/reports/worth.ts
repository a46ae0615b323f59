// The wallets of net worth by kind.
import { money } from "../../money/money";

/** kinds is the order of the kinds: what a user lives on, then what grows, then debts. */
const kinds = ["checking", "cash", "savings", "investment", "asset", "other", "card", "loan"] as const;

type Kind = (typeof kinds)[number];

interface Row {
  readonly walletId: string;
  readonly name: string;
  readonly kind: Kind;
  readonly currency: string;
  readonly balances: readonly string[];
}

interface Worth {
  readonly first: bigint;
  readonly now: bigint;
}

interface Group extends Worth {
  readonly kind: Kind;
  readonly wallets: readonly (Worth & { readonly id: string; readonly name: string })[];
}

/** groupsOf adds up the first and the last balances in a currency by kind. */
export function groupsOf(rows: readonly Row[], currency: string): Group[] {
  return kinds.flatMap((kind) => {
    const wallets = rows
      .filter((row) => row.kind === kind && row.currency === currency)
      .map(({ walletId, name, balances }) => ({
        id: walletId,
        name,
        first: money(balances[0] ?? "0", currency).minor,
        now: money(balances.at(-1) ?? "0", currency).minor,
      }));
    const sum = (of: "first" | "now") => wallets.reduce((total, one) => total + one[of], 0n);
    return wallets.length ? [{ kind, wallets, first: sum("first"), now: sum("now") }] : [];
  });
}
