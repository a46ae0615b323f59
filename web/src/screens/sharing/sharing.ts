// Budgets and goals are shared in the same way. Each kind has its own paths.
import { api } from "../../api/api";
import type { Topic } from "../../api/topics";
import type { Budget, Goal, Member } from "../../api/types";

/** Shared is a budget or a goal. */
export interface Shared {
  readonly kind: "budgets" | "goals";
  readonly id: string;
  readonly name: string;
  readonly role: "owner" | "editor" | "viewer";
  readonly ownerName?: string;
  /** amount is the limit or the target, of which members have shares. */
  readonly amount: string;
  readonly currency: string;
  /** members are the newest members, if they are known already. */
  readonly members?: readonly SharedMember[];
}

/** SharedMember is a member of a budget or of a goal. */
export type SharedMember = Omit<Member, "budgetId" | "memberId">;

interface Invitee {
  readonly email: string;
  readonly role: Member["role"];
  readonly sharePercent?: number;
}

interface Terms {
  readonly role?: Member["role"];
  readonly sharePercent?: number | null;
}

interface Calls {
  readonly topic: Topic;
  page(id: string, cursor: string | undefined, signal: AbortSignal): Promise<{ members: SharedMember[]; pagination: { nextCursor?: string | null } }>;
  invite(id: string, body: Invitee, byMail: boolean, key: string): Promise<unknown>;
  change(id: string, memberId: string, body: Terms): Promise<unknown>;
  remove(id: string, memberId: string): Promise<unknown>;
  resend(id: string, invitationId: string, key: string): Promise<unknown>;
  withdraw(id: string, invitationId: string): Promise<unknown>;
}

/** calls are the requests of each kind. */
export const calls: Record<Shared["kind"], Calls> = {
  budgets: {
    topic: "budgets",
    page: (budgetId, cursor, signal) => api.get("/api/v1/budgets/{budgetId}/members", { path: { budgetId }, query: { limit: 200, cursor }, signal }),
    invite: (budgetId, body, byMail, key) => api.post("/api/v1/budgets/{budgetId}/share", { path: { budgetId }, query: byMail ? { invite: true } : undefined, body, key }),
    change: (budgetId, memberId, body) => api.patch("/api/v1/budgets/{budgetId}/members/{memberId}", { path: { budgetId, memberId }, body }),
    remove: (budgetId, memberId) => api.delete("/api/v1/budgets/{budgetId}/members/{memberId}", { path: { budgetId, memberId } }),
    resend: (budgetId, invitationId, key) => api.post("/api/v1/budgets/{budgetId}/invitations/{invitationId}/resend", { path: { budgetId, invitationId }, body: {}, key }),
    withdraw: (budgetId, invitationId) => api.delete("/api/v1/budgets/{budgetId}/invitations/{invitationId}", { path: { budgetId, invitationId } }),
  },
  goals: {
    topic: "goals",
    page: (goalId, cursor, signal) => api.get("/api/v1/goals/{goalId}/members", { path: { goalId }, query: { limit: 200, cursor }, signal }),
    invite: (goalId, body, byMail, key) => api.post("/api/v1/goals/{goalId}/share", { path: { goalId }, query: byMail ? { invite: true } : undefined, body, key }),
    change: (goalId, memberId, body) => api.patch("/api/v1/goals/{goalId}/members/{memberId}", { path: { goalId, memberId }, body }),
    remove: (goalId, memberId) => api.delete("/api/v1/goals/{goalId}/members/{memberId}", { path: { goalId, memberId } }),
    resend: (goalId, invitationId, key) => api.post("/api/v1/goals/{goalId}/invitations/{invitationId}/resend", { path: { goalId, invitationId }, body: {}, key }),
    withdraw: (goalId, invitationId) => api.delete("/api/v1/goals/{goalId}/invitations/{invitationId}", { path: { goalId, invitationId } }),
  },
};

/** allMembers returns the members of all pages. */
export async function allMembers({ kind, id }: Pick<Shared, "kind" | "id">, signal: AbortSignal): Promise<SharedMember[]> {
  const all: SharedMember[] = [];
  let cursor: string | undefined;
  do {
    const page = await calls[kind].page(id, cursor, signal);
    all.push(...page.members);
    cursor = page.pagination.nextCursor || undefined;
  } while (cursor);
  return all;
}

/** sharedGoal returns a goal for the screens of sharing. */
export const sharedGoal = ({ id, name, role = "owner", ownerName, target, currency }: Goal): Shared =>
  ({ kind: "goals", id, name, role, ownerName, amount: target, currency });

/** sharedBudget returns a budget for the screens of sharing. */
export const sharedBudget = ({ id, name, role, ownerName, limit, currency, members }: Budget): Shared =>
  ({ kind: "budgets", id, name, role, ownerName, amount: limit, currency, members });
