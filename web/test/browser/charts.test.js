import assert from "node:assert/strict";
import test from "node:test";
import { account, household, open, tablet } from "../console.js";

const iso = (date) => date.toISOString().slice(0, 10);
const now = new Date();
const today = iso(now);
const first = `${today.slice(0, 7)}-01`;
const last = iso(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 0)));
const earlier = iso(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 2, 1)));

/**
 * mixed gives a household every kind of transaction that a chart could count in a wrong way: a split with a refund, an income with parts, a
 * refund, a transfer, another currency, and a transaction of the last day of the month. The budget is for groceries and eating out.
 */
async function mixed(user) {
  const { wallets, categories } = await household(user, 0);
  const [groceries, rent, eating, transport, salary] = categories.map(({ id }) => id);
  const [walletId, other] = wallets.map(({ id }) => id);
  const book = (amount, date, fields) => user.post("/transaction", { amount, date, type: "expense", currency: "EUR", description: "x", walletId, ...fields });
  const part = (categoryId, amount) => ({ categoryId, amount });
  await book(60, first, { payee: "Market", splits: [part(groceries, 25.5), part(transport, 40.25), part(eating, -5.75)] });
  await book(12.3, first, { categoryId: eating });
  await book(100, first, { type: "income", splits: [part(salary, 91), part(groceries, 9)] });
  await book(4.05, first, { type: "income", categoryId: groceries });
  await book(700, first, { categoryId: rent });
  await book(33, first, { currency: "USD", categoryId: groceries });
  await book(8.8, first, { walletId: other, categoryId: groceries });
  await user.post("/transfers", { amount: 50, currency: "EUR", date: first, description: "", fromWalletId: walletId, toWalletId: other });
  await book(21.45, last, { categoryId: groceries });
  const { budget } = await user.post("/budgets", { name: "Food", currency: "EUR", limit: 155.45, period: "monthly", startDate: earlier, walletId, categoryIds: [groceries, eating] });
  return { budget, groceries, walletId };
}

/** endOf shows a chart as a table, and returns the last cell of a column that is not empty. */
async function endOf(page, chart, column) {
  await page.getByRole("button", { name: `Show as table: ${chart}` }).click();
  const table = page.getByRole("region", { name: chart });
  await table.locator("tbody tr").first().waitFor();
  const cells = await table.locator(`tbody td:nth-of-type(${column})`).allTextContents();
  return cells.findLast(Boolean);
}

test("the charts of a budget end at its headline, and its list has the same sum", async (t) => {
  const user = await account();
  const { budget } = await mixed(user);
  const { progress } = (await user.get(`/budgets/${budget.id}`)).budget;
  assert.equal(progress.spent, 40.45);
  const page = await open(t, user, `/budgets/${budget.id}`, tablet);
  const headline = (await page.locator(".rest").textContent()).trim();
  assert.equal(headline, "€115.00");
  assert.equal(await endOf(page, "Left day by day", 1), headline);
  assert.equal(await endOf(page, "Earlier periods", 1), "€40.45");
  await page.getByRole("link", { name: /Market.*−€19\.75/ }).waitFor();

  const address = await page.evaluate(({ walletId, categoryIds }) => `/transactions?wallet=${walletId}&category=${categoryIds.join("&category=")}`, budget);
  await page.goto(new URL(`${address}&from=${first}&to=${last}&currency=EUR`, page.url()).href);
  const row = page.getByRole("link", { name: /Market/ });
  await row.waitFor();
  assert.match(await row.textContent(), /part of −€60\.00.*−€19\.75/);
  const amounts = await page.locator("[data-id] .amount").allTextContents();
  const minor = amounts.map((text) => Math.round(100 * Number(text.replace("−", "-").replace(/[€+]/g, ""))));
  assert.equal(minor.reduce((sum, amount) => sum + amount, 0), -4045);
});

test("the chart of Home ends at the spending of the month", async (t) => {
  const user = await account();
  await mixed(user);
  const page = await open(t, user, "/?currency=EUR");
  const spent = page.locator("dl div", { hasText: "Spent" }).locator("dd");
  await spent.waitFor();
  const headline = (await spent.textContent()).trim();
  assert.equal(await endOf(page, "Spending by day, added up", 1), headline);
});

test("all transactions of a budget are those of its categories and its wallet", async (t) => {
  const user = await account();
  const { budget, groceries, walletId } = await mixed(user);
  for (const amount of [1, 2, 3]) await user.post("/transaction", { amount, type: "expense", currency: "EUR", date: first, description: "x", walletId, categoryId: groceries });
  const page = await open(t, user, `/budgets/${budget.id}`);
  await page.getByRole("link", { name: "All transactions" }).click();
  await page.getByText("9 transactions").waitFor();
  await page.getByText("Groceries", { exact: true }).first().waitFor();
});

test("a category with more refunds than expenses is in the list of Home, and lowers its total", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const [groceries, rent] = categories.map(({ id }) => id);
  const splits = [{ categoryId: groceries, amount: 30 }, { categoryId: rent, amount: -20 }];
  await user.post("/transaction", { amount: 10, date: first, type: "expense", currency: "EUR", walletId: wallets[0].id, splits });
  const page = await open(t, user, "/");
  const card = page.locator("section", { has: page.getByRole("heading", { name: "Where it went" }) });
  assert.match(await card.getByRole("link", { name: /Groceries/ }).textContent(), /100%.*€30\.00/);
  await card.locator("strong", { hasText: "€10" }).waitFor();
  const refunded = card.getByRole("link", { name: /Rent/ });
  assert.match(await refunded.textContent(), /0%.*−€20\.00/);
  await refunded.click();
  await page.getByText("1 transaction", { exact: true }).waitFor();
  await page.getByText("+€20.00", { exact: true }).first().waitFor();
});
