import assert from "node:assert/strict";
import test from "node:test";
import { accessibleInLooks, account, household, open, phone, sizes, tablet } from "../console.js";

/** fill writes the category and the amount of a line. */
async function fill(page, n, category, amount) {
  await page.getByLabel(`Category of part ${n}`).selectOption({ label: category });
  await page.getByLabel(`Amount of part ${n}`).fill(amount);
}

test("a user splits a purchase with a refund, and the rest must be 0 to save", async (t) => {
  const user = await account();
  const { categories } = await household(user, 0);
  const page = await open(t, user, "/transactions?entry=new", phone);
  await page.getByLabel("Amount", { exact: true }).fill("30");
  await page.getByRole("combobox", { name: "Payee" }).fill("Supermarket");
  await page.getByRole("radio", { name: "Groceries" }).check();
  await page.getByRole("button", { name: "Split" }).click();
  await page.getByLabel("Amount of part 1").fill("20.01");
  await page.getByLabel("Description of part 1").fill(" Dinner with Grace ");
  await fill(page, 2, "Transport", "12");
  await page.getByText("Too much: €2.01").waitFor();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "The parts are €2.01 more than the amount" }).waitFor();
  await page.getByRole("button", { name: "Another part" }).click();
  await page.getByLabel("Category of part 3").selectOption({ label: "Eating out" });
  await page.getByRole("button", { name: "Use what is left" }).click();
  assert.equal(await page.getByLabel("Amount of part 3").inputValue(), "2.01");
  assert.equal(await page.getByRole("button", { name: "Part 3 is a refund" }).getAttribute("aria-pressed"), "true");
  await page.getByText("The whole amount is distributed").waitFor();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const row = page.getByRole("link", { name: /Supermarket/ });
  await row.waitFor();
  assert.match(await row.textContent(), /Dinner with Grace/);
  const { transactions } = await user.get("/transaction");
  assert.deepEqual(transactions[0].splits.map(({ amount, categoryId, description }) => [amount, categories.find(({ id }) => id === categoryId).name, description]), [
    [20.01, "Groceries", "Dinner with Grace"],
    [12, "Transport", ""],
    [-2.01, "Eating out", ""],
  ]);
  await row.click();
  await page.getByLabel("Description of part 1").waitFor();
  assert.equal(await page.getByLabel("Description of part 1").inputValue(), "Dinner with Grace");
});

for (const [currency, total, first, rest] of [["JPY", "1001", "334", "667"], ["EUR", "0.03", "0.01", "0.02"], ["BHD", "1.003", "0.334", "0.669"]]) {
  test(`what is left is exact in ${currency}`, async (t) => {
    const user = await account();
    await household(user, 0);
    await user.post("/wallet", { name: "Abroad", currency, balance: 0 });
    const page = await open(t, user, "/?entry=new");
    await page.getByLabel("Currency").selectOption(currency);
    await page.getByLabel("Amount", { exact: true }).fill(total);
    await page.getByRole("button", { name: "Split" }).click();
    await fill(page, 1, "Groceries", first);
    await page.getByLabel("Category of part 2").selectOption({ label: "Rent" });
    await page.getByRole("button", { name: "Use what is left" }).click();
    assert.equal(await page.getByLabel("Amount of part 2").inputValue(), rest);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved ·").waitFor();
    const { transactions } = await user.get("/transaction");
    assert.deepEqual(transactions[0].splits.map(({ amount }) => amount), [Number(first), Number(rest)]);
  });
}

/** tabTo presses Tab until the control with a name has the focus. */
async function tabTo(page, role, name) {
  const control = page.getByRole(role, { name, exact: true });
  for (let i = 0; i < 40; i++) {
    if (await control.evaluate((element) => element === document.activeElement).catch(() => false)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`${name} is not reached with Tab`);
}

test("a purchase is split with the keyboard only", async (t) => {
  const user = await account();
  await household(user, 0);
  const page = await open(t, user, "/?entry=new");
  await page.getByLabel("Amount", { exact: true }).waitFor();
  await page.keyboard.type("9");
  await tabTo(page, "button", "Split");
  await page.keyboard.press("Enter");
  await tabTo(page, "combobox", "Category of part 1");
  await page.keyboard.type("Gro");
  await tabTo(page, "textbox", "Amount of part 1");
  await page.keyboard.type("4");
  await tabTo(page, "combobox", "Category of part 2");
  await page.keyboard.type("Ren");
  await tabTo(page, "button", "Use what is left");
  await page.keyboard.press("Enter");
  await page.getByText("The whole amount is distributed").waitFor();
  await tabTo(page, "button", "Save");
  await page.keyboard.press("Enter");
  await page.getByText("Saved · €9.00").waitFor();
  const { transactions } = await user.get("/transaction");
  assert.deepEqual(transactions[0].splits.map(({ amount }) => amount), [4, 5]);
});

test("a split is edited, and ends with one category", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const date = new Date().toISOString().slice(0, 10);
  const splits = [{ categoryId: categories[0].id, amount: 6 }, { categoryId: categories[3].id, amount: 4 }];
  const { transaction } = await user.post("/transaction", { amount: 10, type: "expense", currency: "EUR", date, walletId: wallets[0].id, splits });
  const page = await open(t, user, `/transactions?entry=${transaction.id}`, tablet);
  await page.getByLabel("Amount", { exact: true }).fill("11");
  await page.getByText("Left to distribute: €1.00").waitFor();
  await page.getByLabel("Amount of part 2").fill("5");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("link", { name: /−€11\.00/ }).click();
  await page.getByRole("button", { name: "One category only" }).click();
  await page.getByRole("radio", { name: "Rent" }).check();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Category of Rent" }).waitFor();
  const answer = await user.get(`/transaction/${transaction.id}`);
  assert.equal(answer.transaction.splits, undefined);
  assert.equal(answer.transaction.categoryId, categories[1].id);
});

for (const { name, options } of sizes) {
  test(`the split editor is accessible: ${name}`, async (t) => {
    const user = await account();
    await household(user, 0);
    const page = await open(t, user, "/?entry=new", options);
    await page.getByLabel("Amount", { exact: true }).fill("30");
    await page.getByRole("button", { name: "Split" }).click();
    await fill(page, 1, "Groceries", "12");
    await accessibleInLooks(page);
  });
}
