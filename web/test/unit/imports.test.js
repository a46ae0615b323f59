import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { exact } from "../../src/screens/imports/balances.ts";
import { evidence } from "../../src/screens/imports/evidence.de.ts";
import { fieldOf, layouts, missing, titleOf, widthOf, withField, withLayout, wrongFields } from "../../src/screens/imports/mapping.ts";
import { remaining, withChoices } from "../../src/screens/imports/choices.ts";
import { kindOf } from "../../src/screens/imports/kinds.ts";
import { cellOf, isOpen, isOrder, otherColumn, otherDay, otherLayout, questionsOf, readWith, sentenceOf, stepOf, textOf } from "../../src/screens/imports/questions.ts";
import { firstStep, perSecond, shownTabs, stepsOf, stopped, unassigned } from "../../src/screens/imports/steps.ts";
import { fileName, queryOf } from "../../src/screens/export/file.ts";

const mapping = { format: "csv", delimiter: ";", encoding: "utf-8", skipRows: 0, header: true, columns: [{ index: 0, field: "date" }, { index: 2, field: "amount" }], dateLayout: "DD.MM.YYYY", decimalMark: ",", amountMode: "signed", invert: false, negative: [] };

test("withField", async (t) => {
  await t.test("moves a field that one column can have", () => {
    const changed = withField(mapping, 1, "date");
    assert.deepEqual(changed.columns, [{ index: 1, field: "date" }, { index: 2, field: "amount" }]);
    assert.equal(fieldOf(changed, 0), "ignore");
  });
  await t.test("keeps several descriptions", () => {
    const changed = withField(withField(mapping, 1, "description"), 3, "description");
    assert.deepEqual(changed.columns.map(({ index }) => index), [0, 1, 2, 3]);
  });
  await t.test("switches between an amount and two columns", () => {
    const two = withField(withField(mapping, 3, "debit"), 4, "credit");
    assert.deepEqual([two.amountMode, fieldOf(two, 2)], ["debitCredit", "ignore"]);
    const one = withField(two, 2, "amount");
    assert.deepEqual([one.amountMode, fieldOf(one, 3), fieldOf(one, 4)], ["signed", "ignore", "ignore"]);
    assert.equal(withField(mapping, 1, "type").amountMode, "typeColumn");
  });
  await t.test("reports the fields that are missing", () => {
    assert.deepEqual(missing(mapping), []);
    assert.deepEqual(missing(withField(withField(mapping, 0, "ignore"), 2, "ignore")), ["date", "amount"]);
    assert.deepEqual(missing(withField(mapping, 2, "credit")), []);
  });
});

test("wrongFields", () => {
  assert.deepEqual(wrongFields({ status: "ready" }), []);
  assert.deepEqual(wrongFields({ status: "invalid" }), ["date"]);
  assert.deepEqual(wrongFields({ status: "invalid", date: "2026-01-01" }), ["amount", "debit", "credit"]);
  assert.ok(wrongFields({ status: "invalid", date: "2026-01-01", amount: "1.234" }).includes("currency"));
});

test("titleOf", () => {
  assert.deepEqual([0, 25, 26, 27, 52].map((index) => titleOf(index)), ["A", "Z", "AA", "AB", "BA"]);
  assert.equal(titleOf(1, ["Date", " Payee "]), "Payee");
  assert.equal(titleOf(1, ["Date", " "]), "B");
  assert.equal(widthOf([{ cells: ["a", "b", "c"] }, {}], ["x"]), 3);
  assert.equal(new Set(layouts).size, 36);
  assert.equal(withLayout({ dateLayout: "DD.MM.YYYY" }, "DD.MM", "2026-05-31").datesUntil, "2026-05-31");
  assert.equal(withLayout({ dateLayout: "DD.MM", datesUntil: "2024-01-31" }, "MM.DD", "2026-05-31").datesUntil, "2024-01-31");
  assert.equal(withLayout({ dateLayout: "DD.MM", datesUntil: "2024-01-31" }, "DD.MM.YYYY", "2026-05-31").datesUntil, undefined);
});

