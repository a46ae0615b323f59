import assert from "node:assert/strict";
import test from "node:test";
import { addressOf, filtersOf, isFiltered, noFilters, requestOf } from "../../src/screens/transactions/filters.ts";
import { bundle, group, headingHeight, heightOf, noGroups, receiptKey, rowHeight, sumsOf, totalOf, visible } from "../../src/screens/transactions/groups.ts";

const food = "0199f0c5-0000-7000-8000-000000000004";
const cash = "0199f0c5-0000-7000-8000-000000000003";
test("filters survive the address", () => {
  const filters = { q: "a b", walletId: [cash], categoryId: [food], tag: ["holiday", "two words"], untagged: undefined, payee: "Bakery & Co", withoutPayee: undefined, exceptWalletId: undefined, exceptCategoryId: undefined, exceptPayee: undefined, counted: undefined, type: "expense", currency: "EUR", from: "2026-10-01", to: "2026-10-31", minAmount: "50", maxAmount: "99.5", sort: "-amount" };
  const address = addressOf(filters);
  assert.deepEqual(filtersOf(new URL(address, "http://x").searchParams), filters);
  assert.equal(addressOf(noFilters), "/transactions");
  const untagged = { ...noFilters, untagged: true, type: "transfer" };
  const read = filtersOf(new URL(addressOf(untagged), "http://x").searchParams);
  assert.deepEqual([read.untagged, read.type, read.tag], [true, "transfer", []]);
  assert.ok(!isFiltered(noFilters) && isFiltered(filters) && !isFiltered({ ...noFilters, sort: "date" }));
});

test("invalid values in the address are left out", () => {
  const filters = filtersOf(new URLSearchParams("wallet=x&type=gift&from=2026-02-30&min=-1&max=1e5&currency=euro&sort=payee"));
  assert.equal(filters.sort, undefined);
  assert.ok(!isFiltered(filters));
});

test("amounts of expenses are negative in requests", () => {
  assert.deepEqual(requestOf({ ...noFilters, type: "expense", minAmount: "20", maxAmount: "50" }), { ...noFilters, type: "expense", minAmount: "-50", maxAmount: "-20" });
  assert.deepEqual(requestOf({ ...noFilters, type: "income", minAmount: "20" }), { ...noFilters, type: "income", minAmount: "20" });
  assert.equal(filtersOf(new URLSearchParams("min=20")).type, "expense");
});

const none = noGroups.opened;
const itemsOf = (transactions) => group(transactions, none, noGroups).items;

test("group groups by day, sumsOf sums per currency", () => {
  const of = (id, date, amount, currency = "EUR") => ({ id, date: `${date}T10:00:00.000Z`, amount, currency });
  const items = itemsOf([of("1", "2026-11-22", "-1.10"), of("2", "2026-11-22", "-5", "USD"), of("3", "2026-11-22", "-2.20"), of("4", "2026-11-20", "3")]);
  assert.deepEqual(items.map(({ kind }) => kind), ["day", "row", "row", "row", "day", "row"]);
  assert.deepEqual(sumsOf(items[0].transactions, []), [{ minor: -330n, currency: "EUR" }, { minor: -500n, currency: "USD" }]);
  assert.equal(heightOf(items), 2 * headingHeight + 4 * rowHeight);
  assert.equal(heightOf([]), 0);
});

test("sumsOf leaves transfers out of the sums of a day", () => {
  const date = "2026-11-22T10:00:00.000Z";
  const sums = sumsOf([{ id: "1", date, amount: "-1.10", currency: "EUR" }, { id: "2", date, amount: "-30", currency: "EUR", transferId: "t" }, { id: "3", date, amount: "30", currency: "EUR", transferId: "t" }], []);
  assert.deepEqual(sums, [{ minor: -110n, currency: "EUR" }]);
});

test("sumsOf counts the parts in the categories", () => {
  const date = "2026-11-22T10:00:00.000Z";
  const parts = (...amounts) => amounts.map((amount, i) => ({ categoryId: ["food", "home"][i % 2], amount }));
  const day = [
    { id: "1", date, type: "expense", amount: "-10", currency: "EUR", splits: parts("30", "-20") },
    { id: "2", date, type: "income", amount: "7", currency: "EUR", splits: parts("4", "3") },
    { id: "3", date, type: "expense", amount: "-1", currency: "EUR" },
  ];
  assert.deepEqual(sumsOf(day, ["food"]), [{ minor: -2700n, currency: "EUR" }]);
  assert.deepEqual(sumsOf(day, []), [{ minor: -400n, currency: "EUR" }]);
});

