import assert from "node:assert/strict";
import test from "node:test";
import { balancesOf, walletOf } from "../../src/screens/table/balances.ts";
import { changed, former, isLocked, namesOf } from "../../src/screens/table/fields.ts";
import { following, moved, nearest } from "../../src/screens/table/keys.ts";
import { shownOf } from "../../src/screens/table/shown.ts";
import { filtersOf } from "../../src/screens/transactions/filters.ts";

const size = { rows: 100, columns: 4, page: 20 };

test("keys move within the grid", () => {
  const from = { row: 50, column: 2 };
  for (const [key, control, row, column] of [
    ["ArrowDown", false, 51, 2], ["ArrowUp", false, 49, 2], ["ArrowLeft", false, 50, 1], ["ArrowRight", false, 50, 3],
    ["PageDown", false, 70, 2], ["PageUp", false, 30, 2], ["Home", false, 50, 0], ["End", false, 50, 3],
    ["Home", true, 0, 0], ["End", true, 99, 3], ["ArrowDown", true, 99, 2], ["ArrowUp", true, 0, 2],
  ]) assert.deepEqual(moved(key, control, from, size), { row, column }, key);
  assert.deepEqual(moved("ArrowUp", false, { row: 0, column: 0 }, size), { row: 0, column: 0 });
  assert.deepEqual(moved("PageDown", false, { row: 95, column: 3 }, size), { row: 99, column: 3 });
  assert.equal(moved("c", false, from, size), undefined);
});

test("Tab leads to the next cell that can be changed, also in the next row", () => {
  const odd = ({ column }) => column % 2 === 1;
  assert.deepEqual(following({ row: 0, column: 1 }, 1, size, odd), { row: 0, column: 3 });
  assert.deepEqual(following({ row: 0, column: 3 }, 1, size, odd), { row: 1, column: 1 });
  assert.deepEqual(following({ row: 1, column: 1 }, -1, size, odd), { row: 0, column: 3 });
  assert.equal(following({ row: 0, column: 1 }, -1, size, odd), undefined);
  assert.equal(following({ row: 99, column: 3 }, 1, size, odd), undefined);
});

test("a deleted row is followed by the nearest one that is left", () => {
  const rows = (ids) => [...ids].map((id) => ({ id }));
  for (const [after, at, number] of [
    ["abde", 2, 2], ["abe", 2, 2], ["de", 2, 0], ["ab", 4, 1], ["xabde", 2, 3], ["", 2, 0], ["xyz", 2, 0],
  ]) assert.equal(nearest(rows(after), rows("abcde"), at), number, after);
});

test("balances are those after each transaction, in each currency, also of a further page", () => {
  const wallet = { balances: [{ currency: "EUR", amount: "100.50" }, { currency: "JPY", amount: "700" }] };
  const row = (id, amount, currency = "EUR") => ({ id, amount, currency });
  const rows = [row("a", "-20"), row("b", "700", "JPY"), row("c", "50.5"), row("d", "-3", "USD"), row("e", "1", "JPY")];
  const minors = ({ after }) => after.map(({ minor, currency }) => `${minor} ${currency}`);
  const all = balancesOf(rows, wallet);
  assert.deepEqual(minors(all), ["10050 EUR", "700 JPY", "12050 EUR", "0 USD", "0 JPY"]);
  assert.deepEqual(minors(balancesOf(rows, wallet, balancesOf(rows.slice(0, 2), wallet))), minors(all));
  // Other rows are not the same list.
  assert.deepEqual(minors(balancesOf(rows.slice(1), wallet, all)), ["700 JPY", "10050 EUR", "0 USD", "0 JPY"]);
});

test("balances contain the opening balance from its day on", () => {
  const row = (date, amount, currency = "EUR") => ({ id: date, date: `2026-${date}T00:00:00Z`, amount, currency });
  const rows = [row("03-03", "1"), row("03-02", "1"), row("03-01", "7", "USD"), row("03-01", "1"), row("02-01", "1")];
  const wallet = { currency: "EUR", initialBalance: "50", openingDate: "2026-03-02", balances: [{ currency: "EUR", amount: "54" }, { currency: "USD", amount: "7" }] };
  const minors = ({ after }) => after.map(({ minor, currency }) => `${minor} ${currency}`);
  const all = ["5400 EUR", "5300 EUR", "700 USD", "200 EUR", "100 EUR"];
  assert.deepEqual(minors(balancesOf(rows, wallet)), all);
  for (const first of [1, 3, 4]) assert.deepEqual(minors(balancesOf(rows, wallet, balancesOf(rows.slice(0, first), wallet))), all);
  assert.deepEqual(minors(balancesOf(rows, { ...wallet, openingDate: undefined })), ["5400 EUR", "5300 EUR", "700 USD", "5200 EUR", "5100 EUR"]);
});

