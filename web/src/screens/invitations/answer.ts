// The answer to an invitation.
import { api } from "../../api/api";
import { isProblem } from "../../api/problem";
import { announce } from "../../api/topics";
import { fail, toast } from "../../components/toasts.svelte";
import type en from "./en";
import type { OpenInvitation } from "./open";

/** answer accepts or declines an invitation. One that was withdrawn disappears. */
export async function answer({ kind, id, memberId, name }: OpenInvitation, status: "accepted" | "rejected", t: typeof en): Promise<void> {
  const body = { status };
  try {
    if (kind === "goals") await api.patch("/api/v1/goals/{goalId}/members/{memberId}", { path: { goalId: id, memberId }, body });
    else await api.patch("/api/v1/budgets/{budgetId}/members/{memberId}", { path: { budgetId: id, memberId }, body });
    toast(status === "accepted" ? t.accepted(name) : t.declined(name));
  } catch (error) {
    if (isProblem(error) && error.status === 404) toast(t.gone);
    else fail(error);
  }
  announce("invitations", "notifications");
}
