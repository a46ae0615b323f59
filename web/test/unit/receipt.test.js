import assert from "node:assert/strict";
import test from "node:test";
import { digits, money } from "../../src/money/money.ts";
import { compare, sameAmount } from "../../src/screens/receipt/sum.ts";

const eur = (text) => money(text, "EUR");

test("compare/adds items and adjustments, and subtracts a discount", () => {
  const { sum, rest, count } = compare([eur("10.00"), eur("-2.50")], { tax: eur("0.80"), tip: eur("1.00"), discount: eur("0.30"), rounding: eur("-0.02") }, eur("8.98"));
  assert.equal(digits(sum), "8.98");
  assert.equal(digits(rest), "0.00");
  assert.equal(count, 6);
});

test("compare/reports the missing and the surplus amount", () => {
  assert.equal(digits(compare([eur("13.00")], {}, eur("13.50")).rest), "0.50");
  assert.equal(digits(compare([eur("14.00")], {}, eur("13.50")).rest), "-0.50");
});

test("compare/does not count amounts of zero, which are not booked", () => {
  assert.equal(compare([eur("0.00"), eur("5.00")], { tax: eur("0") }, eur("5.00")).count, 1);
});

test("compare/stays exact beyond floating-point numbers", () => {
  const large = Array.from({ length: 3 }, () => eur("999999999999.99"));
  assert.equal(digits(compare(large, {}, eur("0.01")).sum), "2999999999999.97");
});

test("sameAmount/ignores zeros at the end", () => {
  assert.ok(sameAmount("13.5", eur("13.50")));
  assert.ok(sameAmount("13", eur("13.00")));
  assert.ok(sameAmount("130", money("130", "JPY")));
  assert.ok(!sameAmount("13.5", eur("13.05")));
  assert.ok(!sameAmount(undefined, eur("0.00")));
});
