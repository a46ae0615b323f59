import assert from "node:assert/strict";
import test from "node:test";
import { layout } from "../../src/screens/reports/flow.ts";
import { nameOf, shortNameOf } from "../../src/screens/reports/labels.ts";
import { largest, listOf, othersKey, pairsOf, reportOf } from "../../src/screens/reports/report.ts";
import { addressOf, chosenOf, intervalsOf, presetsOf, remedyOf, stateOf, weeksOf } from "../../src/screens/reports/state.ts";
import { addressOf as listAddress, filtersOf } from "../../src/screens/transactions/filters.ts";

const [food, rent, fun] = ["4", "5", "6"].map((n) => `0199f0c5-0000-7000-8000-00000000000${n}`);
const today = "2026-11-28";
const names = { withoutPayee: "none", untagged: "untagged", others: (n) => `${n} others` };
const stateAt = (text) => stateOf(chosenOf(new URLSearchParams(text)), today, "EUR");
const numbers = (...expense) => ({ income: expense.map(() => "0"), expense, count: expense.map(() => 1) });
const intervals = [{ start: "2026-10-01", end: "2026-10-31" }, { start: "2026-11-01", end: "2026-11-30" }];

test("the state survives the address, and a link without a period has the defaults", () => {
  const text = `page=spending&wallet=${food}&category=${rent}&tag=trip&payee=Bakery&currency=USD&from=2026-01-05&to=2026-02-07&interval=week&by=tag&view=lines&with=year&of=income`;
  const chosen = chosenOf(new URLSearchParams(text));
  assert.deepEqual(chosenOf(new URL(addressOf(chosen), "http://x").searchParams), chosen);
  assert.equal(addressOf(chosenOf(new URLSearchParams("page=x&interval=decade&by=y"))), "/reports");
  const { filters, interval } = stateAt("");
  assert.deepEqual([filters.from, filters.to, filters.currency, interval], ["2025-12-01", "2026-11-30", "EUR", "month"]);
  assert.deepEqual(stateAt("page=comparison").filters.from, "2026-10-01");
  assert.equal(stateAt("from=2027-05-01").filters.to, "2027-05-01");
  assert.equal(stateAt("to=2020-05-01").filters.from, "2020-05-01");
});

test("a calendar has the weeks of the last month", () => {
  const { filters, interval } = stateAt("page=calendar&from=2026-01-01&to=2026-02-10");
  assert.deepEqual([filters.from, filters.to, interval], ["2026-02-01", "2026-02-28", "day"]);
  const weeks = weeksOf(filters.from);
  assert.deepEqual([weeks.length, weeks[0].indexOf("2026-02-01"), weeks.flat().filter(Boolean).length], [5, 6, 28]);
  assert.equal(remedyOf(stateAt("page=calendar"), "must be 2026-05-02 or later").chosen.page, "cashflow");
});

test("an interval that the period cuts has the name of its days", () => {
  for (const [start, end, interval, name, short] of [
    ["2020-03-01", "2020-03-31", "month", "March 2020", "Mar"],
    ["2020-01-01", "2020-01-31", "month", "January 2020", "Jan 2020"],
    ["2020-03-05", "2020-03-31", "month", "Mar 5, 2020 – Mar 31, 2020", "Mar 5, 2020"],
    ["2020-03-01", "2020-03-30", "month", "Mar 1, 2020 – Mar 30, 2020", "Mar 1, 2020"],
    ["2020-03-31", "2020-03-31", "month", "Mar 31, 2020", "Mar 31, 2020"],
    ["2020-01-01", "2020-03-31", "quarter", "Q1 2020", "Q1 2020"],
    ["2020-02-01", "2020-03-31", "quarter", "Feb 1, 2020 – Mar 31, 2020", "Feb 1, 2020"],
    ["2020-01-01", "2020-12-31", "year", "2020", "2020"],
    ["2020-01-01", "2020-11-30", "year", "Jan 1, 2020 – Nov 30, 2020", "Jan 1, 2020"],
    ["2020-03-05", "2020-03-08", "week", "Mar 5, 2020 – Mar 8, 2020", "Mar 5, 2020"],
  ])
    assert.deepEqual([nameOf({ start, end }, interval, "en-US"), shortNameOf({ start, end }, interval, "en-US")], [name, short]);
});

test("only intervals are offered of which a report may have so many", () => {
  assert.ok(intervalsOf("2026-01-01", "2027-01-31").includes("day"));
  assert.ok(!intervalsOf("2026-01-01", "2027-02-28").includes("day"));
  // From a Sunday on, 2794 days are in 400 weeks, and 2795 in 401.
  assert.ok(intervalsOf("2019-01-06", "2026-08-30").includes("week"));
  assert.ok(!intervalsOf("2019-01-06", "2026-08-31").includes("week"));
  assert.equal(stateAt("interval=day&from=2020-01-01&to=2026-11-30").interval, "quarter");
  assert.deepEqual(presetsOf(today).find(({ name }) => name === "months3"), { name: "months3", from: "2026-09-01", to: "2026-11-30" });
});

test("a report that is too large leads to the day of the error, and otherwise to whole months", () => {
  const state = stateAt("page=spending&by=payee&tag=trip&from=2026-01-15&interval=week");
  assert.deepEqual(remedyOf(state, "must be 2026-05-02 or later; reports").chosen.filters, { ...state.chosen.filters, from: "2026-05-02", to: "2026-11-30" });
  const { since, chosen: whole } = remedyOf(state, "must be later");
  assert.equal(since, undefined);
  assert.deepEqual([whole.by, whole.interval, whole.filters.from, whole.filters.tag], ["category", "month", "2026-01-01", []]);
});

