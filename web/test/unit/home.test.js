import assert from "node:assert/strict";
import test from "node:test";
import { currenciesOf } from "../../src/screens/home/figures.ts";

const summary = { totals: [{ currency: "EUR", transactionCount: 1 }, { currency: "USD", transactionCount: 0 }, { currency: "CHF", transactionCount: 5 }] };

test("currenciesOf begins with the currency of the settings, and otherwise with that of the most wallets", () => {
  assert.deepEqual(currenciesOf(summary, ["USD"], undefined), ["USD", "CHF", "EUR"]);
  assert.deepEqual(currenciesOf(summary, ["EUR", "USD", "USD", "JPY"], undefined), ["USD", "CHF", "EUR", "JPY"]);
  assert.deepEqual(currenciesOf(summary, ["USD", "USD", "EUR"], "EUR"), ["EUR", "CHF", "USD"]);
  assert.deepEqual(currenciesOf(summary, ["USD"], "GBP"), ["USD", "CHF", "EUR"], "nothing is in the currency of the settings");
  assert.deepEqual(currenciesOf(summary, ["USD", "EUR"], undefined), ["EUR", "CHF", "USD"], "of equal ones, that with more transactions");
  assert.deepEqual(currenciesOf({ totals: [] }, [], "EUR"), []);
});
