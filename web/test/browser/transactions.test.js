import assert from "node:assert/strict";
import test from "node:test";
import { accessible, accessibleInLooks, account, closeToast, household, open, phone, reconcile, sizes, tablet, until, url } from "../console.js";

test("typed text becomes filters, and the header shows their totals", async (t) => {
  const user = await account();
  await household(user, 30);
  const page = await open(t, user, "/transactions", tablet);
  await page.getByText("30 transactions").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("groceries >40");
  await page.keyboard.press("Enter");
  await page.waitForURL(/category=.*min=40/);
  await page.getByText("at least 40").waitFor();
  const rows = page.getByRole("list", { name: "Transactions" }).getByRole("link");
  // The list is empty while it loads.
  await page.waitForFunction(() => {
    const shown = [...document.querySelectorAll("ul[aria-label=Transactions] a")];
    return shown.length > 0 && shown.every((row) => row.textContent.includes("Groceries"));
  });
  const amounts = await rows.evaluateAll((links) => links.map((link) => Number(link.textContent.match(/€([\d.,]+)/)[1].replace(",", ""))));
  assert.ok(amounts.every((amount) => amount >= 40), String(amounts));
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByText("30 transactions").waitFor();
});

test("sums of the newest transactions are not shown as those of all", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 1);
  const expense = { amount: 1, type: "expense", currency: "EUR", date: "2026-01-15", walletId: wallets[0].id, categoryId: categories[0].id };
  // Batches have at most 500.
  for (let i = 0; i < 41; i++) await user.post("/transaction/batch", { transactions: Array(500).fill(expense) });
  await user.post("/transaction", { ...expense, date: "2026-01-16", description: "Öl" });
  const page = await open(t, user, "/transactions?type=expense&from=2026-01-01&to=2026-01-31");
  await page.getByText("only the newest 20,000 transactions").waitFor();
  await page.getByText("−€20,000.00").waitFor();
  await page.goto(`${url}/transactions?q=%C3%96l`);
  await page.getByText("1 transaction among the newest 20,000").waitFor();
  // The sums of whole months are stored.
  await page.goto(`${url}/transactions?from=2026-01-01&to=2026-01-31`);
  await page.getByText("20,501 transactions").waitFor();
  await page.getByText("−€20,501.00").waitFor();
});

test("typed words become chips while the user types, and a removed chip leaves the others", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const year = new Date().getUTCFullYear() - 1;
  const book = (amount, month, category) => user.post("/transaction", { amount, type: "expense", currency: "EUR", date: `${year}-${month}-12`, description: "Corner Shop", walletId: wallets[0].id, categoryId: categories[category].id });
  await Promise.all([book(14.24, "03", 0), book(20, "03", 1), book(14.24, "04", 0)]);
  const page = await open(t, user, "/transactions", phone);
  await page.getByText("3 transactions").waitFor();
  const field = page.getByRole("searchbox");
  await field.fill(`groceries in March ${year}`);
  await page.getByText("1 transaction", { exact: true }).waitFor();
  assert.equal(await field.inputValue(), `groceries in March ${year}`, "the text stays while the user types");
  await field.fill(`corner 14.24 in ${year}`);
  await page.getByText("2 transactions").waitFor();
  await page.getByText("exactly 14.24").waitFor();
  await page.keyboard.press("Enter");
  assert.equal(await field.inputValue(), "corner");
  await page.locator(".chip", { hasText: "exactly 14.24" }).getByRole("button").click();
  await page.getByText("3 transactions").waitFor();
  assert.equal(await field.inputValue(), "corner");
});

