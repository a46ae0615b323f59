import assert from "node:assert/strict";
import test from "node:test";
import { find } from "../../src/screens/palette/find.ts";
import { addressOf, filtersOf, noFilters } from "../../src/screens/transactions/filters.ts";
import { chosenOf } from "../../src/screens/reports/state.ts";
import { addressOfView, queryOf, reportViewOf } from "../../src/screens/views/query.ts";

const id = (n) => `0199f0c5-0000-7000-8000-00000000000${n}`;

test("a view has the query of the API, and leads to the same filters", () => {
  const filters = { q: "a b", walletId: [id(1), id(2)], categoryId: [id(3)], tag: ["x & y"], untagged: undefined, payee: undefined, type: "expense", currency: "EUR", from: "2026-10-01", to: undefined, minAmount: "50", maxAmount: undefined, sort: "amount" };
  const query = queryOf(filters);
  assert.equal(query, `categoryId=${id(3)}&currency=EUR&from=2026-10-01&maxAmount=-50&q=a+b&sort=amount&tag=x+%26+y&type=expense&walletId=${id(1)}&walletId=${id(2)}`);
  assert.equal(addressOfView({ kind: "transactions", query }), addressOf(filters));
  for (const search of ["", "untagged=true", "type=income&min=5&max=9", "payee=Bakery&sort=date", `wallet=${id(1)}&to=2026-01-31`]) {
    const read = filtersOf(new URLSearchParams(search));
    assert.equal(addressOfView({ kind: "transactions", query: queryOf(read) }), addressOf(read), search);
  }
  assert.equal(queryOf(noFilters), "");
});

test("a view with filters that the console does not have is not opened", () => {
  for (const query of [`importId=${id(1)}`, "minAmount=-50&maxAmount=5", "hasAttachments=true", "type=income&minAmount=-5", "q=x&externalId=1"]) assert.equal(addressOfView({ kind: "transactions", query }), undefined, query);
  for (const query of ["q=x", "type=expense", "groupBy=category&top=5", "groupBy=other", "interval=hour"]) assert.equal(addressOfView({ kind: "report", query }), undefined, query);
  for (const [kind, query] of [["comparison", "orderBy=net"], ["comparison", "groupBy=category&top=5"], ["balances", "tag=a"], ["calendar", "groupBy=tag"], ["calendar", "type=income"]]) assert.equal(addressOfView({ kind, query }), undefined, query);
});

test("a view of a report has the query of the API, and leads to the same report", () => {
  const saved = (search) => reportViewOf(chosenOf(new URLSearchParams(search)));
  for (const [search, kind, query] of [
    ["", "report", ""],
    [`wallet=${id(1)}&tag=a&from=2026-01-01&to=2026-03-31&interval=week`, "report", `from=2026-01-01&interval=week&tag=a&to=2026-03-31&walletId=${id(1)}`],
    ["page=spending", "report", "groupBy=category"],
    [`category=${id(2)}&payee=Kiosk&currency=USD&page=spending&by=tag`, "report", `categoryId=${id(2)}&currency=USD&groupBy=tag&payee=Kiosk`],
    ["page=comparison", "comparison", "groupBy=category"],
    [`category=${id(2)}&page=comparison&by=payee&with=year&of=income`, "comparison", `categoryId=${id(2)}&groupBy=payee&orderBy=income&with=year`],
    ["page=worth", "balances", ""],
    [`wallet=${id(1)}&from=2020-01-01&page=worth&interval=quarter`, "balances", `from=2020-01-01&interval=quarter&walletId=${id(1)}`],
    ["tag=a&to=2026-02-28&page=calendar", "calendar", "tag=a&to=2026-02-28"],
  ]) {
    assert.deepEqual(saved(search), { kind, query });
    assert.equal(addressOfView({ kind, query }), search ? `/reports?${search}` : "/reports");
  }
  assert.equal(addressOfView({ kind: "report", query: "groupBy=none&interval=month" }), "/reports?interval=month");
  assert.equal(addressOfView({ kind: "comparison", query: "with=previous&orderBy=expense" }), "/reports?page=comparison");
});

test("entries are found by parts of their names, without accents", () => {
  const entry = (group, text) => ({ id: text, group, text });
  const entries = [entry("screens", "Transactions"), entry("wallets", "Cash"), entry("categories", "Café and cake"), entry("categories", "Eating out"), entry("search", "Search for …")];
  const texts = (text) => find(entries, text).map((found) => found.text);
  assert.deepEqual(texts(""), ["Transactions"]);
  assert.deepEqual(texts("ca"), ["Cash", "Café and cake", "Search for …"]);
  assert.deepEqual(texts("cake CAFE"), ["Café and cake", "Search for …"]);
  assert.deepEqual(texts("out"), ["Eating out", "Search for …"]);
  assert.deepEqual(texts("zzz"), ["Search for …"]);
});
