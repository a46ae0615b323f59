import assert from "node:assert/strict";
import test from "node:test";
import { accessibleInLooks, account, household, open, phone, sizes } from "../console.js";

const months = [0, 1, 2].map((ago) => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1)).toISOString().slice(0, 10);
});

/**
 * spending gives a household spending in three months that is hard to count: splits with refunds, an income with parts, a refund that
 * exceeds its category's spending, transfers, several tags, payees and none, another currency, and more groups than a chart shows.
 */
async function spending(user) {
  const { wallets, categories } = await household(user, 0);
  for (const name of ["Books", "Clothes", "Fun", "Gifts", "Health", "Home", "Pets", "Travel"]) categories.push((await user.post("/categories", { name })).category);
  const [walletId, other] = wallets.map(({ id }) => id);
  const [groceries, rent, , , salary] = categories.map(({ id }) => id);
  const transactions = [];
  const book = (month, amount, fields) => transactions.push({ amount, date: months[month], type: "expense", currency: "EUR", description: "x", walletId, ...fields });
  for (const month of [0, 1, 2]) {
    categories.forEach(({ id }, i) => book(month, Number((10 + i * 3.45 + month).toFixed(2)), { categoryId: id, payee: i % 3 ? `Shop ${i}` : "", tags: i % 2 ? ["holiday", "work"].slice(i % 4 === 1 ? 0 : 1) : [] }));
    book(month, 40, { payee: "Market", splits: [{ categoryId: groceries, amount: 55.5 }, { categoryId: categories[11].id, amount: -15.5 }] });
    book(month, 2000, { type: "income", splits: [{ categoryId: salary, amount: 1990 }, { categoryId: rent, amount: 10 }] });
    book(month, 12.34, { walletId: other, categoryId: groceries, payee: "KIOSK" });
    book(month, 33, { currency: "USD", categoryId: groceries });
  }
  await user.post("/transaction/batch", { transactions });
  await user.post("/transfers", { amount: 50, currency: "EUR", date: months[1], description: "", fromWalletId: walletId, toWalletId: other });
  return { categories, wallets };
}

const cents = (text) => BigInt(text.replace(/[^\d−]/g, "").replace("−", "-"));
const absolute = (n) => (n < 0n ? -n : n);

/** listed returns the sum of the list that is on the screen. Its totals are those of the API. */
async function listed(page) {
  await page.waitForURL(/\/transactions\?/);
  const totals = page.locator("main p.small", { hasText: /\d transactions?/ });
  await totals.waitFor();
  const sums = await totals.locator("strong").allTextContents();
  return sums.reduce((sum, text) => sum + cents(text), 0n);
}

/** requireSame follows a mark and requires that the list has the number in its name, or in its text. */
async function requireSame(page, link, name, enter) {
  const text = (await link.getAttribute("aria-label")) ?? (await link.getAttribute("title")) ?? (await link.textContent());
  const number = cents(/−?€[\d,.]+$/.exec(text.trim())[0]);
  if (enter) {
    await link.focus();
    await page.keyboard.press("Enter");
  } else await link.locator("[data-mark]").or(link).last().click();
  assert.equal(absolute(await listed(page)), absolute(number), `${name}: ${text}`);
  await page.goBack();
  await page.waitForURL(/\/reports/);
  await page.locator("[data-mark]").first().waitFor();
}

/** requireMarks follows one mark of each kind, and the first and the last number of each table. */
async function requireMarks(page, address, kinds) {
  await page.goto(new URL(address, page.url()).href);
  await page.locator("[data-mark]").first().waitFor();
  const found = new Set(await page.locator("[data-mark]").evaluateAll((marks) => marks.map((mark) => mark.dataset.mark)));
  assert.deepEqual([...found].sort(), kinds);
  for (const kind of kinds) await requireSame(page, page.locator("a", { has: page.locator(`[data-mark=${kind}]`) }).last(), `${address} ${kind}`, kind === kinds[0]);
  for (let i = 0; i < (await page.locator("main table").count()); i++) {
    const table = page.locator("main table").nth(i);
    await requireSame(page, table.locator("td a").first(), `${address} table`);
    await requireSame(page, table.locator("td a").last(), `${address} total`);
  }
}

test("each mark of a report opens the list with the sum of its number", async (t) => {
  const user = await account();
  const { categories, wallets } = await spending(user);
  const page = await open(t, user, "/reports");
  await requireMarks(page, "/reports", ["expense", "expense-category", "expense-others", "income", "income-category", "net", "saved"]);
  await requireMarks(page, "/reports?page=spending", ["other", "part"]);
  await requireMarks(page, `/reports?page=spending&view=lines&wallet=${wallets[0].id}&category=${categories.map(({ id }) => id).join("&category=")}`, ["point"]);
  await requireMarks(page, "/reports?page=comparison", ["before", "before-others", "now", "now-others"]);
  await requireMarks(page, "/reports?page=calendar", ["day"]);
  await page.getByRole("button", { name: "Previous month" }).click();
  await page.waitForURL(new RegExp(`from=${months[1]}`));
});