test("totalOf adds the lines of a receipt, and no other currency", () => {
  const line = (amount, currency = "EUR") => ({ type: "expense", amount, currency });
  assert.deepEqual(totalOf([line("-1.10"), line("-2")], []), { minor: -310n, currency: "EUR" });
  assert.throws(() => totalOf([line("-1.10"), line("-2", "USD")], []), RangeError);
});

test("group after another list has the same items as without it", () => {
  const rows = (...days) => days.map((day, i) => ({ id: `${day}-${i}`, date: `2026-11-${day}T10:00:00.000Z`, amount: "-1", currency: "EUR" }));
  const long = rows(28, 28, 27, 27, 27, 26, 25, 25);
  const changed = long.map((row, i) => (i === 3 ? { ...row, amount: "-2" } : row));
  const lists = [[], long.slice(0, 1), long.slice(0, 3), long.slice(0, 5), long, changed, long.toSpliced(2, 1), long.slice(1), rows(24, 23)];
  for (const before of lists) {
    for (const after of lists) assert.deepEqual(group(after, none, group(before, none, noGroups)).items, itemsOf(after));
  }
});

test("group keeps the items of the days before a further page", () => {
  const row = (i) => ({ id: String(i), date: new Date(Date.UTC(2026, 0, 1) - Math.floor(i / 3) * 864e5).toISOString(), amount: "-1", currency: "EUR" });
  const first = Array.from({ length: 10 }, (_, i) => row(i));
  const before = group(first, none, noGroups);
  const after = group([...first, row(10), row(11)], none, before);
  assert.equal(after.items.filter((item) => before.items.includes(item)).length, 9 + 3);
});

const line = (id, day, receiptId, amount = "-1", currency = "EUR") => ({ id, date: `2026-11-${day}T00:00:00.000Z`, type: "expense", amount, currency, receiptId });
const keysOf = (items) => items.map((item) => (item.kind === "receipt" ? item.transactions.map(({ id }) => id).join("+") : item.key));

test("bundle joins the lines of a receipt of one day and currency", () => {
  const list = [line("a", 22, "r"), line("b", 22), line("c", 22, "r"), line("d", 22, "s"), line("e", 22, "r", "-1", "USD"), line("f", 21, "r")];
  assert.deepEqual(bundle(list).map((lines) => lines.map(({ id }) => id).join("")), ["ac", "b", "d", "e", "f"]);
});

test("group shows a receipt as one row, which opens to its lines", () => {
  const list = [line("a", 22, "r"), line("b", 22, "r"), line("c", 22), line("d", 21, "s")];
  const closed = group(list, none, noGroups);
  assert.deepEqual(keysOf(closed.items), ["2026-11-22", "a+b", "c", "2026-11-21", "d"]);
  assert.equal(heightOf(closed.items), 2 * headingHeight + 3 * rowHeight);
  const open = group(list, new Set([receiptKey(list[0])]), closed);
  assert.deepEqual(keysOf(open.items), ["2026-11-22", "a+b", "a", "b", "c", "2026-11-21", "d"]);
  assert.deepEqual(open.items.filter(({ line: ofReceipt }) => ofReceipt).map(({ key }) => key), ["a", "b"]);
  assert.equal(heightOf(open.items), 2 * headingHeight + 5 * rowHeight);
});

test("group adds the lines of a further page to the receipt at the end of the last one", () => {
  const pages = [[line("a", 23), line("b", 22, "r", "-2")], [line("c", 22, "r", "-3"), line("d", 22, "r", "-4"), line("e", 21)]];
  const first = group(pages[0], none, noGroups);
  assert.deepEqual(keysOf(first.items), ["2026-11-23", "a", "2026-11-22", "b"]);
  const both = group(pages.flat(), none, first);
  assert.deepEqual(keysOf(both.items), ["2026-11-23", "a", "2026-11-22", "b+c+d", "2026-11-21", "e"]);
  assert.equal(both.items[1], first.items[1], "the items of the earlier days stay");
});

test("visible finds the rows of 100 000 without a scan", () => {
  const items = itemsOf(Array.from({ length: 100_000 }, (_, i) => ({ id: String(i), date: new Date(Date.UTC(2026, 0, 1) - Math.floor(i / 20) * 864e5).toISOString(), amount: "-1", currency: "EUR" })));
  const { start, end } = visible(items, 3_000_000, 3_001_000);
  assert.ok(items[start].top <= 3_000_000 && items[end].top >= 3_001_000 && end - start < 25);
  assert.deepEqual(visible(items, 0, 100), { start: 0, end: 2 });
});
