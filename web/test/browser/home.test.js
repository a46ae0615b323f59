import assert from "node:assert/strict";
import test from "node:test";
import { accessibleInLooks, account, household, open, phone, sizes, url } from "../console.js";

test("an empty account leads to the first wallet, categories and transaction", async (t) => {
  const user = await account();
  const page = await open(t, user, "/", phone);
  await page.getByRole("link", { name: "Set up Coffer" }).click();
  await page.getByLabel("Currency").selectOption("EUR");
  await page.getByLabel("Balance today").fill("1,250.50");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("Book your first transaction", { exact: false }).waitFor();
  await page.getByRole("link", { name: "Add a transaction" }).click();
  await page.getByLabel("Amount").fill("4.20");
  await page.getByRole("radio", { name: "Groceries" }).check();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("−€4.20").first().waitFor();
  const { wallets } = await user.get("/wallet");
  assert.deepEqual(wallets.map(({ currency, balance }) => [currency, balance]), [["EUR", 1246.3]]);
  assert.equal((await user.get("/categories")).categories.length, 7);
});

test("Home shows the figures of the API, and a chart as a table", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const now = new Date();
  const first = `${now.toISOString().slice(0, 8)}01`;
  const book = (amount, type, category) => user.post("/transaction", { amount, type, currency: "EUR", date: first, description: "x", walletId: wallets[0].id, categoryId: categories[category].id });
  await book(2000, "income", 4);
  await book(150.25, "expense", 0);
  await book(49.75, "expense", 2);
  await user.post("/budgets", { name: "Food", currency: "EUR", limit: 160, period: "monthly", startDate: first, walletId: wallets[0].id, categoryIds: [categories[0].id] });
  const page = await open(t, user);
  await page.getByText("+€1,800.00").waitFor();
  await page.getByText("€9.75 left of €160.00").waitFor();
  // 93.9 % is rounded down, as in the list of budgets.
  await page.locator("a[href^='/budgets/']").getByText("93%", { exact: true }).waitFor();
  await page.getByRole("link", { name: /Groceries.*75%.*€150\.25/ }).waitFor();
  const table = page.getByRole("button", { name: "Show as table: Spending by day, added up" });
  await table.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Spending by day, added up" }).getByText("€200.00").first().waitFor();
  await page.getByRole("button", { name: "Previous month" }).click();
  await page.getByText("Nothing spent in this month").waitFor();
});

test("a category of Home opens its transactions", async (t) => {
  const user = await account();
  await household(user, 4);
  const page = await open(t, user);
  await page.getByRole("link", { name: /Rent/ }).first().click();
  await page.waitForURL(/\/transactions\?.*category=/);
  await page.getByText("1 transaction").first().waitFor();
});

test("nothing on Home moves while its parts arrive one after another", async (t) => {
  const [ada, grace] = [await account("Ada Lovelace"), await account("Grace Hopper")];
  const { wallets, categories } = await household(ada, 0);
  const startDate = `${new Date().toISOString().slice(0, 8)}01`;
  const { budget } = await ada.post("/budgets", { name: "Food", currency: "EUR", limit: 20, period: "monthly", startDate, walletId: wallets[0].id, categoryIds: [categories[0].id] });
  await ada.post(`/budgets/${budget.id}/share`, { email: grace.email });
  await household(grace, 4);
  await grace.post("/wallet", { name: "Travel", currency: "USD", balance: 10 });
  const page = await open(t, grace, "/livez", phone);
  const late = (route) => setTimeout(() => void route.continue(), 700);
  await page.route(/\/api\/v1\/(invitations|wallet)\?/, late);
  await page.goto(url);
  await page.getByRole("radio", { name: "USD" }).waitFor({ state: "attached" });
  await page.getByRole("link", { name: "1 invitation to a budget" }).waitFor();
  await page.getByRole("heading", { name: "Wallets" }).waitFor({ state: "attached" });
  const shifts = await page.evaluate(
    () =>
      new Promise((resolve) => {
        new PerformanceObserver((list) => resolve(list.getEntries().map(({ value }) => value))).observe({ type: "layout-shift", buffered: true });
        setTimeout(resolve, 500, []);
      }),
  );
  const sum = shifts.reduce((total, value) => total + value, 0);
  assert.ok(sum <= 0.02, `the layout shifts: ${shifts.join(", ")}`);
});

for (const { name, options } of sizes) {
  test(`Home is accessible: ${name}`, async (t) => {
    const user = await account();
    const { wallets, categories } = await household(user, 40);
    const startDate = `${new Date().toISOString().slice(0, 8)}01`;
    await user.post("/budgets", { name: "Food", currency: "EUR", limit: 20, period: "monthly", startDate, walletId: wallets[0].id, categoryIds: [categories[0].id] });
    const page = await open(t, user, "/", options);
    // The table of the chart comes last.
    await page.locator("figure tbody tr").first().waitFor({ state: "attached" });
    assert.deepEqual((await page.locator("main h2").allTextContents()).slice(1), ["Where it went", "Budgets", "Latest", "Wallets"]);
    await page.locator("figure .chart svg").first().waitFor();
    await accessibleInLooks(page);
  });
}