test("the list loads while it scrolls, and keeps few rows in the page", async (t) => {
  const user = await account();
  await household(user, 450);
  const page = await open(t, user, "/transactions", tablet);
  await page.getByText("450 transactions").waitFor();
  await page.mouse.move(640, 500);
  const last = page.getByText("Purchase 449", { exact: true });
  while (!(await last.isVisible())) {
    await page.mouse.wheel(0, 3000);
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  await page.getByText("That is all").waitFor();
  assert.ok((await page.locator("[data-id]").count()) < 60);
});

test("a changed category becomes the rule of a payee", async (t) => {
  const user = await account();
  const { transactions, categories } = await household(user, 3);
  for (const { id } of transactions.slice(0, 2)) await user.patch(`/transaction/${id}`, { payee: "Corner Shop" });
  const page = await open(t, user, "/transactions", tablet);
  const choose = async (category) => {
    await page.getByRole("dialog", { name: "Change category" }).waitFor();
    await page.keyboard.type(category);
    await page.keyboard.press("Enter");
    await page.getByText(`Now in ${category}`).waitFor();
  };
  const actions = async () => (await user.get("/rules")).rules.map((rule) => [rule.name, rule.conditions[0].values, rule.actions[0].value]);

  // A transaction without a payee offers nothing.
  await page.getByRole("button", { name: "Category of Purchase 3" }).click();
  await choose("Rent");
  assert.equal(await page.getByRole("button", { name: "Always" }).count(), 0);

  await page.getByRole("button", { name: "Category of Corner Shop" }).first().click();
  await choose("Transport");
  // The toast stays while the pointer is on it.
  await page.getByText("Always for Corner Shop?").hover();
  await page.waitForTimeout(6500);
  await accessible(page);
  const created = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/api/v1/rules"));
  await page.getByRole("button", { name: "Always" }).click();
  assert.ok((await created).headers()["idempotency-key"]);
  await closeToast(page, "Rule saved: Corner Shop → Transport");
  assert.deepEqual(await actions(), [["Corner Shop", ["Corner Shop"], categories[3].id]]);

  // Two selected rows of the payee change its rule: a second rule would have no effect.
  for (const row of await page.locator("[data-id] a").filter({ hasText: "Corner Shop" }).all()) {
    await row.focus();
    await page.keyboard.press("x");
  }
  await page.getByRole("toolbar").getByRole("button", { name: "Category" }).click();
  await choose("Groceries");
  const updated = page.waitForRequest((request) => request.method() === "PATCH" && request.url().includes("/api/v1/rules/"));
  await page.getByRole("button", { name: "Always" }).last().click();
  assert.ok((await updated).headers()["if-match"]);
  await page.getByText("Rule saved: Corner Shop → Groceries").waitFor();
  assert.deepEqual(await actions(), [["Corner Shop", ["Corner Shop"], categories[0].id]]);
});

test("a category is changed in place, and rows are selected and deleted with undo", async (t) => {
  const user = await account();
  const { transactions } = await household(user, 3);
  const page = await open(t, user, "/transactions", tablet);
  await page.getByRole("button", { name: "Category of Purchase 2" }).click();
  await page.keyboard.type("trans");
  await page.keyboard.press("Enter");
  await page.getByText("Now in Transport").waitFor();
  const changed = await user.get(`/transaction/${transactions[1].id}`);
  const { categories } = await user.get("/categories");
  assert.equal(categories.find(({ id }) => id === changed.transaction.categoryId).name, "Transport");

  // The row whose category was changed has the focus again.
  for (const key of ["x", "k", "x"]) await page.keyboard.press(key);
  await page.getByText("2 selected").first().waitFor();
  await page.keyboard.press("Delete");
  await page.getByText("2 transactions deleted").waitFor();
  assert.equal(await page.locator("[data-id]").count(), 1);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.waitForFunction(() => document.querySelectorAll("[data-id]").length === 3);
  assert.equal((await user.get("/transaction")).transactions.length, 3);
});

test("reconciled rows of the list are deleted only if the user insists, and the others at once", async (t) => {
  const user = await account();
  await reconcile(user);
  const page = await open(t, user, "/transactions", phone);
  const left = async () => (await user.get("/transaction")).transactions.length;
  await page.getByText("Purchase 1", { exact: true }).waitFor();
  for (const key of ["j", "x", "j", "x", "j", "x"]) await page.keyboard.press(key);
  await page.getByRole("toolbar", { name: "3 selected" }).getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "1 transaction is reconciled" });
  await dialog.getByRole("button", { name: "Leave as it is" }).click();
  await closeToast(page, "2 transactions deleted");
  await until(async () => (await left()) === 1);
  for (const key of ["j", "Delete"]) await page.keyboard.press(key);
  await dialog.waitFor();
  await accessibleInLooks(page);
  await dialog.getByRole("button", { name: "Delete anyway" }).click();
  await closeToast(page, "Transaction deleted");
  await until(async () => (await left()) === 0);
});