test("the others are the groups outside of those that are shown", () => {
  const state = stateAt("page=spending");
  const series = [{ key: food, name: "Food", ...numbers("5", "0") }, { key: rent, name: "Rent", ...numbers("0", "4.50") }, { key: fun, name: "Fun", ...numbers("1", "-0.25") }];
  const report = reportOf({ intervals, totals: numbers("8", "6.25"), series, other: { groups: 2, ...numbers("2", "2") } }, "category", state, names);
  assert.deepEqual(report.other.filters, { exceptCategoryId: [food, rent, fun] });
  const shown = largest(report, "expense", 2, "category", state, names);
  assert.deepEqual(shown.map(({ name, expense }) => [name, expense]), [["Food", [500n, 0n]], ["Rent", [0n, 450n]], ["3 others", [300n, 175n]]]);
  assert.deepEqual(shown[2].filters, { exceptCategoryId: [food, rent] });
  const some = stateAt(`category=${food}&category=${rent}&category=${fun}`);
  assert.deepEqual(largest(report, "expense", 2, "category", some, names)[2].filters, { categoryId: [fun] });

  const list = filtersOf(new URL(listAddress(listOf(some, "net", intervals[0], shown[2].filters)), "http://x").searchParams);
  assert.deepEqual([list.counted, list.type, list.from, list.to, list.currency], [true, undefined, "2026-10-01", "2026-10-31", "EUR"]);
});

test("a payee named Other is not the sum of the others", () => {
  const state = stateAt("page=spending&by=payee");
  const series = ["other", "a", "b"].map((key, i) => ({ key, name: key, ...numbers(String(9 - i)) }));
  const report = reportOf({ intervals: intervals.slice(0, 1), totals: numbers("24"), series }, "payee", state, names);
  const shown = largest(report, "expense", 2, "payee", state, names);
  assert.deepEqual(shown.map(({ key }) => key), ["other", "a", othersKey]);
  assert.equal(new Set(shown.map(({ key }) => key)).size, 3);
  assert.deepEqual(shown[2].filters, { exceptPayee: ["other", "a"] });
});

test("tags have no others, and only those of the filter", () => {
  const series = [{ key: "trip", name: "Trip", ...numbers("5") }, { key: "", name: "", ...numbers("3") }];
  const of = (state) => reportOf({ intervals: intervals.slice(0, 1), totals: numbers("6"), series, other: { groups: 4, ...numbers("2") } }, "tag", state, names);
  const all = of(stateAt("by=tag"));
  assert.deepEqual([all.other, all.hidden, all.groups.map(({ filters }) => filters)], [undefined, 4, [{ tag: ["Trip"] }, { untagged: true }]]);
  assert.equal(largest(all, "expense", 1, "tag", stateAt(""), names).length, 1);
  assert.deepEqual(of(stateAt("by=tag&tag=trip")).groups.map(({ name }) => name), ["Trip"]);
});

test("a comparison adds up the groups beyond the largest differences", () => {
  const group = (name, now, before) => ({ key: name, name, now: { income: "0", expense: now, net: "0" }, before: { income: "0", expense: before, net: "0" }, difference: { income: "0", expense: "0", net: "0" } });
  const comparison = { currency: "EUR", groups: [group("b", "9", "2"), group("a", "1", "2"), group("c", "0", "0")], other: { groups: 3, ...group("", "4", "5") } };
  const pairs = (most, text) => pairsOf(comparison, most, stateAt(text), names).map(({ name, now, before, filters }) => [name, now, before, filters]);
  const [b, a] = [["b", 900n, 200n, { payee: "b" }], ["a", 100n, 200n, { payee: "a" }]];
  assert.deepEqual(pairs(50, "by=payee"), [b, a, ["3 others", 400n, 500n, { exceptPayee: ["b", "a"] }]]);
  assert.deepEqual(pairs(1, "by=payee"), [b, ["4 others", 500n, 700n, { exceptPayee: ["b"] }]]);
  assert.deepEqual(pairs(1, "by=tag").map(([name]) => name), ["b"]);
  assert.deepEqual(pairsOf({ ...comparison, other: undefined }, 2, stateAt("by=payee"), names).length, 2);
});

test("the streams of a flow do not overlap", () => {
  const of = (...values) => values.map((value, i) => ({ name: String(i), value }));
  const { height, sides } = layout([of(1000n), of(900n, 99n, 1n)], 200);
  assert.ok(height >= 200);
  for (const side of sides) {
    side.forEach(({ top, height: thick, middle }, i) => {
      assert.ok(top >= 0 && top + thick <= height + 0.01 && middle >= 0);
      const before = side[i - 1];
      if (before) assert.ok(top >= before.top + before.height && Math.abs(middle - before.middle - before.height) < 0.01);
    });
  }
});

test("filters that exclude survive the address, unless their opposite is there", () => {
  const read = (text) => filtersOf(new URL(listAddress(filtersOf(new URLSearchParams(text))), "http://x").searchParams);
  const { exceptPayee, exceptCategoryId, exceptWalletId, withoutPayee } = read(`notpayee=&notpayee=Bakery&notcategory=${food}&notwallet=${rent}&nopayee=true`);
  assert.deepEqual([exceptPayee, exceptCategoryId, exceptWalletId, withoutPayee], [["", "Bakery"], [food], [rent], true]);
  const opposite = read(`notpayee=a&payee=b&nopayee=true&notcategory=${food}&category=${rent}`);
  assert.deepEqual([opposite.exceptPayee, opposite.exceptCategoryId, opposite.withoutPayee], [undefined, undefined, undefined]);
});
