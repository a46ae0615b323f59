// The amount that the console proposes to assign next.
import type { Goal } from "../../api/types";
import { money, type Money } from "../../money/money";

/** proposed returns the amount to assign next: the one that the goal needs each month, otherwise its average, and at most the remaining amount. */
export function proposed({ currency, progress }: Pick<Goal, "currency" | "progress">): Money | undefined {
  if (!progress) return undefined;
  const remaining = money(progress.remaining, currency);
  const monthly = money(progress.neededPerMonth ?? progress.averagePerMonth, currency);
  const amount = monthly.minor < remaining.minor ? monthly : remaining;
  return amount.minor > 0n ? amount : undefined;
}
