import assert from "node:assert/strict";
import test from "node:test";
import { accessibleInLooks, account, household, open, phone, tablet, until, url } from "../console.js";
import { bakery } from "../receipts.js";

const today = new Date().toISOString().slice(0, 10);
const paper = bakery.replace("18/11/2026", today.split("-").reverse().join("/"));

/** shopper is an account with a booked receipt of three lines, and another transaction of that day. */
async function shopper() {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const ids = { walletId: wallets[0].id, categoryId: categories[0].id };
  const form = new FormData();
  for (const [name, id] of Object.entries(ids)) form.set(name, id);
  form.set("receipt", new Blob([paper], { type: "text/plain" }), "bakery.txt");
  const response = await fetch(`${url}/api/v1/transaction/receipt?mode=items`, { method: "POST", headers: { Authorization: `Bearer ${user.token}` }, body: form });
  assert.equal(response.status, 201, await response.text());
  await user.post("/transaction", { amount: 2, type: "expense", currency: "EUR", date: today, description: "Bus", ...ids });
  return { user, ...ids, categories };
}

test("a receipt is one row, which opens to its lines, and its actions are those of all lines", async (t) => {
  const { user, categories } = await shopper();
  const page = await open(t, user, "/transactions", phone);
  const receipt = page.getByRole("button", { name: /CORNER BAKERY.*3 items.*−€13\.50/ });
  await receipt.waitFor();
  assert.equal(await page.locator("[data-id]").count(), 2);
  assert.equal(await receipt.getAttribute("aria-expanded"), "false");
  await receipt.click();
  await page.getByRole("link", { name: /Sourdough bread.*−€5\.60/ }).waitFor();
  assert.equal(await page.locator("[data-id]").count(), 5);
  await page.getByRole("link", { name: /Coffee/ }).click();
  assert.equal(await page.getByLabel("Amount", { exact: true }).inputValue(), "3.10");
  await page.keyboard.press("Escape");
  await receipt.click();
  await page.getByRole("link", { name: /Coffee/ }).waitFor({ state: "detached" });

  // The keys for the active row change all lines.
  await receipt.focus();
  await page.keyboard.press("c");
  await page.getByRole("dialog", { name: "Change category" }).waitFor();
  await page.keyboard.type("Eat");
  await page.keyboard.press("Enter");
  await page.getByText("Now in Eating out").waitFor();
  const eating = categories.find(({ name }) => name === "Eating out").id;
  await until(async () => (await user.get(`/transaction?categoryId=${eating}`)).transactions.length === 3);
  await receipt.focus();
  await page.keyboard.press("x");
  await page.getByText("3 selected").first().waitFor();
  await page.keyboard.press("Delete");
  await page.getByText("3 transactions deleted").waitFor();
  assert.equal(await page.locator("[data-id]").count(), 1);
  await page.getByRole("button", { name: "Undo" }).click();
  await receipt.waitFor();
});

test("a receipt in a budget is one row, which opens to its lines", async (t) => {
  const { user, walletId, categoryId } = await shopper();
  const { budget } = await user.post("/budgets", { name: "Food", currency: "EUR", limit: 100, period: "monthly", startDate: `${today.slice(0, 7)}-01`, walletId, categoryIds: [categoryId] });
  const page = await open(t, user, `/budgets/${budget.id}`);
  const receipt = page.locator("summary", { hasText: "CORNER BAKERY" });
  await receipt.waitFor();
  assert.match(await receipt.textContent(), /3 items.*−€13\.50/);
  await receipt.click();
  await page.getByRole("link", { name: /Sourdough bread.*−€5\.60/ }).click();
  assert.equal(await page.getByLabel("Amount", { exact: true }).inputValue(), "5.60");
});

for (const [name, options] of Object.entries({ phone, tablet })) {
  test(`the rows of a receipt are accessible: ${name}`, async (t) => {
    const { user } = await shopper();
    const page = await open(t, user, "/transactions", options);
    await page.getByRole("button", { name: /CORNER BAKERY/ }).click();
    await page.getByRole("link", { name: /Coffee/ }).waitFor();
    await accessibleInLooks(page);
  });
}
