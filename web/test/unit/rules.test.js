import assert from "node:assert/strict";
import test from "node:test";
import { Problem } from "../../src/api/problem.ts";
import { fieldsOf, inWords, kinds, limitText, moved, operators, undoable, withField, withOp } from "../../src/screens/rules/rule.ts";

const condition = { field: "payee", op: "contains", values: ["shop"], not: true };

test("withField", () => {
  assert.deepEqual(withField(condition, "amount"), { field: "amount", op: "is", values: [""], not: true });
  assert.equal(withField(condition, "notes").op, "contains");
  for (const ops of Object.values(operators)) assert.ok(ops.length > 0);
  assert.equal(new Set(kinds).size, 7);
});

test("withOp", () => {
  const between = withOp({ ...condition, field: "amount", values: ["5"] }, "between");
  assert.deepEqual(between.values, ["5", ""]);
  assert.deepEqual(withOp(between, "gt").values, ["5"]);
});

test("moved", () => {
  assert.deepEqual(moved(["a", "b", "c"], "c", -1), ["a", "c", "b"]);
  assert.deepEqual(moved(["a", "b", "c"], "a", -1), ["a", "b", "c"]);
  assert.deepEqual(moved(["a", "b", "c"], "a", 1), ["b", "a", "c"]);
});

test("undoable", () => {
  const until = (days) => undoable({ application: { changed: 1, restored: 0, kept: 0, undoableUntil: new Date(Date.now() + days * 86_400_000).toISOString() } });
  assert.ok(until(1));
  assert.ok(!until(-1));
  assert.ok(!undoable({ application: { changed: 1, restored: 1, kept: 0 } }));
  assert.ok(!undoable({}));
});

test("inWords", () => {
  const fields = fieldsOf({
    name: "Shops",
    match: "any",
    stop: true,
    conditions: [{ field: "payee", op: "is", values: ["shop"] }, { field: "amount", op: "between", values: ["5", "10"], not: true }],
    actions: [{ kind: "setCategory", value: "id" }, { kind: "skip" }],
  });
  const nameOf = (value) => (value === "id" ? "Essen" : value);
  const t = { yes: "Ja", any: "Eine", negate: "Nicht", fields: { payee: "Empfänger", amount: "Betrag" }, ops: { is: "ist", between: "zwischen" }, kinds: { setCategory: "Kategorie", skip: "Auslassen" } };
  const words = Object.fromEntries(Object.keys(fields).map((name) => [name, inWords(fields, name, t, nameOf)]));
  assert.deepEqual(words, { name: "Shops", match: "Eine", stop: "Ja", conditions: "Empfänger ist shop, Nicht: Betrag zwischen 5 – 10", actions: "Kategorie: Essen, Auslassen" });
});

test("limitText", () => {
  const limits = { conditions: "patterns", rules: "runs", rule: "number" };
  for (const [field, text] of Object.entries(limits)) {
    const problem = new Problem("LIMIT_REACHED", "A limit is reached", 409, [{ field, message: "too many" }]);
    assert.equal(limitText(problem, limits), text);
  }
  assert.equal(limitText(new Problem("RULE_RUNNING", "", 409), limits), undefined);
  assert.equal(limitText(undefined, limits), undefined);
});