test("a list has balances if it has all newest transactions of one wallet", () => {
  const wallet = "0199f0c5-0000-7000-8000-000000000003";
  const of = (query) => walletOf(filtersOf(new URLSearchParams(query)));
  assert.equal(of(`wallet=${wallet}`), wallet);
  assert.equal(of(`wallet=${wallet}&from=2026-01-01`), wallet);
  for (const query of ["", `wallet=${wallet}&to=2026-01-01`, `wallet=${wallet}&q=x`, `wallet=${wallet}&wallet=${wallet.replace("3", "4")}`, `wallet=${wallet}&currency=EUR`, `wallet=${wallet}&sort=date`])
    assert.equal(of(query), undefined, query);
});

test("changes are shown before the answer, and have an inverse", () => {
  const row = { id: "a", amount: "-12.50", currency: "EUR", type: "expense", date: "2026-03-14T10:00:00Z", description: "Lunch", walletId: "w", categoryId: "c", tags: ["Work", "Home"] };
  const inverse = (fields) => former(row, fields);
  assert.deepEqual(changed(row, { categoryId: "d", payee: "Rex" }), { ...row, categoryId: "d", payee: "Rex" });
  assert.deepEqual(inverse({ categoryId: "d", payee: "Rex" }), { categoryId: "c", payee: "" });
  assert.deepEqual(changed(row, { addTags: ["home", "New"], removeTags: ["WORK"] }).tags, ["Home", "New"]);
  assert.deepEqual(inverse({ addTags: ["New"] }), { tags: ["Work", "Home"] });
  assert.equal(changed(row, { amount: "7" }).amount, "-7");
  assert.deepEqual(inverse({ amount: "7" }), { amount: "12.50" });
  // The day alone has no time, which the inverse restores.
  assert.equal(changed(row, { date: "2026-03-15" }).date, "2026-03-15T00:00:00Z");
  assert.deepEqual(inverse({ date: "2026-03-15" }), { date: row.date });
  assert.deepEqual(namesOf(" a, b c,, "), ["a", "b c"]);
});

test("a reconciliation locks the amount, date, wallet and state cleared", () => {
  const row = { id: "a", amount: "-12.50", currency: "EUR", type: "expense", date: "2026-03-14T10:00:00Z", description: "Lunch", walletId: "w", categoryId: "c", cleared: true, reconciled: true };
  for (const fields of [{ amount: "7" }, { date: "2026-03-15" }, { walletId: "v" }, { cleared: false }]) {
    assert.ok(isLocked(row, fields), JSON.stringify(fields));
    assert.ok(!isLocked({ ...row, reconciled: false }, fields), JSON.stringify(fields));
  }
  for (const fields of [{ amount: "12.5" }, { date: "2026-03-14" }, { walletId: "w" }, { cleared: true }, { payee: "Rex", categoryId: "d", addTags: ["New"] }]) assert.ok(!isLocked(row, fields), JSON.stringify(fields));
  assert.deepEqual(former(row, { cleared: false }), { cleared: true });
});

test("rows take the elements of those that are no longer shown", () => {
  const rows = Array.from({ length: 10 }, (_, i) => ({ id: `row ${i}` }));
  const of = (found) => found.map(({ index, element }) => [index, element]);
  const start = shownOf(rows, { first: 0, end: 3 }, 0, [], false);
  assert.deepEqual(of(start), [[0, 0], [1, 1], [2, 2]]);
  const next = shownOf(rows, { first: 2, end: 5 }, 1, start, false);
  assert.deepEqual(of(next), [[1, 1], [2, 2], [3, 0], [4, 3]]);
  assert.equal(next[1], start[2], "an unchanged row is the same");
  const far = shownOf(rows, { first: 7, end: 10 }, 1, next, false);
  assert.deepEqual(of(far), [[1, 1], [7, 2], [8, 0], [9, 3]]);
  assert.deepEqual(of(shownOf(rows, { first: 0, end: 1 }, 9, far, false)), [[0, 1], [9, 3]]);
  const shorter = rows.filter((_, i) => i !== 8);
  assert.deepEqual(of(shownOf(shorter, { first: 7, end: 9 }, 1, far, false)), [[1, 1], [7, 2], [8, 3]]);
  assert.deepEqual(shownOf([], { first: 0, end: 0 }, 0, far, false), []);
  const twice = rows.with(4, rows[1]);
  assert.deepEqual(of(shownOf(twice, { first: 3, end: 6 }, 1, next, false)), [[1, 1], [3, 0], [4, 2], [5, 3]], "a row that is listed twice has two elements");
  // While the page moves, no element is moved or removed.
  const moving = shownOf(rows, { first: 1, end: 5 }, 1, start, true);
  assert.deepEqual(of(moving), [[3, 0], [1, 1], [2, 2], [4, 3]]);
  assert.deepEqual(of(shownOf(rows, { first: 2, end: 6 }, 2, moving, true)), [[3, 0], [5, 1], [2, 2], [4, 3]]);
  assert.deepEqual(of(shownOf(rows, { first: 3, end: 5 }, 3, start, true)), [[3, 0], [4, 1], [2, 2]]);
  assert.deepEqual(of(shownOf(rows, { first: 1, end: 5 }, 1, moving, false)), [[1, 1], [2, 2], [3, 0], [4, 3]]);
});
