import assert from "node:assert/strict";
import test from "node:test";
import { currenciesOf, shares } from "../../src/screens/home/figures.ts";

const summary = { totals: [{ currency: "EUR", transactionCount: 1 }, { currency: "USD", transactionCount: 0 }, { currency: "CHF", transactionCount: 5 }] };

test("currenciesOf begins with the currency of the settings, and otherwise with that of the most wallets", () => {
  assert.deepEqual(currenciesOf(summary, ["USD"], undefined), ["USD", "CHF", "EUR"]);
  assert.deepEqual(currenciesOf(summary, ["EUR", "USD", "USD", "JPY"], undefined), ["USD", "CHF", "EUR", "JPY"]);
  assert.deepEqual(currenciesOf(summary, ["USD", "USD", "EUR"], "EUR"), ["EUR", "CHF", "USD"]);
  assert.deepEqual(currenciesOf(summary, ["USD"], "GBP"), ["USD", "CHF", "EUR"], "nothing is in the currency of the settings");
  assert.deepEqual(currenciesOf(summary, ["USD", "EUR"], undefined), ["EUR", "CHF", "USD"], "of equal ones, that with more transactions");
  assert.deepEqual(currenciesOf({ totals: [] }, [], "EUR"), []);
});

test("shares add up to the total expense with a category of refunds", () => {
  const of = (categoryId, expense, currency = "EUR") => ({ categoryId, name: categoryId, currency, income: "0.00", expense, percentage: 0 });
  const byCategory = [of("food", "30.00"), of("fun", "6.00"), of("rent", "3.00"), of("car", "1.00"), of("pay", "0.00"), of("home", "-20.00"), of("food", "5", "USD")];
  const list = shares({ byCategory }, "EUR", 2, (n) => `${n} more`);
  assert.deepEqual(
    list.map(({ name, spent, percentage }) => [name, Number(spent.minor), percentage]),
    [["food", 3000, 75], ["fun", 600, 15], ["2 more", 400, 10], ["home", -2000, 0]],
  );
  assert.deepEqual(shares({ byCategory: [of("home", "-20.00")] }, "EUR", 2, String).map(({ percentage }) => percentage), [0]);
});
