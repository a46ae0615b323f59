// The table of transactions on a desktop.
import assert from "node:assert/strict";
import test from "node:test";
import { accessibleInLooks, account, closeToast, household, open, reconcile, until, url } from "../console.js";

/** cell returns a cell of the row whose text contains name. */
const cell = (page, name, column) => page.getByRole("row").filter({ hasText: name }).locator(`[data-column=${column}]`);

/** sent collects the requests that change transactions. */
function sent(page) {
  const requests = [];
  page.on("request", (request) => {
    if (request.method() !== "GET" && /\/api\/v1\/transaction/.test(request.url())) requests.push(`${request.method()} ${new URL(request.url()).pathname.replace(/.*\/transaction/, "")}`);
  });
  return requests;
}

test("twenty rows get another category with one request, and get their former ones back", async (t) => {
  const user = await account();
  const { categories, transactions } = await household(user, 20);
  const page = await open(t, user, "/transactions");
  await page.getByText("Purchase 1", { exact: true }).waitFor();
  const requests = sent(page);
  let keys = 0;
  const press = async (key, times = 1) => {
    for (let i = 0; i < times; i++) await page.keyboard.press(key);
    keys += times;
  };
  await press("j");
  await press("Shift+ArrowDown", 19);
  await page.getByRole("toolbar", { name: "20 selected" }).waitFor();
  await press("c");
  await page.getByRole("dialog", { name: "Category: 20 transactions" }).waitFor();
  for (const key of "tran") await press(key);
  await press("Enter");
  await page.getByText("20 transactions changed", { exact: true }).waitFor();
  const of = async () => Object.fromEntries((await user.get("/transaction")).transactions.map(({ id, categoryId }) => [id, categoryId]));
  assert.ok(Object.values(await of()).every((id) => id === categories[3].id));
  assert.deepEqual([keys, requests], [26, ["PATCH /batch"]]);

  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("20 transactions changed back").waitFor();
  assert.deepEqual(await of(), Object.fromEntries(transactions.map(({ id, categoryId }) => [id, categoryId])));
});

test("cells are changed in place with Enter, Tab and Escape", async (t) => {
  const user = await account();
  const { categories } = await household(user, 3);
  // In the order of the table: the API decides about rows of one day.
  const { transactions } = await user.get("/transaction");
  const below = transactions[2];
  const page = await open(t, user, "/transactions");
  await cell(page, "Purchase 2", "payee").dblclick();
  await page.keyboard.type("Corner Shop");
  // Tab saves, and goes on with the description and the category.
  await page.keyboard.press("Tab");
  await page.getByRole("textbox", { name: "Description" }).fill("Bread");
  await page.keyboard.press("Tab");
  await page.getByRole("combobox", { name: "Category" }).waitFor();
  await page.keyboard.type("trans");
  await page.keyboard.press("Tab");
  await page.getByRole("textbox", { name: "Tags" }).fill("Home, Food");
  await page.keyboard.press("Enter");
  await cell(page, "Bread", "tags").getByText("Food").waitFor();
  await until(async () => {
    const { transaction } = await user.get(`/transaction/${transactions[1].id}`);
    return transaction.payee === "Corner Shop" && transaction.description === "Bread" && transaction.categoryId === categories[3].id && transaction.tags?.join() === "Home,Food";
  });
  // The cell below has the focus, and Escape leaves it as it was.
  await page.waitForFunction(() => document.activeElement.dataset.column === "tags");
  for (const key of ["ArrowLeft", "ArrowLeft", "Enter"]) await page.keyboard.press(key);
  await page.getByRole("textbox", { name: "Description" }).fill("Something else");
  await page.keyboard.press("Escape");
  await page.getByText(below.description, { exact: true }).waitFor();
  // An amount that cannot be read is not saved, and says why.
  await page.keyboard.press("End");
  for (const key of ["ArrowLeft", "Enter"]) await page.keyboard.press(key);
  await page.getByRole("textbox", { name: "Amount" }).fill("1.2.3");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("Enter an amount such as 12.50").waitFor();
  await page.getByRole("textbox", { name: "Amount" }).fill("7+0.50");
  await page.keyboard.press("Enter");
  await cell(page, below.description, "amount").getByText("−€7.50").waitFor();
  await until(async () => (await user.get(`/transaction/${below.id}`)).transaction.amount === -7.5);
  await page.keyboard.press("Control+z");
  await until(async () => (await user.get(`/transaction/${below.id}`)).transaction.amount === below.amount);
});

