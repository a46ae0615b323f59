import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { currencies, decimals, likelyCurrency } from "../../src/money/currencies.ts";
import { moneyFields } from "../../src/money/fields.js";
import { formatMoney, formatShort } from "../../src/money/format.ts";
import { parseJSON, stringifyJSON } from "../../src/money/json.ts";
import { add, digits, money, parseAmount, ratio, sum } from "../../src/money/money.ts";

test("money and digits keep every digit", () => {
  for (const [text, currency, minor] of [
    ["12.30", "EUR", 1230n],
    ["-12.3", "EUR", -1230n],
    ["0.05", "EUR", 5n],
    ["-0.05", "EUR", -5n],
    ["999999999999.99", "EUR", 99999999999999n],
    ["1500", "JPY", 1500n],
    ["1.234", "BHD", 1234n],
    ["92233720368547758.07", "EUR", 9223372036854775807n],
  ]) {
    assert.equal(money(text, currency).minor, minor);
    assert.equal(money(digits(money(text, currency)), currency).minor, minor);
  }
  assert.equal(digits({ minor: -5n, currency: "EUR" }), "-0.05");
  assert.equal(digits({ minor: 7n, currency: "JPY" }), "7");
  assert.throws(() => money("1.234", "EUR"));
  assert.throws(() => money("1e5", "EUR"));
});

test("parseAmount reads the notations of several languages", () => {
  const cases = [
    ["12", ",", 1200n], ["12,5", ",", 1250n], ["12.5", ",", 1250n], ["1.234,56", ",", 123456n], ["1,234.56", ".", 123456n],
    ["1 234,5", ",", 123450n], ["1'234.50", ".", 123450n], ["1.234", ",", 123400n], ["1,234", ".", 123400n], [".5", ".", 50n],
    ["1.234.567", ",", 123456700n], ["12,30+3.5", ",", 1580n], ["20-0,5", ",", 1950n], ["12.300", ",", 1230000n], ["12.300", ".", 1230n], ["5,00", ",", 500n],
  ];
  for (const [text, sign, minor] of cases) assert.deepEqual(parseAmount(text, "EUR", sign), { minor, currency: "EUR" }, text);
  assert.deepEqual(parseAmount("1.234", "BHD", "."), { minor: 1234n, currency: "BHD" });
  assert.deepEqual(parseAmount("1,234", "BHD", "."), { minor: 1234000n, currency: "BHD" });
  const problems = [["", "empty"], ["abc", "invalid"], ["1,2,3", "invalid"], ["12.345", "decimals"], ["1.5555", "decimals"], ["--", "invalid"], ["9999999999999", "tooLarge"], [",", "invalid"], ["5+", "invalid"]];
  for (const [text, problem] of problems) assert.equal(parseAmount(text, "EUR", "."), problem, text);
  assert.equal(parseAmount("1.5", "JPY", "."), "decimals");
});

test("formatMoney is exact where a double is not", () => {
  assert.equal(formatMoney(money("92233720368547758.07", "EUR"), "en-US"), "€92,233,720,368,547,758.07");
  assert.equal(formatMoney(money("-12.3", "EUR"), "de-DE"), "\u221212,30\u00a0€");
  assert.equal(formatMoney(money("1500", "JPY"), "en-US"), "¥1,500");
  assert.equal(formatMoney(money("5", "EUR"), "en-US", "always"), "+€5.00");
  assert.equal(formatShort(money("1234.5", "EUR"), "en-US"), "€1.2K");
  assert.equal(formatShort(money("1234.5", "EUR"), "de-DE"), "1235\u00a0€");
});

test("sums are kept apart by currency", () => {
  const amounts = [money("1.10", "EUR"), money("5", "USD"), money("2.20", "EUR")];
  assert.deepEqual(sum(amounts), [{ minor: 330n, currency: "EUR" }, { minor: 500n, currency: "USD" }]);
  assert.throws(() => add(amounts[0], amounts[1]));
  assert.equal(ratio(1n, 4n), 0.25);
  assert.equal(ratio(1n, 0n), 0);
});

test("JSON of the API keeps digits, and counts stay numbers", () => {
  const parsed = parseJSON('{"amount":-12.30,"limit":400.5,"percentage":12.5,"pagination":{"limit":50,"nextCursor":"","hasMore":false}}');
  assert.match(parsed.amount, /^-12\.30?$/);
  assert.equal(parsed.limit, "400.5");
  assert.equal(parsed.percentage, 12.5);
  assert.equal(parsed.pagination.limit, 50);
  assert.equal(parseJSON('{"status":"running","done":1,"total":2}').total, 2);
  assert.equal(parseJSON('{"total":12.50,"tax":1}').total.slice(0, 4), "12.5");
  const listed = parseJSON('{"net":[0.3,-92233720368547758.07,0],"count":[1,2],"balances":[{"amount":1.5}],"tags":["a"],"x":[]}');
  assert.equal(listed.net[0], "0.3");
  // Browsers with context.source keep every digit.
  if ("rawJSON" in JSON) assert.equal(listed.net[1], "-92233720368547758.07");
  assert.deepEqual([listed.net[2], listed.count, listed.balances[0].amount, listed.tags, listed.x], ["0", [1, 2], "1.5", ["a"], []]);
  assert.equal(stringifyJSON({ amount: "12.3", description: "12.3" }), '{"amount":12.3,"description":"12.3"}');
});

test("the money fields are those of the OpenAPI document", () => {
  const { components, paths } = JSON.parse(readFileSync(new URL("../../../gateway/openapi.json", import.meta.url)));
  const noMoney = new Set(["percentage", "sharePercent", "quantity", "rate", "confidence"]);
  const names = new Set();
  const visit = (properties) => {
    for (const [name, schema] of Object.entries(properties ?? {})) {
      if (schema.type === "number" && schema.format === "double" && !noMoney.has(name)) names.add(name);
    }
  };
  for (const schema of Object.values(components.schemas)) visit(schema.properties);
  for (const operations of Object.values(paths)) {
    for (const operation of Object.values(operations)) {
      for (const parameter of operation.parameters ?? []) visit({ [parameter.name]: parameter.schema ?? {} });
    }
  }
  for (const name of names) assert.ok(moneyFields.has(name), `src/money/fields.js lacks ${name}`);
});

test("the currencies are those of the services", () => {
  const table = readFileSync(new URL("../../../internal/money/currencies.go", import.meta.url), "utf8");
  const listed = [...table.matchAll(/(\d): [`"]([^`"]+)[`"]/g)].flatMap(([, places, codes]) => codes.split(/\s+/).map((code) => [code, Number(places)]));
  assert.deepEqual(currencies, listed.map(([code]) => code).sort());
  for (const [code, places] of listed) assert.equal(decimals(code), places, code);
  assert.equal(likelyCurrency("de-CH"), "CHF");
  assert.equal(likelyCurrency("en"), "USD");
  assert.equal(likelyCurrency("de"), "EUR");
});
