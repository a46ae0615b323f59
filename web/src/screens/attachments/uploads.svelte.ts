// Uploads of attachments. They continue when the form that started them is closed. A failed one is
// kept until the user repeats or discards it.
import { api, newKey, nextKey } from "../../api/api";
import { isProblem, type Problem } from "../../api/problem";
import { announce } from "../../api/topics";
import { offer, problemText } from "../../components/toasts.svelte";
import { loadMessages, messages } from "../../i18n/i18n.svelte";
import { navigate, withQuery } from "../../shell/router.svelte";
import type en from "./en";

export interface Upload {
  readonly transactionId: string;
  readonly file: File;
  /** key is the Idempotency-Key. A repetition after a lost answer has the same one. */
  key: string;
  /** sent is the part of the file that was sent, from 0 to 1. */
  sent: number;
  problem?: Problem;
}

let uploads = $state<Upload[]>([]);

/** uploadsOf returns the uploads to a transaction that are running or have failed. */
export function uploadsOf(transactionId: string | undefined): Upload[] {
  return uploads.filter((upload) => upload.transactionId === transactionId);
}

export function discard(upload: Upload): void {
  uploads = uploads.filter((other) => other !== upload);
}

/** upload attaches a file to a transaction, and returns the problem if it failed. */
export function upload(transactionId: string, file: File): Promise<Problem | undefined> {
  const added = $state<Upload>({ transactionId, file, key: newKey(), sent: 0 });
  uploads.push(added);
  return send(added);
}

/** send sends a new or failed upload. */
export async function send(upload: Upload): Promise<Problem | undefined> {
  const { transactionId, file, key } = upload;
  upload.problem = undefined;
  const body = new FormData();
  body.append("file", file);
  try {
    await api.post("/api/v1/transaction/{transactionId}/attachments", { path: { transactionId }, body, key, progress: (sent) => (upload.sent = sent) });
    discard(upload);
    announce("transactions");
    return undefined;
  } catch (failure) {
    if (!isProblem(failure)) throw failure;
    upload.problem = failure;
    upload.key = nextKey(upload.key, failure);
    return failure;
  }
}

/** uploadAll attaches files, and reports whether all arrived. If not, a toast leads to the form. */
export async function uploadAll(transactionId: string, files: readonly File[]): Promise<boolean> {
  const failed: { name: string; problem: Problem }[] = [];
  for (const file of files) {
    const problem = await upload(transactionId, file);
    if (problem) failed.push({ name: file.name, problem });
  }
  const [first] = failed;
  if (!first) return true;
  await loadMessages("attachments");
  const t = messages<typeof en>("attachments");
  const names = failed.map(({ name }) => name).join(", ");
  offer(t.notAttached(names), problemText(first.problem), {
    label: t.show,
    run: () => navigate(withQuery({ entry: transactionId })),
  });
  return false;
}
