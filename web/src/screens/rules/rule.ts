// Rules: the operators of each field, and rules in words. All functions are pure.
import type { components } from "../../api/coffer";

type Schemas = components["schemas"];
export type Rule = Schemas["Rule"];
export type Condition = Schemas["RuleCondition"];
export type Action = Schemas["RuleAction"];
export type Field = Condition["field"];
export type Op = Condition["op"];
export type Kind = Action["kind"];

const text: readonly Op[] = ["contains", "is", "startsWith", "endsWith", "matches"];

/** operators are the operators of each field that the form offers. */
export const operators: Record<Field, readonly Op[]> = {
  text, payee: text, description: text, notes: text, amount: ["is", "lt", "gt", "between"], type: ["is"], walletId: ["is"], currency: ["is"], tag: ["is"],
};

export const kinds: readonly Kind[] = ["setCategory", "addTag", "setPayee", "setDescription", "setNotes", "transferTo", "skip"];

/** withField returns a condition for another field. The operator stays if the field has it. */
export function withField(condition: Condition, field: Field): Condition {
  const op = operators[field].includes(condition.op) ? condition.op : operators[field][0]!;
  return { ...condition, field, op, values: [""] };
}

/** withOp returns a condition with another operator and its number of values. */
export function withOp(condition: Condition, op: Op): Condition {
  return { ...condition, op, values: op === "between" ? [condition.values[0] ?? "", ""] : [condition.values[0] ?? ""] };
}

/** moved returns the ids with one of them moved by a step. */
export function moved(ids: readonly string[], id: string, step: number): string[] {
  const at = ids.indexOf(id);
  const to = Math.max(0, Math.min(ids.length - 1, at + step));
  const others = ids.filter((other) => other !== id);
  return [...others.slice(0, to), id, ...others.slice(to)];
}
