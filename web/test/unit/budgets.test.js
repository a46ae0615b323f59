import assert from "node:assert/strict";
import test from "node:test";

import { daysLeft, daysOf, earlierDays, elapsedDays, windowLength } from "../../src/dates/windows.ts";
import { burndown } from "../../src/screens/budgets/burndown.ts";
import { freeShare, readShare, shareAmount } from "../../src/screens/sharing/shares.ts";
import { limitOf, percentText, ringText, standing } from "../../src/screens/budgets/standing.ts";

const november = { from: "2026-11-01", to: "2026-11-30" };
const plain = (value) => (value === undefined ? undefined : Number(value));

test("elapsedDays counts today, and is limited to the window", () => {
  assert.equal(windowLength(november), 30);
  assert.deepEqual(["2026-10-31", "2026-11-01", "2026-11-22", "2026-11-30", "2026-12-05"].map((day) => elapsedDays(november, day)), [0, 1, 22, 30, 30]);
  assert.deepEqual(["2026-11-22", "2026-11-30", "2026-12-01"].map((day) => daysLeft(november, day)), [9, 1, 0]);
});

test("earlierDays returns a day within each earlier window", () => {
  assert.deepEqual(earlierDays("monthly", november, "2026-09-01", 7), ["2026-10-15", "2026-09-15"]);
  assert.deepEqual(earlierDays("monthly", { from: "2026-03-31", to: "2026-04-29" }, "2026-01-31", 7), ["2026-03-14", "2026-02-14"]);
  assert.deepEqual(earlierDays("weekly", { from: "2026-11-16", to: "2026-11-22" }, "2026-11-01", 2), ["2026-11-12", "2026-11-05"]);
  assert.deepEqual(earlierDays("daily", { from: "2026-03-01", to: "2026-03-01" }, "2020-01-01", 1), ["2026-02-28"]);
  assert.deepEqual(earlierDays("yearly", { from: "2026-01-01", to: "2026-12-31" }, "2024-01-01", 7), ["2025-07-02", "2024-07-02"]);
  assert.deepEqual(earlierDays("custom", november, "2026-01-01", 7), []);
});

test("earlierDays clamps a day that a month does not have", () => {
  // The middle of this window is the 29th; February 2026 has 28 days.
  assert.deepEqual(earlierDays("monthly", { from: "2026-03-15", to: "2026-04-14" }, "2026-01-15", 2), ["2026-02-28", "2026-01-30"]);
});

test("standing compares the spending with even spending up to today", () => {
  const budget = { limit: "90.00", currency: "EUR", progress: { windowStart: november.from, windowEnd: november.to, spent: "80.00", remaining: "10.00", percentage: 88.88, state: "near" } };
  const { ahead, daysLeft: days, elapsed, over, rest } = standing(budget, "2026-11-20");
  assert.deepEqual({ ahead: plain(ahead.minor), days, elapsed, over, rest: plain(rest.minor) }, { ahead: -2000, days: 11, elapsed: 20 / 30, over: false, rest: 1000 });
  assert.equal(standing(budget, "2026-12-01").ahead, undefined, "a window that has ended has no pace");
  assert.equal(standing({ ...budget, progress: undefined }, "2026-11-20"), undefined);
});

test("limitOf returns the limit at the end of a window", () => {
  const limits = [
    { limit: "300", currency: "EUR", from: "2026-11-10" },
    { limit: "200", currency: "USD", from: "2026-10-01", to: "2026-11-09" },
    { limit: "100", currency: "EUR", from: "2026-08-15", to: "2026-09-30" },
  ];
  const of = (windowEnd) => limitOf(limits, { windowEnd, spent: "75" }, "EUR");
  assert.deepEqual(of("2026-11-30"), { limit: "300", percentage: 25 });
  assert.deepEqual(of("2026-10-31"), { limit: "300", percentage: 25 }, "another currency cannot be compared");
  assert.deepEqual(of("2026-09-30"), { limit: "100", percentage: 75 });
  assert.deepEqual(of("2026-07-31"), { limit: "100", percentage: 75 }, "windows before the budget was created");
  // 0.29 * 100 is less than 29.
  for (const [spent, percentage] of [["29", 29], ["79.999", 80], ["99.999", 99.99], ["100.001", 100]])
    assert.equal(limitOf([{ limit: "100", currency: "BHD", from: "2026-01-01" }], { windowEnd: "2026-11-30", spent }, "BHD").percentage, percentage);
  assert.throws(() => limitOf([], { windowEnd: "2026-11-30", spent: "75" }, "EUR"), RangeError, "no limit is not a limit of 0");
});

test("percentText rounds down", () => {
  assert.deepEqual([99.99, 100, 1234.5].map((n) => percentText(n, "en-US")), ["99%", "100%", "1,234%"]);
  assert.deepEqual([0, 99.99, 999.99, 1000].map(ringText), ["0%", "99%", "999%", "999+"]);
});

test("burndown adds refunds, counts parts, ignores other currencies, and ends today", () => {
  const window = { from: "2026-11-01", to: "2026-11-04" };
  const at = (day, amount, { currency = "EUR", splits } = {}) => ({ date: `${day}T00:00:00.000Z`, type: amount < 0 ? "expense" : "income", amount, currency, splits });
  const splits = [{ categoryId: "food", amount: "55.00" }, { categoryId: "food", amount: "-15.00" }, { categoryId: "home", amount: "80.00" }];
  const transactions = [at("2026-11-01", "-120.00", { splits }), at("2026-11-02", "5.50"), at("2026-11-02", "-9.00", { currency: "USD" })];
  const { left, plan } = burndown(window, { minor: 10000n, currency: "EUR" }, transactions, ["food", "fun"], "2026-11-03");
  assert.deepEqual(left.map(plain), [6000, 6550, 6550, undefined]);
  assert.deepEqual(plan.map(plain), [7500, 5000, 2500, 0]);
  assert.equal(daysOf(window).length, 4);
});

test("shares are exact to two decimals", () => {
  const members = [{ id: "a", status: "accepted", sharePercent: 33.33 }, { id: "b", status: "pending", sharePercent: 33.33 }, { id: "c", status: "rejected", sharePercent: 50 }];
  assert.equal(freeShare(members, undefined), 33.34);
  assert.equal(freeShare(members, members[0]), 66.67);
  assert.equal(plain(shareAmount({ minor: 10000n, currency: "EUR" }, 33.33).minor), 3333);
  assert.deepEqual(["", "12,5", "33.34 %", "33.35", "1.234", "-1", "x"].map((text) => readShare(text, 33.34)), [0, 12.5, 33.34, undefined, undefined, undefined, undefined]);
});
