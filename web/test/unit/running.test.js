import assert from "node:assert/strict";
import test from "node:test";
import { runningBalances } from "../../src/screens/wallet/running.ts";

const row = (date, amount) => ({ date: `${date}T00:00:00.000Z`, amount });

test("runningBalances has the balance after each transaction", () => {
  const rows = [row("2026-03-03", "-1.50"), row("2026-03-02", "10"), row("2026-03-01", "-0.25")];
  assert.deepEqual(runningBalances(rows, "EUR", 1000n), [1000n, 1150n, 150n]);
  assert.deepEqual(runningBalances([], "EUR", 5n), []);
});

test("runningBalances contains the opening balance from its day on", () => {
  const rows = [row("2026-03-03", "1"), row("2026-03-02", "1"), row("2026-03-01", "1"), row("2026-02-01", "1")];
  const opening = { minor: 5000n, date: "2026-03-02" };
  assert.deepEqual(runningBalances(rows, "EUR", 5400n, opening), [5400n, 5300n, 200n, 100n]);
  assert.deepEqual(runningBalances(rows, "EUR", 5400n, { minor: 5000n }), [5400n, 5300n, 5200n, 5100n]);
});