test("a category is not changed in a transaction that was changed elsewhere", async (t) => {
  const user = await account();
  const { transactions, categories } = await household(user, 3);
  const page = await open(t, user, "/more", tablet);
  // The page gets no live events, so its list is not current.
  await page.route("**/api/v1/events", (route) => route.abort());
  await page.goto(`${url}/transactions`);
  await page.getByText("Purchase 2", { exact: true }).waitFor();
  await user.patch(`/transaction/${transactions[1].id}`, { amount: 7, categoryId: categories[1].id });
  await page.getByRole("button", { name: "Category of Purchase 2" }).click();
  await page.keyboard.type("trans");
  await page.keyboard.press("Enter");
  await page.getByText("This was changed elsewhere").waitFor();
  await page.getByRole("link", { name: /Purchase 2.*−€7\.00/ }).waitFor();
  assert.equal((await user.get(`/transaction/${transactions[1].id}`)).transaction.categoryId, categories[1].id);
});

test("of two quick changes of a category, the second one stays", async (t) => {
  const user = await account();
  const { transactions, categories } = await household(user, 3);
  const page = await open(t, user, "/transactions", tablet);
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route(`**/api/v1/transaction/${transactions[1].id}`, async (route) => {
    await held;
    await route.continue();
  });
  for (const category of ["Transport", "Rent"]) {
    await page.getByRole("button", { name: "Category of Purchase 2" }).click();
    await page.getByRole("dialog", { name: "Change category" }).waitFor();
    await page.keyboard.type(category);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Change category" }).waitFor({ state: "detached" });
  }
  release();
  await page.getByText("Now in Rent").waitFor();
  assert.equal((await user.get(`/transaction/${transactions[1].id}`)).transaction.categoryId, categories[1].id);
});

test("a swipe to the left deletes", async (t) => {
  const user = await account();
  await household(user, 2);
  const page = await open(t, user, "/transactions", phone);
  const row = page.locator("[data-id]").first();
  await row.waitFor();
  const { x, y, width } = await row.boundingBox();
  const touch = await page.context().newCDPSession(page);
  const at = (dx) => [{ x: x + width * 0.7 - dx, y: y + 30 }];
  await touch.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: at(0) });
  for (const dx of [20, 60, 110, 150]) await touch.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: at(dx) });
  await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await page.getByText("Transaction deleted").waitFor();
  assert.equal(await page.locator("[data-id]").count(), 1);
});

test("a change of another device appears without a reload", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 1);
  const page = await open(t, user, "/transactions");
  await page.getByText("Purchase 1").waitFor();
  const date = new Date().toISOString().slice(0, 10);
  await user.post("/transaction", { amount: 3, type: "expense", currency: "EUR", date, description: "From the phone", walletId: wallets[0].id, categoryId: categories[0].id });
  await page.getByText("From the phone").waitFor();
});

for (const { name, options } of sizes) {
  test(`the list is accessible: ${name}`, async (t) => {
    const user = await account();
    await household(user, 12);
    const page = await open(t, user, "/transactions", options);
    await page.getByText("Purchase 1", { exact: true }).waitFor();
    await accessibleInLooks(page);
  });
}