test("exact", () => {
  assert.equal(exact("1.234", "EUR"), undefined);
  assert.equal(exact("1.230", "EUR").minor, 123n);
  assert.equal(exact("1", undefined), undefined);
});

test("the steps of an import", () => {
  const counts = { total: 4, ready: 3, duplicate: 0, matched: 0, invalid: 1, skipped: 0, booked: 0, undone: 0 };
  const account = { key: "", name: "", count: 4, create: false };
  const data = { status: "preview", warnings: [], counts, accounts: [account], categories: [], defaults: {}, mapping };
  assert.deepEqual(stepsOf(data), ["columns", "places", "review"]);
  assert.deepEqual(stepsOf({ ...data, mapping: undefined }), ["places", "review"]);
  assert.equal(firstStep(data, false), "columns");
  assert.equal(firstStep({ ...data, mapping: { ...mapping, format: "xlsx" } }, false), "columns");
  assert.equal(firstStep(data, true), "places");
  assert.equal(firstStep({ ...data, defaults: { walletId: "1" } }, true), "review");
  assert.equal(unassigned({ ...data, accounts: [{ ...account, create: true }] }).length, 0);
  assert.deepEqual(shownTabs(data), ["fresh", "duplicate", "matched", "invalid"]);
  assert.deepEqual(shownTabs({ ...data, status: "done", counts: { ...counts, ready: 0, booked: 3 } }), ["invalid", "booked"]);
  assert.equal(perSecond({ at: 0, done: 500 }, { at: 2000, done: 2500 }), 1000);
  assert.equal(perSecond({ at: 0, done: 0 }, { at: 100, done: 500 }), undefined);
});

test("the text of a question is that of its reason", () => {
  const of = (code, reason) => ({ code, assumption: reason && { code, reason }, rows: [] });
  for (const language of ["de", "en"]) {
    const source = readFileSync(new URL(`../../src/screens/imports/${language}.ts`, import.meta.url), "utf8");
    const texts = Object.fromEntries([...source.matchAll(/^ {4}([A-Z_]+): "(.*)",$/gm)].map(([, code, text]) => [code, text]));
    const texted = ["ROW_OF_TOTAL", "ROW_OF_BALANCE", "BALANCES_OF_ROWS"].map((reason) => textOf(of("BALANCE_MISMATCH", reason), texts));
    assert.match(texted[0], /Summe|total/);
    assert.match(texted[1], /ein Kontostand|a balance/);
    assert.equal(texted[2], texts.BALANCE_MISMATCH);
  }
  assert.equal(textOf(of("NEWS"), {}), "NEWS");
});

test("an exchange of day and month is offered for their order only", () => {
  const of = (reason) => ({ code: "DATE_ORDER_ASSUMED", assumption: { code: "DATE_ORDER_ASSUMED", reason }, rows: [] });
  const reasons = ["DATES_AMBIGUOUS", undefined, "DATES_DIFFER", "MONTHS_AMBIGUOUS", "DATES_MIXED"];
  assert.deepEqual(reasons.map((reason) => isOrder(of(reason))), [true, true, false, false, false]);
  assert.equal(isOrder({ ...of("DATES_AMBIGUOUS"), code: "SIGN_ASSUMED" }), false);
  assert.equal(isOrder({ ...of("DATES_BY_PERIOD"), code: "DATE_ORDER_INFERRED" }), true);
  assert.equal(isOrder({ ...of("YEARS_BY_FILE"), code: "DATE_ORDER_INFERRED" }), false);
});

test("stopped", () => {
  const of = (status, problem, booked = 0) => stopped({ status, progress: { problem }, counts: { booked } });
  assert.deepEqual([of("updating", "CANCELED"), of("updating", ""), of("preview", "CANCELED"), of("updating", "CANCELED", 1)], [true, false, false, false]);
});

