import assert from "node:assert/strict";
import test from "node:test";
import { accessible, accessibleInLooks, account, desktop, household, open, phone, sizes, tablet, until } from "../console.js";

test("a user adds an expense with the keyboard only", async (t) => {
  const user = await account();
  const { categories } = await household(user, 0);
  const page = await open(t, user);
  await page.getByRole("heading", { name: /Ada/ }).waitFor();
  await page.keyboard.press("n");
  const amount = page.getByLabel("Amount");
  await amount.waitFor();
  await page.keyboard.type("12.5+1");
  await page.keyboard.press("Enter");
  await page.getByText("Choose a category").waitFor();
  const tab = async (times) => {
    for (let i = 0; i < times; i++) await page.keyboard.press("Tab");
  };
  await tab(2);
  await page.keyboard.press("Space");
  // Three buttons and the wallet are between the categories and the payee.
  await tab(5);
  await page.keyboard.type("Bakery");
  await tab(1);
  await page.keyboard.type("Bread");
  await page.keyboard.press("Enter");
  // The sheet stays open and is empty for the next entry.
  await page.getByText("Saved · €13.50 · Bakery").waitFor();
  assert.equal(await amount.inputValue(), "");
  await page.keyboard.press("Escape");
  await amount.waitFor({ state: "detached" });
  const { transactions } = await user.get("/transaction");
  assert.equal(transactions.length, 1);
  const [{ amount: booked, payee, description, categoryId, type }] = transactions;
  assert.deepEqual([booked, payee, description, type], [-13.5, "Bakery", "Bread", "expense"]);
  assert.ok(categories.some(({ id }) => id === categoryId));
});

test("a double tap books once, and a lost answer books nothing twice", async (t) => {
  const user = await account();
  await household(user, 0);
  const page = await open(t, user, "/?entry=new", phone);
  let sent = 0;
  await page.route("**/api/v1/transaction", async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    sent++;
    // The first answer is lost after the server has booked.
    if (sent === 1) {
      await route.fetch();
      return route.abort();
    }
    return route.continue();
  });
  await page.getByLabel("Amount").fill("5");
  await page.getByRole("radio", { name: "Groceries" }).check();
  await page.getByRole("button", { name: "Save", exact: true }).dblclick();
  await page.getByText("Saved on this device", { exact: false }).waitFor();
  await page.evaluate(() => window.dispatchEvent(new Event("online")));
  await page.getByText("Waiting to be sent").waitFor({ state: "detached" });
  assert.equal((await user.get("/transaction")).transactions.length, 1);
});

test("a transfer and a file that were entered without a connection are sent once", async (t) => {
  const user = await account();
  const { wallets } = await household(user, 0);
  const page = await open(t, user, "/transactions?entry=new", phone);
  let connected = false;
  const keys = [];
  await page.route(/\/api\/v1\/(transfers|transaction)$/, async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    keys.push(route.request().headers()["idempotency-key"]);
    // The first answer is lost after the server has booked.
    if (!connected && keys.length === 1) await route.fetch();
    return connected ? route.continue() : route.abort();
  });
  await page.getByRole("radio", { name: "Transfer" }).check();
  await page.getByLabel("Amount", { exact: true }).fill("25");
  await page.getByLabel("From", { exact: true }).selectOption(wallets[0].id);
  await page.getByLabel("To", { exact: true }).selectOption(wallets[1].id);
  await page.getByRole("combobox", { name: "What for?" }).fill("Cash machine");
  await page.getByText("Tags, notes and attachments").click();
  await page.getByLabel("Add a file").setInputFiles({ name: "slip.txt", mimeType: "text/plain", buffer: Buffer.from("25.00") });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const waiting = page.locator("section").filter({ hasText: "Waiting to be sent" });
  await waiting.getByText("Cash machine").waitFor();
  await waiting.getByText("€25.00").waitFor();
  connected = true;
  await page.evaluate(() => window.dispatchEvent(new Event("online")));
  await waiting.waitFor({ state: "detached" });
  const { transfers } = await user.get("/transfers");
  assert.deepEqual(transfers.map(({ amount, fromWalletId }) => [amount, fromWalletId]), [[25, wallets[0].id]]);
  assert.deepEqual(new Set(keys).size, 1);
  await until(async () => (await user.get(`/transaction/${transfers[0].outTransactionId}/attachments`)).attachments.length === 1);
});

test("a new transaction begins with the usual wallet and category", async (t) => {
  const user = await account();
  const { wallets } = await household(user, 0);
  const { category } = await user.post("/categories", { name: "Lunch", kind: "expense" });
  const page = await open(t, user, "/?entry=new");
  await user.patch("/settings", { defaultWalletId: wallets[0].id, defaultCategoryId: category.id });
  const used = async (wallet) => {
    await page.getByRole("radio", { name: "Lunch" }).and(page.locator(":checked")).waitFor();
    await until(async () => (await page.getByLabel("Wallet", { exact: true }).inputValue()) === wallet.id);
  };
  await page.getByRole("radio", { name: "Lunch" }).and(page.locator(":checked")).waitFor();
  for (const wallet of wallets) {
    await user.patch("/settings", { defaultWalletId: wallet.id });
    await page.reload();
    await page.getByLabel("Amount", { exact: true }).waitFor();
    await page.waitForFunction((id) => [...document.querySelectorAll("select")].some(({ value }) => value === id), wallet.id);
    await used(wallet);
  }
  // A category of expenses does not stay for an income.
  await page.getByRole("radio", { name: "Income" }).check();
  await page.getByRole("radio", { name: "Lunch" }).waitFor({ state: "detached" });
  await page.getByRole("radio", { name: "Expense" }).check();
  await used(wallets[1]);
});

