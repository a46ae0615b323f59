// The jobs of a rule, which apply it to existing transactions or undo that.
import { api } from "../../api/api";
import { Problem } from "../../api/problem";
import { announce } from "../../api/topics";
import type { Rule } from "./rule";

/** working reports whether a job of a rule has not ended. */
export const working = ({ progress }: Rule): boolean => ["queued", "running", "undoing"].includes(progress?.status ?? "");

/** runJob starts a job, and calls seen with the rule until it has ended. It throws the problem of a job that failed. */
export async function runJob(job: "apply" | "undo", id: string, seen: (rule: Rule) => void, signal?: AbortSignal): Promise<Rule> {
  const path = { id };
  let { rule } = await api.post(`/api/v1/rules/{id}/${job}`, { path, body: {} });
  for (seen(rule); working(rule) && !signal?.aborted; seen(rule)) ({ rule } = await api.get("/api/v1/rules/{id}", { path, query: { wait: 8 }, signal }));
  announce("transactions", "rules");
  const { status, problem = "" } = rule.progress ?? {};
  if (status === "failed") throw new Problem(problem, problem);
  return rule;
}
