// The steps of the import wizard, and the state of an import in them. All functions are pure.
import { isTable, missing } from "./mapping";
import type { Import } from "./types";

export type Step = "columns" | "places" | "review";

/** tabs are the lists of the review with the row statuses that they show. */
export const tabs = {
  fresh: ["ready"],
  duplicate: ["duplicate"],
  matched: ["matched"],
  pending: ["pending"],
  invalid: ["invalid"],
  skipped: ["skipped"],
  booked: ["booked"],
  undone: ["undone"],
} as const;
export type Tab = keyof typeof tabs;

/** countOf returns the number of rows in a tab. */
export function countOf({ counts }: Import, tab: Tab): number {
  return counts[tab === "fresh" ? "ready" : tab];
}

/** shownTabs returns the tabs of an import: the four of the review, and others that have rows. */
export function shownTabs(data: Import): Tab[] {
  const always: readonly Tab[] =
    data.status === "preview" ? ["fresh", "duplicate", "matched", "invalid"] : [];
  return (Object.keys(tabs) as Tab[]).filter(
    (tab) => always.includes(tab) || countOf(data, tab) > 0,
  );
}

/** unassigned returns the accounts whose rows have no wallet. */
export function unassigned({ accounts, defaults }: Import): Import["accounts"] {
  return accounts.filter(
    ({ count, walletId, create }) => count > 0 && !walletId && !create && !defaults.walletId,
  );
}

/** stepsOf returns the steps of an import. Only files with a mapping have the step for columns. */
export function stepsOf({ mapping }: Import): Step[] {
  return mapping ? ["columns", "places", "review"] : ["places", "review"];
}

/** firstStep returns the first step for the user. known columns were confirmed earlier. */
export function firstStep(data: Import, known: boolean): Step {
  const unread =
    data.mapping && (missing(data.mapping).length > 0 || data.counts.invalid === data.counts.total);
  if (data.mapping && isTable(data.mapping) && (!known || unread)) return "columns";
  return unassigned(data).length || data.categories.some(({ create }) => create)
    ? "places"
    : "review";
}

/** working reports whether a job of an import is running. */
export function working({ status }: Import): boolean {
  return ["updating", "queued", "running", "undoing"].includes(status);
}

/** stopped reports whether the rows of an import return to what they were before a change that was stopped. Another change may follow. */
export function stopped({ status, progress, counts }: Import): boolean {
  return status === "updating" && Boolean(progress?.problem) && !counts.booked;
}

/** perSecond returns the items per second of a job, undefined until they can be measured. */
export function perSecond(
  from: { at: number; done: number },
  to: { at: number; done: number },
): number | undefined {
  const seconds = (to.at - from.at) / 1000;
  return seconds < 0.5 || to.done <= from.done
    ? undefined
    : Math.round((to.done - from.done) / seconds);
}
