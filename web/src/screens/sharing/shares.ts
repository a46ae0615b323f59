// Shares of members in percent, with at most two decimals.
import type { Money } from "../../money/money";
import type { SharedMember } from "./sharing";

/** hundredths returns a share in hundredths of a percent, in which sums are exact. */
const hundredths = (percent: number) => Math.round(percent * 100);

/** shareAmount returns a share of an amount, rounded down to the minor unit. */
export function shareAmount(amount: Money, percent: number): Money {
  return {
    minor: (amount.minor * BigInt(hundredths(percent))) / 10_000n,
    currency: amount.currency,
  };
}

/** shareText returns "33.33%". */
export function shareText(percent: number, locale: string): string {
  return new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 2 }).format(
    hundredths(percent) / 10_000,
  );
}

/** idOf returns the id of a member, or that of an invitation by mail. */
export const idOf = ({ id, invitationId }: SharedMember) => id ?? invitationId ?? "";

/** freeShare returns the highest share that a member may get: 100 less the shares of the others. */
export function freeShare(members: readonly SharedMember[], member: SharedMember | undefined): number {
  const others = members.filter(
    (other) => (!member || idOf(other) !== idOf(member)) && other.status !== "rejected",
  );
  return (
    (10_000 - others.reduce((sum, { sharePercent }) => sum + hundredths(sharePercent ?? 0), 0)) /
    100
  );
}

/** readShare parses a share from 0 to most, with comma or point. An empty text is 0. */
export function readShare(text: string, most: number): number | undefined {
  const compact = text.trim().replace(",", ".").replace(/\s*%$/, "");
  if (compact === "") return 0;
  if (!/^\d{1,3}(\.\d{1,2})?$/.test(compact)) return undefined;
  const share = Number(compact);
  return share <= most ? share : undefined;
}
