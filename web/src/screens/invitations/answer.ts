// The answer to an invitation.
import { api } from "../../api/api";
import { isProblem } from "../../api/problem";
import { announce } from "../../api/topics";
import type { Invitation } from "../../api/types";
import { fail, toast } from "../../components/toasts.svelte";
import type en from "./en";

/** answer accepts or declines an invitation. One that was withdrawn disappears. */
export async function answer({ budgetId, memberId, budgetName }: Invitation, status: "accepted" | "rejected", t: typeof en): Promise<void> {
  try {
    await api.patch("/api/v1/budgets/{budgetId}/members/{memberId}", {
      path: { budgetId, memberId },
      body: { status },
    });
    toast(status === "accepted" ? t.accepted(budgetName) : t.declined(budgetName));
  } catch (error) {
    if (isProblem(error) && error.status === 404) toast(t.gone);
    else fail(error);
  }
  announce("invitations", "notifications");
}