test("Ctrl+Z undoes the last change, also one that is being sent", async (t) => {
  const user = await account();
  const { transactions } = await household(user, 2);
  const payees = async () => Promise.all(transactions.map(async ({ id }) => (await user.get(`/transaction/${id}`)).transaction.payee));
  const page = await open(t, user, "/transactions");
  const name = async (row, payee) => {
    await cell(page, row, "payee").dblclick();
    await page.keyboard.type(payee);
    await page.keyboard.press("Enter");
    await cell(page, row, "payee").getByText(payee).waitFor();
  };
  await name("Purchase 1", "Bakery");
  await page.getByText("1 transaction changed", { exact: true }).waitFor();
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route(`**/api/v1/transaction/${transactions[1].id}`, async (route) => (await held, route.continue()), { times: 1 });
  await name("Purchase 2", "Kiosk");
  // The list is loaded again, without the change that is being sent.
  await user.patch(`/transaction/${transactions[0].id}`, { description: "Rolls" });
  await cell(page, "Rolls", "description").waitFor();
  assert.equal(await cell(page, "Purchase 2", "payee").innerText(), "Kiosk");
  await page.keyboard.press("Control+z");
  release();
  await page.getByText("1 transaction changed back").waitFor();
  assert.deepEqual(await payees(), ["Bakery", undefined]);
  // The focus is not in the table after a change from the bar.
  await page.getByRole("checkbox", { name: "Select all loaded rows" }).check();
  await page.getByRole("toolbar").getByRole("button", { name: "Payee" }).click();
  await page.keyboard.type("Everyone");
  await page.keyboard.press("Enter");
  await page.getByText("2 transactions changed", { exact: true }).waitFor();
  await page.keyboard.press("Control+z");
  await page.getByText("2 transactions changed back").waitFor();
  assert.deepEqual(await payees(), ["Bakery", undefined]);
});

test("a row that was changed elsewhere shows both versions, and the others change", async (t) => {
  const user = await account();
  const { transactions, categories } = await household(user, 3);
  const page = await open(t, user, "/more");
  // The page gets no live events, so its list is not current.
  await page.route("**/api/v1/events", (route) => route.abort());
  await page.goto(`${url}/transactions`);
  await page.getByText("Purchase 2", { exact: true }).waitFor();
  await user.patch(`/transaction/${transactions[1].id}`, { categoryId: categories[2].id });
  await page.getByRole("checkbox", { name: "Select all loaded rows" }).check();
  await page.keyboard.press("Tab");
  await page.getByRole("toolbar").getByRole("button", { name: "Category" }).click();
  await page.keyboard.type("rent");
  await page.keyboard.press("Enter");
  await page.getByText("2 transactions changed", { exact: true }).waitFor();
  const row = page.getByRole("row").filter({ hasText: "Purchase 2" });
  await row.getByText("Eating out").waitFor();
  await row.getByText("yours: Rent").waitFor();
  assert.equal((await user.get(`/transaction/${transactions[1].id}`)).transaction.categoryId, categories[2].id);
  await row.getByRole("button", { name: "Changed elsewhere: compare" }).click();
  const dialog = page.getByRole("dialog", { name: "This was changed elsewhere" });
  assert.match(await dialog.getByRole("row", { name: /Category/ }).textContent(), /Rent.*Eating out/);
  await dialog.getByRole("button", { name: "Keep mine" }).click();
  await until(async () => (await user.get(`/transaction/${transactions[1].id}`)).transaction.categoryId === categories[1].id);
  await row.getByText("yours: Rent").waitFor({ state: "detached" });
});

