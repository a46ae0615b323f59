import assert from "node:assert/strict";
import test from "node:test";
import { accessible, accessibleInLooks, account, household, open, phone, sizes, tablet, until, url } from "../console.js";

const today = new Date().toISOString().slice(0, 10);

test("a user moves money between two wallets with the keyboard only, and the net stays", async (t) => {
  const user = await account();
  const { wallets } = await household(user, 0);
  const page = await open(t, user, "/?entry=new");
  await page.getByLabel("Amount", { exact: true }).waitFor();
  await page.getByRole("radio", { name: "Expense" }).focus();
  await page.keyboard.press("ArrowLeft");
  assert.ok(await page.getByRole("radio", { name: "Transfer" }).isChecked());
  await page.keyboard.press("Tab");
  await page.keyboard.type("50");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.type("Pocket money");
  await page.keyboard.press("Enter");
  await page.getByText("Saved · €50.00 · Pocket money").waitFor();
  const { transfers } = await user.get("/transfers");
  assert.equal(transfers.length, 1);
  assert.deepEqual(new Set([transfers[0].fromWalletId, transfers[0].toWalletId]), new Set(wallets.map(({ id }) => id)));
  const { summary } = await user.get("/dashboard/summary");
  assert.ok(summary.totals.every(({ net }) => net === 0));
});

test("a second amount appears only between currencies", async (t) => {
  const user = await account();
  await household(user, 0);
  const { wallet } = await user.post("/wallet", { name: "Tokyo", currency: "JPY", balance: 0 });
  const page = await open(t, user, "/?entry=new", phone);
  await page.getByRole("radio", { name: "Transfer" }).check();
  await page.getByLabel("Amount", { exact: true }).fill("10.50");
  await page.getByLabel("From", { exact: true }).selectOption({ label: "Checking account" });
  await page.getByLabel("To", { exact: true }).selectOption({ label: "Cash" });
  assert.equal(await page.getByLabel("Amount that arrives").count(), 0);
  await page.getByLabel("To", { exact: true }).selectOption(wallet.id);
  await page.getByLabel("Amount that arrives").fill("1700.5");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "JPY has no decimals" }).waitFor();
  await page.getByLabel("Amount that arrives").fill("1700");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved · €10.50").waitFor();
  const { transfers } = await user.get("/transfers");
  assert.deepEqual([transfers[0].amount, transfers[0].currency, transfers[0].toAmount, transfers[0].toCurrency], [10.5, "EUR", 1700, "JPY"]);
});

/** select checks the box of a row, which the row shows while the pointer is on it. */
async function select(row) {
  await row.hover();
  await row.getByRole("checkbox").check();
}

/** transfer creates a transfer of 30 from the first wallet to the second. */
async function transfer(user, wallets, fields = {}) {
  return (await user.post("/transfers", { fromWalletId: wallets[0].id, toWalletId: wallets[1].id, amount: 30, date: today, description: "Cash machine", ...fields })).transfer;
}

test("both legs are listed as one movement, outside of the sums, and are changed and deleted together", async (t) => {
  const user = await account();
  const { wallets } = await household(user, 2);
  await transfer(user, wallets);
  const page = await open(t, user, "/transactions", tablet);
  await page.getByText("Checking account → Cash").nth(1).waitFor();
  assert.equal(await page.getByText("Checking account → Cash").count(), 2);
  const { transactions } = await user.get("/transaction?type=expense");
  const day = transactions.reduce((sum, { amount }) => sum + amount, 0).toFixed(2).slice(1);
  await page.locator(".day").getByText(`−€${day}`).waitFor();
  await page.getByText("Checking account → Cash").first().click();
  await page.getByRole("heading", { name: "Edit transfer" }).waitFor();
  await page.getByLabel("Amount", { exact: true }).fill("45");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("link", { name: /−€45\.00/ }).waitFor();
  await page.getByRole("link", { name: /\+?€45\.00/ }).nth(1).click();
  await page.getByRole("heading", { name: "Edit transfer" }).waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.waitForFunction(() => document.querySelectorAll("[data-id]").length === 2);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.locator(".toast").waitFor({ state: "detached" });
  await page.waitForFunction(() => document.querySelectorAll("[data-id]").length === 4);
  await select(page.locator("[data-id]").filter({ hasText: "→" }).first());
  await page.getByRole("toolbar").getByRole("button", { name: "Delete" }).click();
  await page.waitForFunction(() => document.querySelectorAll("[data-id]").length === 2);
  await page.getByRole("button", { name: "Close" }).click();
  await until(async () => (await user.get("/transfers")).transfers.length === 0);
  assert.equal((await user.get("/transaction")).transactions.length, 2);
});

