// The open invitations of the user, to budgets and to goals.
import { api } from "../../api/api";
import type { GoalInvitation, Invitation } from "../../api/types";

/** OpenInvitation is an invitation without an answer, with the id and the name of the budget or the goal. */
export type OpenInvitation = Omit<Invitation, "budgetId" | "budgetName"> & {
  readonly kind: "budgets" | "goals";
  readonly id: string;
  readonly name: string;
};

/** openInvitations returns the newest invitations of each kind, at most 200. */
export async function openInvitations(signal: AbortSignal): Promise<OpenInvitation[]> {
  const query = { limit: 200 };
  const [budgets, goals] = await Promise.all([
    api.get("/api/v1/invitations", { query, signal }),
    api.get("/api/v1/goals/invitations", { query, signal }),
  ]);
  return [
    ...budgets.invitations.map(({ budgetId: id, budgetName: name, ...rest }: Invitation) => ({ ...rest, kind: "budgets" as const, id, name })),
    ...goals.invitations.map(({ goalId: id, goalName: name, ...rest }: GoalInvitation) => ({ ...rest, kind: "goals" as const, id, name })),
  ];
}