test("groups without a name, by tag, by wallet and with filters have the sums of their lists", async (t) => {
  const user = await account();
  const { categories } = await spending(user);
  const page = await open(t, user, "/reports");
  const mark = (name) => page.locator("svg a[aria-label]").and(page.getByRole("link", { name })).last();
  for (const [address, name] of [
    ["page=spending&by=payee", /^Without payee/],
    ["page=spending&by=payee", /^Market/],
    ["page=spending&by=payee", /^\d+ others/],
    ["page=spending&by=tag", /^Without tags/],
    ["page=spending&by=tag", /^holiday/],
    ["page=spending&by=tag&tag=holiday", /^holiday/],
    ["page=spending&by=wallet", /^Cash/],
    ["page=comparison&by=payee", /^Without payee/],
    [`page=spending&by=payee&category=${categories[0].id}`, /^Market/],
    [`interval=day&from=${months[1]}&to=${months[1]}&tag=holiday`, /Spent/],
  ]) {
    await page.goto(new URL(`/reports?${address}`, page.url()).href);
    await mark(name).waitFor();
    await requireSame(page, mark(name), address, true);
  }
});

test("the state is in the address, the keys move among marks, and the table is saved", async (t) => {
  const user = await account();
  await spending(user);
  const page = await open(t, user, "/reports", phone);
  await page.locator("[data-mark]").first().waitFor();
  // The first interval has income.
  await page.goto(new URL(`/reports?from=${months[1]}`, page.url()).href);
  await page.locator("[data-mark=saved]").waitFor();
  const stops = await page.locator("main svg[role=group]").evaluateAll((charts) => charts.map((chart) => chart.querySelectorAll("a[tabindex='0']").length));
  assert.deepEqual(stops, [1, 1], "each chart is one stop of the Tab key");
  await page.getByRole("link", { name: "Spending", exact: true }).click();
  await page.getByRole("radio", { name: "Lines" }).click();
  await page.getByRole("radio", { name: "Payee" }).click();
  await page.getByLabel("Period").selectOption({ label: "3 months" });
  await page.getByLabel("Interval").selectOption("quarter");
  await page.waitForURL((url) => ["page=spending", "view=lines", "by=payee", "interval=quarter", `from=${months[2]}`].every((part) => url.search.includes(part)));
  await page.reload();
  await page.getByRole("heading", { name: "Spending by payee" }).waitFor();
  assert.equal(await page.getByLabel("Interval").inputValue(), "quarter");
  const marks = page.locator("svg a");
  await marks.first().focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await marks.nth(1).evaluate((mark) => mark === document.activeElement), true);
  await page.keyboard.press("End");
  assert.equal(await marks.last().evaluate((mark) => mark === document.activeElement), true);

  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()]);
  assert.match(file.suggestedFilename(), /^coffer-spending-.*\.csv$/);
});

test("a phone shows the whole sums of the calendar, and which page of the reports it is", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const today = new Date().toISOString().slice(0, 10);
  await user.post("/transaction", { amount: 1180, type: "expense", currency: "EUR", date: today, description: "Rent", walletId: wallets[0].id, categoryId: categories[1].id });
  const page = await open(t, user, "/reports?page=calendar", { ...phone, locale: "de-DE" });
  const sum = page.locator("[data-mark=day]");
  assert.equal(await sum.textContent(), "−1180");
  assert.ok(await sum.evaluate((mark) => mark.scrollWidth <= mark.clientWidth), "the sum is cut off");
  const { x, width } = await page.getByRole("navigation", { name: "Berichte" }).getByRole("link", { name: "Kalender" }).boundingBox();
  assert.ok(x >= 0 && x + width <= 390, `the link is at ${x}`);
  await page.goto(new URL("/reports", page.url()).href);
  await page.getByRole("columnheader", { name: "Einnahmen", exact: true }).first().waitFor();
});

test("a report that is too large has one button with what works", async (t) => {
  const user = await account();
  await spending(user);
  const page = await open(t, user, "/reports");
  const tooLarge = (message) => ({ status: 400, json: { success: false, code: "REPORT_TOO_LARGE", message: "x", details: [{ field: "from", message }] } });
  await page.route(/reports\/series\?.*groupBy=payee/, (route) => route.fulfill(tooLarge(`must be ${months[1]} or later; reports of whole months by wallet and category have no limit`)));
  await page.goto(new URL("/reports?page=spending&by=payee", page.url()).href);
  await page.getByRole("button", { name: /^Show since/ }).click();
  await page.waitForURL(new RegExp(`from=${months[1]}`));
  await page.unroute(/reports\/series\?.*groupBy=payee/);
  await page.route(/reports\/compare\?.*groupBy=payee/, (route) => route.fulfill(tooLarge("must be later: the earlier period has too many transactions")));
  await page.goto(new URL("/reports?page=comparison&by=payee", page.url()).href);
  await page.getByRole("button", { name: "Show whole months by category" }).click();
  await page.locator("[data-mark]").first().waitFor();
});

for (const { name, options } of sizes) {
  test(`the reports are accessible: ${name}`, async (t) => {
    const user = await account();
    await spending(user);
    const page = await open(t, user, "/reports", options);
    for (const address of ["/reports", "/reports?page=spending", "/reports?page=comparison", "/reports?page=calendar"]) {
      await page.goto(new URL(address, page.url()).href);
      await page.locator("[data-mark]").first().waitFor();
      await accessibleInLooks(page);
      if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}-${address.split("=")[1] ?? "cashflow"}.png`, fullPage: true });
    }
    await page.getByRole("button", { name: "Filters", exact: true }).click();
    await page.getByRole("dialog").waitFor();
    await accessibleInLooks(page);
  });
}