test("all transactions that match are changed in requests of 500, of which few rows exist", async (t) => {
  const user = await account();
  const { wallets } = await household(user, 620);
  const page = await open(t, user, `/transactions?from=2000-01-01`);
  await page.getByText("620 transactions").waitFor();
  await page.getByText("Purchase 1", { exact: true }).click();
  const requests = sent(page);
  await page.keyboard.press("Control+a");
  await page.getByRole("button", { name: "All 620 transactions that match" }).click();
  await page.getByRole("toolbar", { name: "620 selected" }).waitFor();
  assert.ok((await page.getByRole("row").count()) < 120);
  await page.keyboard.press("p");
  await page.getByRole("dialog", { name: "Payee: 620 transactions" }).waitFor();
  await page.keyboard.type("Everyone");
  await page.keyboard.press("Enter");
  await page.getByText("620 transactions changed", { exact: true }).waitFor();
  assert.deepEqual(requests, ["PATCH /batch", "PATCH /batch"]);
  const { totals } = await user.get("/transaction?payee=Everyone&include=totals");
  assert.equal(totals[0].count, 620);
  assert.ok(wallets.length);
  // A deletion is one request as well, and waits for the end of the toast.
  await page.getByRole("row").nth(1).getByRole("checkbox").click();
  await page.getByRole("row").nth(4).getByRole("checkbox").click({ modifiers: ["Shift"] });
  await page.getByRole("toolbar", { name: "4 selected" }).waitFor();
  await page.keyboard.press("Delete");
  assert.equal(requests.length, 2);
  await closeToast(page, "4 transactions deleted");
  await until(() => requests.length === 3);
  assert.equal(requests[2], "POST /batch/delete");
  await until(async () => (await user.get("/transaction?include=totals")).totals[0].count === 616);
});

test("a scrolled table has the rows of its position in their order, and keeps the focus", async (t) => {
  const user = await account();
  await household(user, 150);
  const { transactions } = await user.get("/transaction?limit=200");
  const page = await open(t, user, "/transactions");
  await cell(page, "Purchase 2", "payee").first().click();
  const focused = () => page.evaluate(() => document.activeElement.closest("[data-id]")?.dataset.id);
  const first = await focused();
  // Short ways and long ones, after which most elements show other rows.
  for (const y of [300, 700, 3500, 1200, 5000, 4600, 0]) {
    await page.evaluate((to) => scrollTo(0, to), y);
    // The rows get their order after the page has stopped, and are read in the moment in which they have it.
    const ordered = await page.waitForFunction(() => {
      const elements = [...document.querySelectorAll("[data-index]")];
      const boxes = elements.map((row) => row.getBoundingClientRect());
      const covered = [150, 450].every((at) => boxes.some(({ top, bottom }) => top <= innerHeight - at && bottom >= innerHeight - at));
      if (!covered || boxes.some(({ top }, i) => i > 0 && boxes[i - 1].top >= top)) return false;
      return elements.map((row) => ({ index: Number(row.dataset.index), top: row.offsetTop, text: row.querySelector("[data-column=description]").textContent.trim() }));
    });
    const rows = await ordered.jsonValue();
    assert.ok(rows.length < 80, `${rows.length} rows`);
    rows.forEach(({ index, top, text }, i) => {
      assert.ok(i === 0 || rows[i - 1].index < index);
      assert.deepEqual([top, text], [40 * index, transactions[index].description]);
    });
    assert.equal(await focused(), first, `at ${y}`);
  }
  await page.evaluate(() => scrollTo(0, 5000));
  await page.keyboard.press("ArrowDown");
  const at = transactions.findIndex(({ id }) => id === first);
  await page.waitForFunction((id) => document.activeElement.closest("[data-id]")?.dataset.id === id, transactions[at + 1].id);
  assert.ok(await page.evaluate(() => document.activeElement.getBoundingClientRect().top > 0));
});

