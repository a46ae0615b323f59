import { isProblem, Problem } from "../../api/problem";
import { loadMessages, messages } from "../../i18n/i18n.svelte";
import type en from "./en";

/** explained runs requests, and gives their problems with passkeys and identity providers a text in the user's language. */
export async function explained<Result>(run: () => Promise<Result>): Promise<Result> {
  await loadMessages("secondstep");
  try {
    return await run();
  } catch (error) {
    const text = isProblem(error) && messages<typeof en>("secondstep").problems[error.code];
    throw text ? new Problem(error.code, text, error.status, error.details, error.requestId) : error;
  }
}
