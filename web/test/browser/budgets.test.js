import assert from "node:assert/strict";
import test from "node:test";
import { accessibleInLooks, account, closeToast, household, open, phone, sizes, until } from "../console.js";

const iso = (daysFromNow) => new Date(Date.now() + daysFromNow * 86_400_000).toISOString().slice(0, 10);
const firstOfMonth = `${iso(0).slice(0, 7)}-01`;

/** budgetOf creates a monthly budget of 100 EUR for groceries in the first wallet, which has no spending yet. */
async function budgetOf(user, home, changes = {}) {
  const body = { name: "Food", currency: "EUR", limit: 100, period: "monthly", startDate: firstOfMonth, walletId: home.wallets[0].id, categoryIds: [home.categories[0].id], ...changes };
  return (await user.post("/budgets", body)).budget;
}

function spend(user, home, amount) {
  const [wallet, category] = [home.wallets[0].id, home.categories[0].id];
  return user.post("/transaction", { amount, type: "expense", currency: "EUR", date: iso(0), description: "Market", walletId: wallet, categoryId: category });
}

test("a user creates a budget, and sees spending and an alert live", async (t) => {
  const user = await account();
  const home = await household(user, 0);
  const page = await open(t, user, "/budgets", phone);
  await page.getByText("No budgets yet").waitFor();
  await page.getByRole("link", { name: "Create budget" }).click();

  const form = page.getByRole("dialog", { name: "New budget" });
  await form.getByRole("button", { name: "Create budget" }).click();
  await form.getByText("Enter a name").waitFor();
  await form.getByText("Enter an amount", { exact: false }).waitFor();
  await form.getByText("Choose at least one category").waitFor();
  await form.getByLabel("Name").fill("Food");
  await form.getByLabel("Limit").fill("100");
  await form.getByLabel("Wallet").selectOption({ label: "Checking account · EUR" });
  await form.getByRole("button", { name: "Groceries" }).click();
  await form.getByRole("button", { name: "Create budget" }).click();

  await page.waitForURL(/\/budgets\/[0-9a-f-]{36}$/);
  await page.getByText("left of €100.00").waitFor();
  await spend(user, home, 85.5);
  await page.getByText("Spent €85.50").waitFor();
  await page.getByRole("link", { name: /Market/ }).waitFor();
  await spend(user, home, 20);
  await page.getByText("over €100.00").waitFor();
  const created = (await user.get("/budgets")).budgets;
  assert.equal(created.length, 1, "the form created one budget");
  assert.deepEqual(created[0].alertThresholds, [80, 100]);
});

test("a double tap creates one budget, and a problem of the API is shown at its field", async (t) => {
  const user = await account();
  const home = await household(user, 0);
  await budgetOf(user, home);
  const page = await open(t, user, "/budgets?budget=new");
  const form = page.getByRole("dialog");
  await form.getByLabel("Name").fill("Food");
  await form.getByLabel("Limit").fill("50");
  await form.getByLabel("Wallet").selectOption({ label: "Checking account · EUR" });
  await form.getByRole("button", { name: "Groceries" }).click();
  await form.getByRole("button", { name: "Create budget" }).click();
  await form.getByRole("alert").filter({ hasText: "You have a budget with this name" }).waitFor();
  assert.equal(await form.getByLabel("Name").getAttribute("aria-invalid"), "true");
  await form.getByLabel("Name").fill("Food 2");
  await form.getByRole("button", { name: "Create budget" }).dblclick();
  await page.waitForURL(/\/budgets\/[0-9a-f-]{36}$/);
  assert.equal((await user.get("/budgets")).budgets.length, 2);
});

test("a budget that was changed elsewhere shows both versions", async (t) => {
  const user = await account();
  const home = await household(user, 0);
  const budget = await budgetOf(user, home);
  const page = await open(t, user, `/budgets/${budget.id}`);
  await page.getByRole("link", { name: "Edit" }).click();
  const form = page.getByRole("dialog", { name: "Edit budget" });
  await form.getByLabel("Limit").fill("150");
  await user.patch(`/budgets/${budget.id}`, { limit: 120 });
  await form.getByRole("button", { name: "Save" }).click();
  const conflict = page.getByRole("dialog", { name: "This was changed elsewhere" });
  await conflict.getByText("120.00 EUR").waitFor();
  await conflict.getByRole("button", { name: "Keep mine" }).click();
  await page.getByText("left of €150.00").waitFor();
  assert.equal((await user.get(`/budgets/${budget.id}`)).budget.limit, 150);
});

test("the alerts of a budget move with the arrow keys", async (t) => {
  const user = await account();
  const home = await household(user, 0);
  const budget = await budgetOf(user, home);
  const page = await open(t, user, `/budgets/${budget.id}?edit=`);
  const form = page.getByRole("dialog");
  await form.getByRole("slider", { name: "Alert 1" }).focus();
  await page.keyboard.press("PageDown");
  await page.keyboard.press("ArrowLeft");
  await form.getByRole("button", { name: "Remove the alert at 100%" }).click();
  await form.getByRole("button", { name: "Save" }).click();
  await form.waitFor({ state: "detached" });
  assert.deepEqual((await user.get(`/budgets/${budget.id}`)).budget.alertThresholds, [69]);
});

test("a budget shows its earlier periods", async (t) => {
  const user = await account();
  const home = await household(user, 0);
  const budget = await budgetOf(user, home, { period: "daily", startDate: iso(-3) });
  await user.post("/transaction", { amount: 42, type: "expense", currency: "EUR", date: iso(-1), description: "Yesterday", walletId: home.wallets[0].id, categoryId: home.categories[0].id });
  const page = await open(t, user, `/budgets/${budget.id}`);
  await page.getByRole("button", { name: /: €42\.00$/ }).click();
  await page.getByText("Spent €42.00").waitFor();
  assert.equal(new URL(page.url()).searchParams.get("at"), iso(-1));
  await page.getByRole("link", { name: "Back to the current period" }).click();
  await page.getByText("Spent €0.00").waitFor();
});

test("a deleted budget comes back with Undo, and is deleted when the toast closes", async (t) => {
  const user = await account();
  const home = await household(user, 0);
  const budget = await budgetOf(user, home);
  const page = await open(t, user, `/budgets/${budget.id}`);
  const remove = async () => {
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByText("No budgets yet").waitFor();
  };
  await remove();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("link", { name: /Food/ }).click();
  await remove();
  await closeToast(page, "Food was deleted");
  await until(async () => (await user.get("/budgets")).budgets.length === 0);
});

for (const { name, options } of sizes) {
  test(`the budgets are accessible: ${name}`, async (t) => {
    const user = await account("Ada Lovelace");
    const home = await household(user, 24);
    await budgetOf(user, home, { name: "Ein langer Name für die Lebensmittel der ganzen Familie", limit: 999999999999.99, startDate: "2026-01-01" });
    await budgetOf(user, home, { name: "Over", limit: 1 });
    await budgetOf(user, home, { name: "Later", startDate: iso(20), period: "custom", endDate: iso(40) });
    const { budgets } = await user.get("/budgets");
    const page = await open(t, user, "/budgets", options);
    await page.getByRole("link", { name: /Over/ }).waitFor();
    await accessibleInLooks(page);
    await page.goto(new URL(`/budgets/${budgets.at(-1).id}`, page.url()).href);
    await page.locator("figure").first().waitFor();
    await accessibleInLooks(page);
    await page.goto(new URL(`/budgets/${budgets.at(-1).id}?edit=`, page.url()).href);
    await page.getByRole("dialog").locator("form").waitFor();
    await accessibleInLooks(page);
  });
}
