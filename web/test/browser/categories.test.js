import assert from "node:assert/strict";
import test from "node:test";
import { accessible, accessibleInLooks, account, household, open, phone, sizes, until } from "../console.js";

test("starter categories fill an empty list", async (t) => {
  const user = await account();
  const page = await open(t, user, "/categories", phone);
  await page.getByRole("button", { name: "🛒 Groceries" }).click();
  await page.getByRole("button", { name: "Add 6 categories" }).click();
  const rows = page.getByRole("button", { name: /^Actions for / });
  await rows.nth(5).waitFor();
  // Each category is a request. The list may show one before the next is sent.
  await until(async () => (await user.get("/categories")).categories.length === 6);
  const { categories } = await user.get("/categories");
  assert.equal(categories.find(({ name }) => name === "Salary").kind, "income");
});

test("a category is created, edited and deleted; a name that exists is rejected at its field", async (t) => {
  const user = await account();
  await user.post("/categories", { name: "Rent" });
  const page = await open(t, user, "/categories");
  await page.getByRole("button", { name: "New category" }).click();
  await page.getByLabel("Name", { exact: true }).fill("rent");
  await page.getByRole("button", { name: "Create category" }).click();
  await page.getByRole("alert").filter({ hasText: "already have a category" }).waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Books");
  await page.getByLabel("Another emoji").fill("📚📖");
  await page.getByRole("button", { name: "Create category" }).click();
  await page.getByRole("button", { name: "Books", exact: true }).click();
  await page.getByRole("radio", { name: "Both" }).check({ force: true });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const books = (await user.get("/categories")).categories.find(({ name }) => name === "Books");
  assert.deepEqual([books.icon, books.kind], ["📖", "both"]);
  // The category moves to the group of its kind, which closes an open menu.
  await page.getByRole("region", { name: "Expenses and income" }).getByText("Books").waitFor();

  await page.getByRole("button", { name: "Actions for Books" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("button", { name: "Actions for Books" }).waitFor();
  assert.equal((await user.get("/categories")).categories.length, 2);
});

test("a category that is in use is merged into another one", async (t) => {
  const user = await account();
  const { categories, wallets } = await household(user, 8);
  const [groceries, , eating] = categories;
  await user.post("/budgets", { name: "Food", walletId: wallets[0].id, currency: "EUR", limit: 100, period: "monthly", startDate: "2026-01-01", categoryIds: [eating.id] });
  const page = await open(t, user, "/categories");
  await page.getByRole("button", { name: "Actions for Eating out" }).press("Enter");
  await page.getByRole("menuitem", { name: "Delete" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Delete “Eating out”" });
  await dialog.getByText("Transactions use “Eating out”. The budget “Food” uses it.").waitFor();
  await dialog.getByRole("button", { name: "Merge" }).click();
  await dialog.getByRole("alert").filter({ hasText: "required" }).waitFor();
  await dialog.getByLabel("New category").selectOption({ label: "Groceries" });
  await dialog.getByText("Everything in “Eating out” will be in “Groceries”.").waitFor();
  await accessible(page);
  await dialog.getByRole("button", { name: "Merge" }).click();
  await page.getByText("“Eating out” is now part of “Groceries”").waitFor();
  await page.getByRole("button", { name: "Actions for Eating out" }).waitFor({ state: "detached" });
  const { transactions } = await user.get(`/transaction?categoryId=${groceries.id}`);
  assert.equal(transactions.length, 4, "Groceries has its own 2 transactions and those of Eating out");
});

for (const { name, options } of sizes) {
  test(`the categories are accessible: ${name}`, async (t) => {
    const user = await account();
    const page = await open(t, user, "/categories", options);
    await page.locator(".empty .chip").first().waitFor();
    await accessibleInLooks(page);
    for (let i = 0; i < 12; i++) await user.post("/categories", { name: i ? `Category ${i}` : "A category with a name that is much longer than a row has room for", kind: ["expense", "income", "both"][i % 3] });
    await page.locator("main li").nth(11).waitFor();
    await accessibleInLooks(page);
    await page.goto(`${page.url()}?edit=new`);
    await page.locator("#category").waitFor();
    await accessibleInLooks(page);
  });
}