test("on a phone, amount, category and wallet of an entry are visible at once, and a category can be chosen later", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  for (const name of ["Fun", "Gifts", "Health", "Insurance", "Kids", "Travel"]) await user.post("/categories", { name });
  const page = await open(t, user, "/transactions?entry=new", phone);
  await page.getByRole("radio", { name: "Groceries" }).waitFor();
  await page.waitForFunction((ids) => [...document.querySelectorAll("select")].some(({ value }) => ids.includes(value)), wallets.map(({ id }) => id));
  const footer = await page.getByRole("button", { name: "Save", exact: true }).boundingBox();
  for (const control of [page.getByLabel("Amount", { exact: true }), page.getByText("Sort later"), page.getByLabel("Wallet", { exact: true })]) {
    const { y, height } = await control.boundingBox();
    assert.ok(y >= 0 && y + height <= footer.y, `${control} is at ${y}`);
  }
  await page.getByLabel("Amount", { exact: true }).fill("4.20");
  await page.getByRole("button", { name: "Sort later" }).click();
  await page.getByRole("radio", { name: "Unsorted" }).and(page.locator(":checked")).waitFor();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("−€4.20").first().waitFor();
  const unsorted = (await user.get("/categories")).categories.filter(({ name }) => name === "Unsorted");
  assert.deepEqual((await user.get("/transaction")).transactions.map(({ categoryId }) => categoryId), unsorted.map(({ id }) => id));

  // The next entry offers it like every category.
  await page.getByRole("link", { name: "Add transaction" }).click();
  await page.getByRole("radio", { name: "Unsorted" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Sort later" }).count(), 0);
  assert.equal(categories.length, 5);
});

test("a suggestion does not replace what the user has chosen", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const [walletId, other] = wallets.map(({ id }) => id);
  await user.post("/transaction", { amount: 3, type: "expense", currency: "EUR", date: new Date().toISOString(), payee: "Corner Shop", description: "Milk", walletId, categoryId: categories[0].id });
  const page = await open(t, user, "/transactions");
  await page.getByRole("link", { name: /Corner Shop/ }).waitFor();
  await page.keyboard.press("n");
  await page.getByRole("radio", { name: "Transport" }).check();
  await page.getByLabel("Wallet", { exact: true }).selectOption(other);
  await page.getByRole("combobox", { name: "Payee" }).fill("corn");
  await page.getByRole("option", { name: /Corner Shop/ }).click();
  assert.equal(await page.getByRole("combobox", { name: "What for?" }).inputValue(), "Milk");
  assert.ok(await page.getByRole("radio", { name: "Transport" }).isChecked());
  assert.equal(await page.getByLabel("Wallet", { exact: true }).inputValue(), other);
});

test("a user changes and deletes a transaction, and takes a deletion back", async (t) => {
  const user = await account();
  const { transactions } = await household(user, 1);
  const page = await open(t, user, `/transactions?entry=${transactions[0].id}`, tablet);
  await page.getByLabel("Amount").fill("99.99");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("link", { name: /−€99\.99/ }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("link", { name: /−€99\.99/ }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByText("No transactions yet").waitFor();
  await until(async () => (await user.get("/transaction")).transactions.length === 0);
});

test("a version that was changed elsewhere is shown beside the user's", async (t) => {
  const user = await account();
  const { transactions } = await household(user, 1);
  const [{ id }] = transactions;
  const page = await open(t, user, `/transactions?entry=${id}`, tablet);
  await page.getByLabel("Amount").waitFor();
  await user.patch(`/transaction/${id}`, { amount: 7 });
  await page.getByLabel("Amount").fill("8");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("This was changed elsewhere").waitFor();
  await accessible(page);
  await page.getByRole("button", { name: "Keep mine" }).click();
  await page.getByRole("link", { name: /−€8\.00/ }).waitFor();
});

test("problems of the API appear at their fields, unknown ones with the request id", async (t) => {
  const user = await account();
  await household(user, 0);
  const page = await open(t, user, "/?entry=new", desktop);
  await page.getByLabel("Amount").fill("12.345");
  await page.getByRole("radio", { name: "Groceries" }).check();
  const answer = (status, body) => page.route("**/api/v1/transaction", (route) => route.fulfill({ status, contentType: "application/json", body: JSON.stringify(body) }), { times: 1 });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "EUR has at most 2 decimals" }).waitFor();
  await page.getByLabel("Amount").fill("12");
  await answer(400, { code: "VALIDATION_ERROR", message: "Validation failed", details: [{ field: "walletId", message: "must be yours" }], requestId: "r1" });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "must be yours" }).waitFor();
  await answer(409, { code: "SOMETHING_NEW", message: "The moon is full", requestId: "request-7" });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "The moon is full" }).filter({ hasText: "request-7" }).waitFor();
});

for (const { name, options } of sizes) {
  test(`the sheet is accessible: ${name}`, async (t) => {
    const user = await account();
    await household(user, 3);
    const page = await open(t, user, "/?entry=new", { ...options, reducedMotion: options === phone ? "no-preference" : "reduce" });
    await page.locator("dialog fieldset").first().waitFor();
    await accessibleInLooks(page);
  });
}
