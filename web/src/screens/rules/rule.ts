// Rules: the operators of each field, and rules in words. All functions are pure.
import type { components } from "../../api/coffer";
import type { Problem } from "../../api/problem";
import type en from "./en";

type Schemas = components["schemas"];
export type Rule = Schemas["Rule"];
export type Suggestion = Schemas["RuleSuggestion"];
export type Condition = Schemas["RuleCondition"];
export type Action = Schemas["RuleAction"];
export type Field = Condition["field"];
export type Op = Condition["op"];
export type Kind = Action["kind"];
/** Fields are the fields of a rule that the form edits. */
export type Fields = Pick<Rule, "name" | "match" | "conditions" | "actions" | "stop">;

type Ops = readonly [Op, ...Op[]];
const text: Ops = ["contains", "is", "startsWith", "endsWith", "matches"];

/** operators are the operators of each field that the form offers. */
export const operators: Record<Field, Ops> = {
  text, payee: text, description: text, notes: text, amount: ["is", "lt", "gt", "between"], type: ["is"], walletId: ["is"], currency: ["is"], tag: ["is"],
};

export const kinds: readonly Kind[] = ["setCategory", "addTag", "setPayee", "setDescription", "setNotes", "transferTo", "skip"];

/** withField returns a condition for another field. The operator stays if the field has it. */
export function withField(condition: Condition, field: Field): Condition {
  const op = operators[field].find((op) => op === condition.op) ?? operators[field][0];
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

/** undoable reports whether the latest application of a rule can be undone now. */
export const undoable = ({ application }: Pick<Rule, "application">): boolean => (application?.undoableUntil ?? "") > new Date().toISOString();

/** fieldsOf returns the fields of a rule, with the values that the API omits. */
export function fieldsOf({ name, match, conditions, actions, stop }: Fields): Fields {
  return {
    name,
    match,
    stop,
    conditions: conditions.map(({ field, op, values, not }) => ({ field, op, values: [...values], not: not ?? false })),
    actions: actions.map(({ kind, value }) => ({ kind, value: value ?? "" })),
  };
}

/** inWords returns a field of a rule as a text. nameOf returns the text of an id or a type. */
export function inWords(fields: Fields, name: keyof Fields, t: typeof en, nameOf: (value: string) => string): string {
  if (name === "name") return fields.name;
  if (name === "stop") return fields.stop ? t.yes : t.no;
  if (name === "match") return t[fields.match];
  if (name === "actions")
    return fields.actions
      .map(({ kind, value }) => (value ? `${t.kinds[kind]}: ${nameOf(value)}` : t.kinds[kind]))
      .join(", ");
  const words = fields.conditions.map(({ field, op, values, not }) => {
    const condition = `${t.fields[field]} ${t.ops[op]} ${values.map(nameOf).join(" – ")}`;
    return not ? `${t.negate}: ${condition}` : condition;
  });
  return words.join(", ");
}

/** limitText returns the text of the limit that a problem names. */
export function limitText(
  problem: Problem | undefined,
  limits: typeof en.limits,
): string | undefined {
  if (problem?.code !== "LIMIT_REACHED") return undefined;
  const name = (Object.keys(limits) as (keyof typeof limits)[]).find((name) => problem.field(name));
  return name && limits[name];
}