test("the row below deleted ones gets the focus, and the one above at the end of the table", async (t) => {
  const user = await account();
  await household(user, 100);
  const { transactions } = await user.get("/transaction?limit=200");
  const page = await open(t, user, "/transactions");
  const focused = (id) => page.waitForFunction((wanted) => {
    const { activeElement } = document;
    return activeElement.dataset.column === "category" && activeElement.closest("[data-id]").dataset.id === wanted;
  }, id);
  await page.locator(`[data-id="${transactions[3].id}"] [data-column=category]`).click();
  await page.keyboard.press("Delete");
  await focused(transactions[4].id);
  await page.keyboard.press("ArrowDown");
  await focused(transactions[5].id);
  // The rows above are deleted with the active one.
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Shift+ArrowDown");
  await focused(transactions[7].id);
  await page.keyboard.press("Delete");
  await focused(transactions[8].id);
  await page.keyboard.press("ArrowUp");
  await focused(transactions[4].id);
  await page.keyboard.press("Control+End");
  await page.locator(`[data-id="${transactions[99].id}"] [data-column=category]`).click();
  await page.keyboard.press("Delete");
  await focused(transactions[98].id);
});

test("an editor ends with its row if another device deletes that, and the next row gets the focus", async (t) => {
  const user = await account();
  await household(user, 3);
  const { transactions: [first, second] } = await user.get("/transaction");
  const page = await open(t, user, "/transactions");
  const requests = sent(page);
  await cell(page, first.description, "payee").dblclick();
  await page.keyboard.type("Kiosk");
  await user.del(`/transaction/${first.id}`);
  await page.getByText(first.description, { exact: true }).waitFor({ state: "detached" });
  await page.waitForFunction((id) => document.activeElement.closest("[data-id]")?.dataset.id === id, second.id);
  assert.equal(await page.getByRole("textbox", { name: "Payee" }).count(), 0);
  await cell(page, second.description, "description").click();
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "Description" }).waitFor();
  assert.deepEqual(requests, [], "the text was not saved");
});

test("a selection has no deleted rows, and does not begin at one", async (t) => {
  const user = await account();
  await household(user, 12);
  const { transactions } = await user.get("/transaction?limit=200");
  const page = await open(t, user, "/transactions");
  const choose = (i, modifiers) => page.locator(`[data-id="${transactions[i].id}"] [data-column=select]`).click({ modifiers });
  await choose(2, []);
  await page.getByRole("toolbar", { name: "1 selected" }).getByRole("button", { name: "Delete" }).click();
  await closeToast(page, "Transaction deleted");
  await choose(6, ["Shift"]);
  await page.getByRole("toolbar", { name: "1 selected" }).waitFor();
  await choose(8, ["Shift"]);
  await page.getByRole("toolbar", { name: "3 selected" }).waitFor();
  // Another device deletes all selected rows, so keys change the active one again.
  for (const { id } of transactions.slice(6, 9)) await user.del(`/transaction/${id}`);
  await page.getByRole("toolbar", { name: "selected" }).waitFor({ state: "detached" });
  await page.locator(`[data-id="${transactions[9].id}"] [data-column=description]`).click();
  await page.keyboard.press("c");
  await page.getByRole("dialog", { name: "Category" }).waitFor();
});

test("the table is sorted, and has running balances of one wallet", async (t) => {
  const user = await account();
  const { wallets } = await household(user, 12);
  const page = await open(t, user, `/transactions?wallet=${wallets[1].id}`);
  const column = (name) => page.locator(`[data-index] [data-column=${name}]`).allTextContents();
  const number = (text) => Math.round(100 * Number(text.replace("−", "-").replace(/[€+,]/g, "")));
  await page.getByRole("columnheader", { name: "Balance" }).waitFor();
  await page.waitForFunction(() => document.querySelector("[data-column=balance]")?.textContent.trim());
  const { wallet } = await user.get(`/wallet/${wallets[1].id}`);
  const [balances, amounts] = [(await column("balance")).map(number), (await column("amount")).map(number)];
  assert.equal(balances[0], Math.round(100 * wallet.balance));
  const days = (await user.get(`/transaction?walletId=${wallets[1].id}`)).transactions.map(({ date }) => date.slice(0, 10));
  const { balances: report } = await user.get(`/reports/balances?walletId=${wallets[1].id}&currency=EUR&interval=day&from=${days.at(-1)}&to=${days[0]}`);
  const ends = Object.fromEntries(report.intervals.map(({ end }, i) => [end, Math.round(100 * report.wallets[0].balances[i])]));
  // The opening balance counts from the day of the wallet on, as in the report: the last balances do not contain it.
  assert.ok(days.at(-1) < wallet.openingDate, wallet.openingDate);
  balances.forEach((balance, i) => assert.equal(balance, days[i] === days[i - 1] ? balances[i - 1] - amounts[i - 1] : ends[days[i]], days[i]));

  await page.getByRole("columnheader", { name: "Amount" }).getByRole("button").click();
  await page.waitForURL(/sort=amount/);
  await page.locator("[aria-sort=ascending]").waitFor();
  await page.waitForFunction(() => document.querySelectorAll("[data-index]").length === 6);
  const sorted = (await column("amount")).map(number);
  assert.deepEqual(sorted, amounts.toSorted((a, b) => a - b));
  assert.equal(await page.getByRole("columnheader", { name: "Balance" }).count(), 0);
});

