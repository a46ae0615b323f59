// Kinds of events that a webhook can receive.
import type en from "./en";

export type Group = keyof typeof en.groups;

const patterns: Record<Group, readonly string[]> = {
  transactions: ["ledger.v1.transaction.*"],
  wallets: ["ledger.v1.wallet.*"],
  categories: ["ledger.v1.category.*"],
  budgets: ["budget.v1.budget.*"],
  goals: ["budget.v1.goal.*", "budget.v1.assignment.*"],
  sharing: ["budget.v1.invitation.*", "budget.v1.member.*"],
  profile: ["auth.v1.user.*"],
};

export const groups = Object.keys(patterns) as Group[];

/** grouped splits the events of a webhook into groups and other patterns of API clients. */
export function grouped(events: readonly string[]): { chosen: Group[]; others: string[] } {
  const chosen = groups.filter((group) =>
    patterns[group].every((pattern) => events.includes(pattern)),
  );
  const known = new Set(chosen.flatMap((group) => patterns[group]));
  return { chosen, others: events.filter((event) => !known.has(event)) };
}

/** ungrouped is the opposite of grouped. */
export function ungrouped(chosen: readonly Group[], others: readonly string[]): string[] {
  return [
    ...groups.filter((group) => chosen.includes(group)).flatMap((group) => patterns[group]),
    ...others,
  ];
}

/** eventText returns an event's type in words, such as "Transaction created", if it is known. */
export function eventText(type: string, t: typeof en): string {
  const [, , kind = "", change = ""] = type.split(".");
  return t.kinds[kind] && t.changes[change] ? `${t.kinds[kind]} ${t.changes[change]}` : type;
}

/** eventsText describes the events of a webhook. */
export function eventsText(events: readonly string[], t: typeof en): string {
  if (!events.length) return t.allEvents;
  const { chosen, others } = grouped(events);
  return [...chosen.map((group) => t.groups[group]), ...others].join(", ");
}