test("rows do not wait for their transfers, of which a page of rows loads two pages at most", async (t) => {
  const user = await account();
  const { wallets } = await household(user, 0);
  await transfer(user, wallets);
  const page = await open(t, user, "/more", tablet);
  let requests = 0;
  let release;
  let answer = (route) => route.continue();
  const held = new Promise((resolve) => (release = resolve));
  await page.route(/\/api\/v1\/transfers\?/, async (route) => {
    requests++;
    await held;
    await answer(route);
  });
  // Both legs are listed, so the rows have both wallets.
  await page.goto(`${url}/transactions`);
  await page.getByText("Checking account → Cash").nth(1).waitFor();
  assert.equal(requests, 0);

  await page.goto(`${url}/transactions?wallet=${wallets[0].id}`);
  await page.getByRole("link", { name: /Cash machine/ }).waitFor();
  assert.equal(await page.getByText("Checking account → Cash").count(), 0);
  release();
  await page.getByText("Checking account → Cash").waitFor();
  assert.equal(requests, 1);

  answer = (route) => route.fulfill({ json: { code: "TRANSFERS_FETCHED", message: "", transfers: [], pagination: { limit: 200, nextCursor: "more" } } });
  await page.goto(`${url}/transactions?wallet=${wallets[1].id}`);
  await page.getByRole("link", { name: /Cash machine/ }).waitFor();
  await until(() => requests === 3);
  await page.getByRole("link", { name: "Wallets", exact: true }).first().click();
  await page.locator("main .list li").first().waitFor();
  assert.equal(requests, 3);
});

test("a transfer that was changed elsewhere shows both versions", async (t) => {
  const user = await account();
  const { wallets } = await household(user, 0);
  const { id, outTransactionId } = await transfer(user, wallets);
  const page = await open(t, user, `/transactions?entry=${outTransactionId}`, tablet);
  await page.getByLabel("Amount", { exact: true }).fill("31");
  await user.patch(`/transfers/${id}`, { amount: 32 });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("This was changed elsewhere").waitFor();
  await page.getByRole("cell", { name: "32.00 EUR" }).waitFor();
  await accessible(page);
  await page.getByRole("button", { name: "Keep mine" }).click();
  await page.getByRole("link", { name: /−€31\.00/ }).waitFor();
});

/** pair creates an expense and an income of 80 that look like one transfer. */
async function pair(user, { wallets, categories }) {
  const fields = { amount: 80, currency: "EUR", date: today, categoryId: categories[0].id };
  await user.post("/transaction", { ...fields, type: "expense", walletId: wallets[0].id, payee: "ATM" });
  await user.post("/transaction", { ...fields, type: "income", walletId: wallets[1].id, payee: "Deposit" });
}

test("two transactions become a transfer from the selection, and are unlinked again", async (t) => {
  const user = await account();
  await pair(user, await household(user, 0));
  const page = await open(t, user, "/transactions", tablet);
  for (const name of ["Select ATM", "Select Deposit"]) await select(page.locator("[data-id]").filter({ has: page.getByRole("checkbox", { name }) }));
  await page.getByRole("toolbar").getByRole("button", { name: "Transfer" }).click();
  await page.getByText("The two transactions are now a transfer").waitFor();
  await page.getByText("Checking account → Cash").first().click();
  await page.getByRole("button", { name: "Undo the transfer" }).click();
  await page.getByRole("button", { name: "Undo the transfer" }).last().click();
  await page.getByRole("alert").first().waitFor();
  await page.getByLabel("Category of the expense in Checking account").selectOption({ label: "Groceries" });
  await page.getByLabel("Category of the income in Cash").selectOption({ label: "Salary" });
  await accessible(page);
  await page.getByRole("button", { name: "Undo the transfer" }).last().click();
  await page.getByText("The transfer is now an expense and an income").waitFor();
  await page.getByRole("link", { name: /ATM/ }).waitFor();
  assert.equal((await user.get("/transfers")).transfers.length, 0);
});

test("suggested pairs become transfers", async (t) => {
  const user = await account();
  await pair(user, await household(user, 0));
  const page = await open(t, user, "/transactions", phone);
  await page.getByRole("button", { name: "Transfers" }).click();
  await page.getByText("Are these transfers?").waitFor();
  await accessible(page);
  await page.locator("section").getByRole("button", { name: "Transfer", exact: true }).click();
  await page.getByText("Checking account → Cash").first().waitFor();
  await page.getByText("Are these transfers?").waitFor({ state: "detached" });
  assert.equal((await user.get("/transfers")).transfers.length, 1);
});

for (const { name, options } of sizes) {
  test(`the form of a transfer and the list are accessible: ${name}`, async (t) => {
    const user = await account();
    const { wallets } = await household(user, 1);
    const { outTransactionId } = await transfer(user, wallets);
    const page = await open(t, user, `/transactions?entry=${outTransactionId}`, options);
    await page.getByLabel("To", { exact: true }).waitFor();
    await accessibleInLooks(page);
  });
}