test("the table is accessible, and its keys are listed", async (t) => {
  const user = await account();
  await household(user, 12);
  const page = await open(t, user, "/transactions");
  await page.getByText("Purchase 1", { exact: true }).click();
  await page.keyboard.press("Space");
  await page.keyboard.press("Enter");
  await accessibleInLooks(page);
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Category of the selected rows").waitFor();
});

test("rows are marked as booked by the bank, and the marks are taken back", async (t) => {
  const user = await account();
  const { transactions } = await household(user, 3);
  await user.patch(`/transaction/${transactions[1].id}`, { cleared: true });
  const page = await open(t, user, "/transactions");
  await cell(page, "Purchase 2", "description").getByRole("img", { name: "Booked by the bank" }).waitFor();
  const cleared = async () => Promise.all(transactions.map(async ({ id }) => (await user.get(`/transaction/${id}`)).transaction.cleared));
  await page.getByRole("checkbox", { name: "Select all loaded rows" }).check();
  await page.getByRole("toolbar").getByRole("button", { name: "Booked by the bank", exact: true }).click();
  await page.getByText("2 transactions changed", { exact: true }).waitFor();
  assert.deepEqual(await cleared(), [true, true, true]);
  await page.keyboard.press("Control+z");
  await page.getByText("2 transactions changed back").waitFor();
  assert.deepEqual(await cleared(), [false, true, false]);
  // All selected rows have the mark, so the key removes it.
  await cell(page, "Purchase 2", "payee").click();
  await page.keyboard.press("b");
  await page.getByText("1 transaction changed", { exact: true }).waitFor();
  assert.deepEqual(await cleared(), [false, false, false]);
});

test("reconciled rows are changed only if the user insists, and the others change", async (t) => {
  const user = await account();
  const { wallets, transactions } = await reconcile(user);
  const page = await open(t, user, "/transactions");
  await cell(page, "Purchase 1", "description").getByRole("img", { name: "Reconciled" }).waitFor();
  await accessibleInLooks(page);
  const stored = async () => Promise.all(transactions.map(async ({ id }) => (await user.get(`/transaction/${id}`)).transaction));
  const requests = sent(page);
  const moveAll = async () => {
    await page.getByRole("checkbox", { name: "Select all loaded rows" }).check();
    await page.getByRole("toolbar").getByRole("button", { name: "Wallet" }).click();
    await page.keyboard.type("cash");
    await page.keyboard.press("Enter");
  };
  await moveAll();
  const dialog = page.getByRole("dialog", { name: "1 transaction is reconciled" });
  await dialog.waitFor();
  await accessibleInLooks(page);
  await dialog.getByRole("button", { name: "Leave as it is" }).click();
  await cell(page, "Purchase 1", "wallet").getByText("Checking account").waitFor();
  await until(async () => (await stored())[2].walletId === wallets[1].id);
  assert.equal((await stored())[0].walletId, wallets[0].id);
  // The list knows the lock, so it is no part of the request.
  assert.deepEqual(requests, ["PATCH /batch"]);
  await cell(page, "Purchase 1", "amount").dblclick();
  await page.getByRole("textbox", { name: "Amount" }).fill("99");
  await page.keyboard.press("Enter");
  await dialog.getByRole("button", { name: "Change anyway" }).click();
  await until(async () => (await stored())[0].amount === -99);
  assert.equal((await stored())[0].reconciled, false);
});

