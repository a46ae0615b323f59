import assert from "node:assert/strict";
import test from "node:test";
import { digits } from "../../src/money/money.ts";
import { filled, left, newPart, partsOf, readPart, splitsOf } from "../../src/screens/entry/split.ts";

const parts = (...amounts) => amounts.map((amount) => newPart({ amount: amount.replace("-", ""), refund: amount.startsWith("-"), categoryId: "c" }));

test("left/is exact with 0, 2 and 3 decimals", () => {
  for (const [currency, total, amounts, rest] of [
    ["JPY", "1001", ["334", "334"], "333"],
    ["EUR", "0.3", ["0.1", "0.2"], "0.00"],
    ["EUR", "999999999999.99", ["333333333333.33", "333333333333.33"], "333333333333.33"],
    ["BHD", "1.003", ["0.334", "0.334"], "0.335"],
    ["BHD", "0.001", ["0.001"], "0.000"],
  ]) {
    assert.equal(digits(left(total, parts(...amounts), currency, ".")), rest, `${currency} ${total}`);
  }
});

test("left/counts refunds against the other parts, and is negative if the parts exceed the amount", () => {
  assert.equal(digits(left("30", parts("20.01", "12", "-2.01"), "EUR", ".")), "0.00");
  assert.equal(digits(left("30", parts("20.01", "12"), "EUR", ".")), "-2.01");
});

test("left/ignores lines without an amount, and is undefined without a total", () => {
  assert.equal(digits(left("10", parts("", "4", "x"), "EUR", ".")), "6.00");
  assert.equal(left("", parts("4"), "EUR", "."), undefined);
});

test("readPart/rejects what the currency cannot express, and 0", () => {
  assert.equal(readPart(parts("1.5")[0], "JPY", "."), "decimals");
  assert.equal(readPart(parts("1.2345")[0], "BHD", "."), "decimals");
  assert.equal(readPart(parts("0.00")[0], "EUR", "."), "empty");
  assert.equal(readPart(parts("-5")[0], "EUR", ".").minor, -500n);
});

test("filled/completes any total, so that nothing is left", () => {
  let seed = 7;
  const random = (below) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  for (let i = 0; i < 500; i++) {
    const currency = ["JPY", "EUR", "BHD"][i % 3];
    const total = digits({ minor: BigInt(1 + random(1_000_000)), currency });
    const lines = parts(digits({ minor: BigInt(1 + random(900_000)), currency }), digits({ minor: BigInt(1 + random(900_000)), currency }), "");
    const rest = left(total, lines, currency, ".");
    if (rest.minor === 0n) continue;
    Object.assign(lines[2], filled(rest, "."));
    assert.equal(left(total, lines, currency, ".").minor, 0n, `${total} ${currency}`);
  }
});

test("partsOf and splitsOf/keep every digit, the sign and the description", () => {
  const splits = [{ categoryId: "a", amount: "20.01", description: "food" }, { categoryId: "b", amount: "-2.50", description: "" }];
  assert.deepEqual(splitsOf(partsOf(splits, "EUR", ","), "EUR", ","), splits);
  assert.deepEqual(partsOf(splits, "EUR", ",").map(({ amount, refund }) => [amount, refund]), [["20,01", false], ["2,50", true]]);
});
