import assert from "node:assert/strict";
import test from "node:test";
import { noFilters } from "../../src/screens/transactions/filters.ts";
import { readFilters } from "../../src/screens/transactions/search.ts";

const [cash, food, rent] = ["0199f0c5-0000-7000-8000-000000000003", "0199f0c5-0000-7000-8000-000000000004", "0199f0c5-0000-7000-8000-000000000005"];
const names = (locale, month) => Array.from({ length: 12 }, (_, i) => new Intl.DateTimeFormat(locale, { month, timeZone: "UTC" }).format(Date.UTC(2026, i, 1)));
const shared = {
  wallets: [{ id: cash, name: "Cash (home)" }],
  currencies: [{ code: "EUR", sign: "€" }, { code: "USD", sign: "$" }],
  today: "2026-11-22",
  week: { from: "2026-11-16", to: "2026-11-22" },
};
const english = {
  ...shared,
  categories: [{ id: food, name: "Groceries" }, { id: rent, name: "Rent" }],
  ...{ income: "Income", expense: "Expense", transfer: "Transfer", months: names("en", "long"), shortMonths: names("en", "short") },
};
const german = {
  ...shared,
  categories: [{ id: food, name: "Lebensmittel" }, { id: rent, name: "Miete" }],
  ...{ income: "Einnahme", expense: "Ausgabe", transfer: "Umbuchung", months: names("de", "long"), shortMonths: names("de", "short") },
};

/** reads fails if a text does not become these filters, without those that are empty. */
function reads(words, text, expected, base = noFilters) {
  const read = Object.entries(readFilters(text, base, words)).filter(([, value]) => value?.length);
  assert.deepEqual(Object.fromEntries(read), expected, text);
}

const days = (from, to) => ({ from, to });
const exactly = (amount, fields) => ({ minAmount: amount, maxAmount: amount, type: "expense", ...fields });
const march = days("2026-03-01", "2026-03-31");

test("words without a meaning in front of a filter are left out", () => {
  reads(english, "groceries in March", { categoryId: [food], ...march });
  reads(english, "for groceries and rent in the last month", { categoryId: [food, rent], ...days("2026-10-01", "2026-10-31") });
  reads(english, "bread from Cash (home)", { q: "bread", walletId: [cash] });
  reads(german, "Lebensmittel im März", { categoryId: [food], ...march });
  reads(german, "für Miete in der letzten Woche", { categoryId: [rent], ...days("2026-11-09", "2026-11-15") });
  reads(english, "made in Italy", { q: "made in Italy" });
});

test("exact amounts have decimals or a currency", () => {
  reads(english, "14.24", exactly("14.24"));
  reads(english, "€12.50", exactly("12.50", { currency: "EUR" }));
  reads(english, "coffee $4", exactly("4", { currency: "USD", q: "coffee" }));
  reads(english, "12 eur", exactly("12", { currency: "EUR" }));
  reads(english, "3 apples 1,234.50", exactly("1234.50", { q: "3 apples" }));
  reads(german, "12,50 €", exactly("12.50", { currency: "EUR" }));
  reads(german, "1.234,50 EUR", exactly("1234.50", { currency: "EUR" }));
  reads(english, "£12.50", exactly("12.50"));
  reads(english, "income 14.24", exactly("14.24", { type: "income" }));
  reads(english, "route 66", { q: "route 66" });
});

test("amounts are compared", () => {
  reads(english, ">50 groceries last month", { minAmount: "50", type: "expense", categoryId: [food], ...days("2026-10-01", "2026-10-31") });
  reads(english, "<=12,5 bread cash (home)", { q: "bread", maxAmount: "12.5", type: "expense", walletId: [cash] });
  reads(english, ">= 20 <30 €", { minAmount: "20", maxAmount: "30", type: "expense", currency: "EUR" });
});

test("weeks, months, years and days are periods in both languages", () => {
  const periods = {
    "2026-11-16 2026-11-22": ["this week", "diese Woche", "in dieser Woche"],
    "2026-11-09 2026-11-15": ["last week", "letzte Woche", "vorige Woche"],
    "2026-11-01 2026-11-30": ["this month", "diesen Monat", "November", "nov"],
    "2026-10-01 2026-10-31": ["last month", "im letzten Monat", "Vormonat"],
    "2026-01-01 2026-12-31": ["this year", "dieses Jahr", "2026"],
    "2025-01-01 2025-12-31": ["last year", "letztes Jahr", "in 2025"],
    "2026-11-22 2026-11-22": ["today", "heute"],
    "2026-11-21 2026-11-21": ["yesterday", "gestern"],
  };
  for (const [span, texts] of Object.entries(periods)) for (const text of texts) reads(english, text, days(...span.split(" ")));
  reads(english, "rent 2026", { categoryId: [rent], ...days("2026-01-01", "2026-12-31") });
  reads(german, "Miete 2026", { categoryId: [rent], ...days("2026-01-01", "2026-12-31") });
  reads(english, "income december", { type: "income", ...days("2025-12-01", "2025-12-31") });
  reads(english, "march 2024", days("2024-03-01", "2024-03-31"));
  reads(english, "room 2099", { q: "room 2099" });
  reads(english, "since March", { from: "2026-03-01" });
  reads(german, "seit März bis Mai", { from: "2026-03-01", to: "2026-05-31" });
});

test("may is a month only where it reads as one", () => {
  const may = days("2026-05-01", "2026-05-31");
  reads(english, "may", may);
  reads(english, "in May", may);
  reads(english, "groceries may", { categoryId: [food], ...may });
  reads(english, "bread in may", { q: "bread", ...may });
  reads(english, "may 2025", days("2025-05-01", "2025-05-31"));
  reads(english, "Theresa May", { q: "Theresa May" });
  reads(english, "mar y sol", { q: "mar y sol" });
  reads(german, "Miete Mai", { categoryId: [rent], ...may });
});

test("tags and kinds are filters, other words are searched", () => {
  reads(english, "#holiday groceries #Work transfer", { categoryId: [food], tag: ["holiday", "Work"], type: "transfer" });
  reads(english, "C# guide", { q: "C# guide" });
  reads(english, "parents rental", { q: "parents rental" });
  reads(english, "rental rent", { q: "rental", categoryId: [rent] });
  reads(english, "  ", {});
  reads(english, "rent", { categoryId: [food, rent] }, { ...noFilters, categoryId: [food] });
});