/** hideLocks shows transactions as they were before their reconciliation, with the current versions. */
async function hideLocks(page) {
  await page.route("**/api/v1/transaction?*", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replaceAll(/"reconciled":\s*true/g, '"reconciled":false') });
  });
}

test("a lock that the list does not know is found when the change is sent", async (t) => {
  const user = await account();
  const { transactions } = await reconcile(user);
  const page = await open(t, user, "/more");
  await hideLocks(page);
  await page.goto(`${url}/transactions`);
  await page.getByRole("checkbox", { name: "Select all loaded rows" }).check();
  await page.getByRole("toolbar").getByRole("button", { name: "Wallet" }).click();
  await page.keyboard.type("cash");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "1 transaction is reconciled" });
  await dialog.getByRole("button", { name: "Change anyway" }).click();
  await until(async () => (await user.get(`/transaction/${transactions[0].id}`)).transaction.walletId !== transactions[0].walletId);
});

test("reconciled rows are deleted only if the user insists", async (t) => {
  const user = await account();
  const { transactions } = await reconcile(user);
  const page = await open(t, user, "/transactions");
  await page.getByText("Purchase 1", { exact: true }).waitFor();
  await page.getByRole("checkbox", { name: "Select all loaded rows" }).check();
  await page.getByRole("toolbar").getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "1 transaction is reconciled" });
  await dialog.getByRole("button", { name: "Delete anyway" }).waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await closeToast(page, "2 transactions deleted");
  await until(async () => (await user.get("/transaction")).transactions.length === 1);
  await cell(page, "Purchase 1", "payee").click();
  await page.keyboard.press("Delete");
  await dialog.getByRole("button", { name: "Delete anyway" }).click();
  await closeToast(page, "Transaction deleted");
  await until(async () => !(await user.get("/transaction")).transactions.some(({ id }) => id === transactions[0].id));
});

test("a lock that the list does not know keeps one row from being deleted, also beside a row that was deleted elsewhere", async (t) => {
  const user = await account();
  const { transactions } = await reconcile(user);
  const page = await open(t, user, "/more");
  // The page gets no live events, so its list is not current.
  await page.route("**/api/v1/events", (route) => route.abort());
  await hideLocks(page);
  await page.goto(`${url}/transactions`);
  await page.getByText("Purchase 2", { exact: true }).waitFor();
  await user.del(`/transaction/${transactions[1].id}`);
  const left = async () => (await user.get("/transaction")).transactions.map(({ id }) => id);
  await page.getByRole("checkbox", { name: "Select all loaded rows" }).check();
  await page.getByRole("toolbar").getByRole("button", { name: "Delete" }).click();
  await closeToast(page, "3 transactions deleted");
  const toast = page.locator(".toast").filter({ hasText: "1 transaction is reconciled" });
  await toast.waitFor();
  assert.deepEqual(await left(), [transactions[0].id]);
  await cell(page, "Purchase 1", "payee").waitFor();
  await toast.getByRole("button", { name: "Delete anyway" }).click();
  await until(async () => (await left()).length === 0);
});

test("more rows than a few errors name were changed elsewhere, and the others change", async (t) => {
  const user = await account();
  const { transactions } = await household(user, 75);
  const page = await open(t, user, "/more");
  await page.route("**/api/v1/events", (route) => route.abort());
  await page.goto(`${url}/transactions`);
  await page.getByText("That is all").waitFor();
  await user.patch("/transaction/batch", { items: transactions.slice(5).map(({ id }) => ({ id, payee: "Elsewhere" })) });
  await page.getByRole("checkbox", { name: "Select all loaded rows" }).check();
  await page.getByRole("toolbar", { name: "75 selected" }).getByRole("button", { name: "Payee" }).click();
  await page.keyboard.type("Everyone");
  await page.keyboard.press("Enter");
  await page.getByText("5 transactions changed", { exact: true }).waitFor();
  assert.equal((await user.get("/transaction?payee=Everyone&include=totals")).totals[0].count, 5);
  await page.getByRole("button", { name: "Changed elsewhere: compare" }).first().waitFor();
});
