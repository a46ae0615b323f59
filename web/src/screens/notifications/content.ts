// The texts and links of notifications, by the type of their event (docs/events.md).
import type { Notification } from "../../api/types";
import type { IconName } from "../../components/icons";
import { formatMoney } from "../../money/format";
import { money } from "../../money/money";
import type en from "./en";

export interface Content {
  readonly icon: IconName;
  readonly title: string;
  readonly text?: string;
  /** href is the location that the notification opens. */
  readonly href?: string;
  readonly percentage?: number;
  /** over is true if the spending exceeds the limit. */
  readonly over?: boolean;
  /** invitation is the budget or the goal of an invitation to the user. */
  readonly invitation?: string;
}

interface Data {
  budgetId?: string;
  budgetName?: string;
  goalId?: string;
  goalName?: string;
  budget?: { name?: string };
  ownerId?: string;
  email?: string;
  memberId?: string;
  role?: string;
  sharePercent?: number;
  status?: string;
  previousStatus?: string;
  threshold?: number;
  windowStart?: string;
  currency?: string;
  limit?: string;
  spent?: string;
  goal?: { name?: string; currency?: string };
  saved?: string;
  import?: { id?: string; fileName?: string; counts?: { booked?: number } };
}

interface Context {
  readonly t: typeof en;
  readonly locale: string;
  /** self is the id of the user. */
  readonly self: string;
  /** name returns the name of another user if it is known. */
  readonly name: (id: string | undefined) => string;
  /** answered is what became of an invitation; undefined while it is open or not known. */
  readonly answered: (id: string | undefined) => "accepted" | "closed" | undefined;
}

/** content returns the texts and the link of a notification. An unknown type is shown as it is. */
export function content({ type, data }: Pick<Notification, "type" | "data">, { t, locale, self, name, answered }: Context): Content {
  const d = (data ?? {}) as Data;
  const budget = d.budgetName ?? d.goalName ?? d.budget?.name ?? d.goal?.name ?? "";
  const shared = d.budgetId ?? d.goalId;
  const href = d.budgetId ? `/budgets/${d.budgetId}` : d.goalId && "/goals";
  const imported = d.import?.id && `/imports/${d.import.id}`;
  const percent = (value: number) =>
    new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 2 }).format(
      value / 100,
    );
  const read = (digits = "0") => money(digits, d.currency ?? "");
  const amount = (digits: string | undefined) => formatMoney(read(digits), locale);
  switch (type) {
    case "budget.v1.budget.threshold_reached":
      return {
        icon: "budget",
        title: t.threshold(budget, percent(d.threshold ?? 0)),
        text: d.currency ? t.spentOf(amount(d.spent), amount(d.limit)) : undefined,
        href: d.windowStart ? `${href}?at=${d.windowStart}` : href,
        percentage: d.threshold,
        over: d.currency !== undefined && read(d.spent).minor > read(d.limit).minor,
      };
    case "budget.v1.budget.deleted":
    case "budget.v1.goal.deleted":
      return { icon: "trash", title: t.deleted(budget) };
    case "budget.v1.invitation.sent": {
      const answer = answered(shared);
      if (answer === "accepted")
        return { icon: "users", title: t.joined(name(d.ownerId), budget), href };
      if (answer) return { icon: "mail", title: t.closed(budget), text: t.closedText };
      return { icon: "mail", title: t.invited(name(d.ownerId), budget), text: d.role && terms(d, t, percent), invitation: shared, href };
    }
    case "budget.v1.invitation.answered":
      if (d.status === "accepted")
        return { icon: "users", title: t.accepted(name(d.memberId), budget), href };
      return d.previousStatus === "accepted"
        ? { icon: "log-out", title: t.left(name(d.memberId), budget), href }
        : { icon: "close", title: t.declined(name(d.memberId), budget), href };
    case "budget.v1.invitation.ended":
      return { icon: "mail", title: t.expired(d.email ?? "", budget), href };
    case "budget.v1.member.updated":
      return { icon: "users", title: t.updated(budget), text: d.role && terms(d, t, percent), href };
    case "budget.v1.member.removed":
      return d.memberId === self
        ? { icon: "log-out", title: t.removedYou(budget) }
        : { icon: "log-out", title: t.removedMember(name(d.memberId), budget), href };
    case "budget.v1.goal.reached":
      return { icon: "goal", title: t.goalReached(d.goal?.name ?? ""), text: d.goal?.currency && t.goalSaved(formatMoney(money(d.saved ?? "0", d.goal.currency), locale)), href: "/goals" };
    case "ledger.v1.import.committed":
      return { icon: "upload", title: t.imported(d.import?.fileName ?? ""), text: t.booked(d.import?.counts?.booked ?? 0), href: imported };
    case "ledger.v1.import.failed":
      return { icon: "upload", title: t.importFailed(d.import?.fileName ?? ""), href: imported };
    default:
      return { icon: "info", title: t.unknown(type) };
  }
}

function terms({ role = "", sharePercent }: Data, t: typeof en, percent: (value: number) => string): string {
  return t.terms(t.roles[role] ?? role, sharePercent ? percent(sharePercent) : "");
}