test("the questions of an import", () => {
  const rows = [2, 3];
  const data = { warnings: ["CURRENCY_ASSUMED", "DUPLICATE_OF:1", "NEWS:", "SIGN_ASSUMED"], assumptions: [{ code: "SIGN_ASSUMED", evidence: "No sign.", rows, blocks: true }] };
  assert.deepEqual(questionsOf(data).map(({ code }) => code), ["SIGN_ASSUMED", "CURRENCY_ASSUMED", "DUPLICATE_OF", "NEWS"]);
  assert.deepEqual(questionsOf(data)[0], { code: "SIGN_ASSUMED", other: undefined, assumption: data.assumptions[0], rows });
  assert.equal(questionsOf(data)[2].other, "1");
  assert.deepEqual(questionsOf(data).map(isOpen), [true, false, false, false]);
});

test("the evidence of each reason in German", () => {
  const file = readFileSync(new URL("../../../services/ledger/imports/formats/statement/evidence.txt", import.meta.url), "utf8");
  const names = (text, pattern) => [...new Set([...text.matchAll(pattern)].map(([, name]) => name))].sort();
  // The rows of the question show the example, which the file may lack.
  const optional = /\{\{with .*?\{\{end\}\}/g;
  const wanted = Object.fromEntries([...file.matchAll(/^([A-Z_]+) (.*)$/gm)].map(([, reason, text]) => [reason, names(text.replace(optional, ""), /\{\{\.(\w+)\}\}/g)]));
  const translated = Object.fromEntries(Object.entries(evidence).map(([reason, text]) => [reason, names(text, /\{(\w+)\}/g)]));
  assert.deepEqual(translated, wanted);
  const balances = { reason: "BALANCES_OF_FILE", parameters: { opening: "-1234.50", expected: "80", closing: '"1.5"' } };
  assert.equal(sentenceOf(balances, evidence, ","), 'Der Anfangsstand ist -1234,50, mit den Zeilen 80, der Endstand aber "1.5".');
  const dates = { reason: "DATES_AMBIGUOUS", parameters: { layout: "DD.MM.YY" } };
  assert.equal(sentenceOf(dates, evidence, ",", (name) => name.toLowerCase()), "Gelesen als dd.mm.yy.");
  assert.equal(sentenceOf(balances, {}, "."), undefined);
  assert.equal(sentenceOf({ evidence: "An earlier release." }, evidence, ","), undefined);
});

test("the choices that were sent are removed, and newer ones stay", () => {
  const data = { accounts: [{ key: "a", walletId: "1" }, { key: "b" }], categories: [{ name: "Food", create: true }], defaults: { walletId: "1" } };
  const sent = { accounts: { a: { key: "a", walletId: "2", create: false } }, categories: { Food: { name: "Food", categoryId: "3", create: false } }, defaults: { currency: "EUR" } };
  const shown = withChoices(data, sent);
  assert.deepEqual(shown.accounts, [{ key: "a", walletId: "2", create: false }, { key: "b" }]);
  assert.deepEqual(shown.categories, [{ name: "Food", categoryId: "3", create: false }]);
  assert.deepEqual(shown.defaults, { walletId: "1", currency: "EUR" });
  const later = { accounts: { ...sent.accounts, b: { key: "b", walletId: "4", create: false } }, categories: sent.categories, defaults: { currency: "USD" } };
  assert.deepEqual(remaining(later, sent), { accounts: { b: later.accounts.b }, categories: {}, defaults: { currency: "USD" } });
  assert.deepEqual(remaining(sent, sent), { accounts: {}, categories: {}, defaults: {} });
});

test("the kind of a file by its start", () => {
  const starts = { pdf: ["%PDF-1.4"], excel: ["\uFFFD\uFFFD\u0011\u0871"], archive: ["PK\u0003\u0004", "\u001F\uFFFD\b"], image: ["\uFFFD\uFFFD\uFFFD\uFFFD", "\uFFFDPNG\r\n", "\0\0\0 ftypheic", "RIFF\0\0"], web: ["\n<!DOCTYPE html>", "<Html>", '<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet">'] };
  for (const [kind, texts] of Object.entries(starts)) for (const text of texts) assert.equal(kindOf(text), kind, text);
  assert.equal(kindOf("Date,Payee\n"), undefined);
});

test("the step that corrects a question", () => {
  const step = (code, status = "preview", of = mapping) => stepOf({ code, rows: [] }, { status, mapping: of });
  // Dates with the year first cannot be exchanged with a button: no layout of the API has the day before the month.
  assert.equal(otherLayout("YY/MM/DD"), undefined);
  assert.equal(step("DATE_ORDER_INFERRED"), "columns");
  assert.equal(step("DATE_ORDER_ASSUMED"), "columns");
  assert.equal(step("DATE_ORDER_ASSUMED", "committed"), undefined);
  assert.equal(step("DATE_ORDER_ASSUMED", "preview", { ...mapping, format: "qif" }), undefined);
  assert.equal(step("WALLET_ASSUMED", "preview", undefined), "places");
  assert.equal(step("SIGN_ASSUMED"), undefined);
});

test("the other way to read a date or an amount", () => {
  assert.equal(otherLayout("DD/MM/YY"), "MM/DD/YY");
  assert.equal(otherLayout("DD MMM YYYY"), undefined);
  assert.equal(otherLayout("YYYY-MM-DD"), undefined);
  assert.equal(otherDay("2026-04-03"), "2026-03-04");
  assert.equal(otherDay("2026-04-13"), undefined);
  assert.equal(otherDay("2026-04-04"), undefined);
  assert.deepEqual(["1.234", "-1,234 EUR", "1.234.567"].map((cell) => readWith(cell, ",")), ["1234", "1.234", "1234567"]);
  assert.equal(readWith("1.234.567", "."), undefined);
  assert.equal(cellOf({ cells: ["", "3,50"] }, { ...mapping, columns: [{ index: 0, field: "debit" }, { index: 1, field: "credit" }] }, "debit", "credit"), "3,50");
});

test("the file of an export", () => {
  const all = { format: "csv", from: "", to: "", walletId: "", categoryId: "", tag: "", bom: true };
  assert.deepEqual(queryOf(all), { format: "csv", bom: true });
  assert.deepEqual(queryOf({ ...all, format: "json", from: "2026-01-01", tag: "trip" }), { format: "json", from: "2026-01-01", tag: ["trip"] });
  assert.equal(fileName("beancount", "2026-11-22"), "coffer-2026-11-22.beancount");
});

test("otherColumn", () => {
  const asks = (reason, other) => ({ code: "DATE_ORDER_ASSUMED", rows: [], assumption: { reason, parameters: { column: '"Booked"', other } } });
  const dates = otherColumn(asks("DATES_DIFFER", '"Paid"'), mapping, ["Booked", "Paid", "Amount"]);
  assert.deepEqual([dates.title, dates.number, dates.mapping.columns], ["Paid", 2, [{ index: 1, field: "date" }, { index: 2, field: "amount" }]]);
  const second = otherColumn(asks("DATES_DIFFER", "2"), mapping);
  assert.deepEqual([second.title, second.number, second.mapping.columns], [undefined, 2, dates.mapping.columns], "a file without a heading");
  assert.deepEqual(otherColumn(asks("DATES_DIFFER", '"Day"'), mapping, ["Day", "Day", "Amount"]).mapping.columns, dates.mapping.columns, "equal headings");
  assert.deepEqual(otherColumn(asks("AMOUNTS_DIFFER", '"Paid"'), mapping, ["Booked", "Paid", "Amount"]).mapping.columns, [{ index: 0, field: "date" }, { index: 1, field: "amount" }]);
  const back = otherColumn(asks("DATES_DIFFER", '"Paid"'), dates.mapping, ["Booked", "Paid", "Amount"]);
  assert.deepEqual([back.title, back.mapping.columns], ["Booked", mapping.columns]);
  const numbered = { code: "DATE_ORDER_ASSUMED", rows: [], assumption: { reason: "DATES_DIFFER", parameters: { column: "1", other: "2" } } };
  assert.deepEqual(otherColumn(numbered, dates.mapping).mapping.columns, mapping.columns, "without a heading");
  assert.equal(otherColumn(asks("DATES_AMBIGUOUS", "2"), mapping), undefined);
  assert.equal(otherColumn(asks("DATES_DIFFER", '"Elsewhere"'), mapping, ["Booked", "Paid", "Amount"]), undefined);
});
