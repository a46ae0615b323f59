// Changes of webhooks, and the secret that is shown once.
import { SvelteSet } from "svelte/reactivity";
import { api, newKey, versionSeen } from "../../api/api";
import { isProblem } from "../../api/problem";
import { announce } from "../../api/topics";
import type { components } from "../../api/coffer";
import { fail, toast, undoable } from "../../components/toasts.svelte";
import type texts from "./en";

export type Webhook = components["schemas"]["Webhook"];
export type Delivery = components["schemas"]["WebhookDelivery"];
type Texts = typeof texts;

let secret = $state("");
const removed = new SvelteSet<string>();

/** shownSecret is the secret of a new webhook. It is in memory until the dialog closes. */
export const shownSecret = {
  get text(): string {
    return secret;
  },
  show(text: string): void {
    secret = text;
  },
};

export function isRemoved(id: string): boolean {
  return removed.has(id);
}

/** setEnabled pauses or resumes the deliveries of a webhook, as the screen shows it. */
export async function setEnabled(webhook: Webhook, enabled: boolean, t: Texts): Promise<void> {
  const { id } = webhook;
  try {
    const version = await versionSeen("/api/v1/webhooks/{id}", webhook);
    await api.patch("/api/v1/webhooks/{id}", { path: { id }, body: { enabled }, version });
    toast(enabled ? t.wasResumed : t.wasPaused);
  } catch (error) {
    fail(error);
  }
  announce("webhooks");
}

/** sendTest sends a test event. */
export async function sendTest(id: string, t: Texts): Promise<void> {
  try {
    await api.post("/api/v1/webhooks/{id}/test", { path: { id }, body: {}, key: newKey() });
    toast(t.testSent);
  } catch (error) {
    fail(error);
  }
  announce("webhooks");
}

/** sendAgain delivers an event of the log again. */
export async function sendAgain({ id, webhookId }: Delivery, key: string, t: Texts): Promise<boolean> {
  try {
    await api.post("/api/v1/webhooks/{webhookId}/deliveries/{id}/redeliver", { path: { webhookId, id }, body: {}, key });
    toast(t.sentAgain);
    announce("webhooks");
    return true;
  } catch (error) {
    fail(error);
    return false;
  }
}

/** remove hides a webhook and deletes it when the toast closes. */
export function remove(id: string, t: Texts): void {
  removed.add(id);
  undoable(t.wasDeleted, () => void commit(id), () => removed.delete(id));
}

async function commit(id: string): Promise<void> {
  try {
    await api.delete("/api/v1/webhooks/{id}", { path: { id } });
  } catch (error) {
    removed.delete(id);
    if (!isProblem(error, "WEBHOOK_NOT_FOUND")) fail(error);
  }
  announce("webhooks");
}
