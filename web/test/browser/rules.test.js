import assert from "node:assert/strict";
import test from "node:test";
import { accessible, accessibleInLooks, account, closeToast, household, open, sizes, until } from "../console.js";

const names = async (user) => (await user.get("/rules")).rules.map(({ name }) => name);

const categoriesOf = async (user) => (await user.get("/transaction")).transactions.map(({ categoryId }) => categoryId);

test("a rule is created, tried, applied, moved, switched off and deleted", async (t) => {
  const user = await account();
  const { categories } = await household(user, 9);
  const page = await open(t, user);
  await page.getByRole("link", { name: "Rules" }).click();
  await page.getByRole("button", { name: "New rule" }).click();
  await page.getByLabel("Name").fill("Purchases");
  await page.getByLabel("Condition 1", { exact: true }).selectOption("description");
  await page.getByLabel("Condition 1: value").fill("Purchase");
  await page.getByLabel("Action 1: value").selectOption(categories[1].id);
  await page.getByRole("button", { name: "Create rule" }).click();
  await page.getByText(/Would change \d transactions of 9 that match\./).waitFor();
  await page.getByRole("heading", { name: "Examples" }).waitFor();
  const before = await categoriesOf(user);
  await page.getByRole("button", { name: "Apply now" }).click();
  await page.getByText("The rule is applied").waitFor();
  await until(async () => (await user.get("/transaction")).transactions.every(({ categoryId }) => categoryId === categories[1].id));
  await accessible(page);
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await page.getByText("7 transactions are as before.").waitFor();
  assert.deepEqual(await categoriesOf(user), before);

  await page.getByRole("button", { name: "New rule" }).click();
  await page.getByLabel("Name").fill("Large");
  await page.getByLabel("Condition 1", { exact: true }).selectOption("amount");
  await page.getByLabel("Condition 1: comparison").selectOption("gt");
  await page.getByLabel("Condition 1: value").fill("50");
  await page.getByLabel("Action 1", { exact: true }).selectOption("addTag");
  await page.getByLabel("Action 1: value").fill("large");
  await page.getByRole("button", { name: "Create rule" }).click();
  await page.getByText(/^Would change/).waitFor();
  await page.getByRole("dialog").locator("footer").getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Move Large up" }).focus();
  await page.keyboard.press("Enter");
  await until(async () => (await names(user))[0] === "Large");
  await page.getByRole("checkbox", { name: "Large is on" }).uncheck();
  await until(async () => !(await user.get("/rules")).rules[0].enabled);
  await page.getByRole("button", { name: "Actions for Purchases" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await closeToast(page, "Rule deleted");
  await until(async () => (await names(user)).length === 1);
  assert.deepEqual(await names(user), ["Large"]);
});

test("the menu of a rule undoes its application, except for transactions that were changed since", async (t) => {
  const user = await account();
  const { categories, transactions } = await household(user, 2);
  const { rule } = await user.post("/rules", { name: "Seen", conditions: [{ field: "amount", op: "gt", values: ["0"] }], actions: [{ kind: "setNotes", value: "seen" }] });
  await user.post(`/rules/${rule.id}/apply`, {});
  await until(async () => (await user.get(`/rules/${rule.id}`)).rule.progress.status === "done");
  await user.patch(`/transaction/${transactions[0].id}`, { notes: "mine", categoryId: categories[0].id });
  const page = await open(t, user, "/rules");
  await page.getByRole("button", { name: "Actions for Seen" }).click();
  await page.getByRole("menuitem", { name: "Undo the application" }).click();
  await page.getByText("1 transaction is as before. Changed since: 1.").waitFor();
  assert.deepEqual((await user.get("/transaction")).transactions.map(({ notes = "" }) => notes).sort(), ["", "mine"]);
  await page.getByRole("button", { name: "Actions for Seen" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).waitFor();
  assert.equal(await page.getByRole("menuitem", { name: "Undo the application" }).count(), 0);
});

test("a preview states how many transactions it examined, and a limit of patterns has its text", async (t) => {
  const user = await account();
  const { transactions, categories } = await household(user, 1);
  const { walletId, currency } = transactions[0];
  const long = { amount: 1, type: "expense", date: "2026-03-14", description: "a".repeat(1000), walletId, currency, categoryId: categories[0].id };
  await user.post("/transaction/batch", { transactions: Array(100).fill(long) });
  const pattern = { field: "description", op: "matches", values: ["(?:[^q]?){130}Q0$"] };
  await user.post("/rules", { name: "Patterns", match: "any", conditions: Array(7).fill(pattern), actions: [{ kind: "addTag", value: "seen" }] });
  const page = await open(t, user, "/rules");
  await page.getByRole("button", { name: "Actions for Patterns" }).click();
  await page.getByRole("menuitem", { name: "Try on your transactions" }).click();
  await page.getByText(/^Only the newest \d\d transactions were examined\.$/).waitFor();
  await page.getByRole("dialog").locator("footer").getByRole("button", { name: "Close" }).click();

  await page.getByRole("button", { name: "New rule" }).click();
  await page.getByLabel("Name").fill("More");
  await page.getByLabel("Condition 1", { exact: true }).selectOption("text");
  await page.getByLabel("Condition 1: comparison").selectOption("matches");
  await page.getByLabel("Condition 1: value").fill(pattern.values[0]);
  await page.getByLabel("Action 1", { exact: true }).selectOption("addTag");
  await page.getByLabel("Action 1: value").fill("more");
  await page.getByRole("button", { name: "Create rule" }).click();
  await page.getByText("The patterns of your rules together take too long. Simplify or delete a pattern.").waitFor();
});

test("a suggested rule opens the form filled in", async (t) => {
  const user = await account();
  const { transactions, categories } = await household(user, 3);
  for (const { id } of transactions) await user.patch(`/transaction/${id}`, { payee: "Corner Shop", categoryId: categories[1].id });
  const page = await open(t, user, "/rules");
  await page.getByText(`Corner Shop → ${categories[1].name}`).waitFor();
  await page.getByText("chosen 3 times").waitFor();
  await accessible(page);
  await page.getByRole("button", { name: "Review the rule for Corner Shop" }).click();
  await until(async () => (await page.getByLabel("Condition 1: value").inputValue()) === "Corner Shop");
  await until(async () => (await page.getByLabel("Action 1: value").inputValue()) === categories[1].id);
  await page.getByRole("button", { name: "Create rule" }).click();
  await page.getByText(/^Would change/).waitFor();
  assert.deepEqual(await names(user), ["Corner Shop"]);
  await page.getByRole("heading", { name: "Suggested rules" }).waitFor({ state: "detached" });
});

test("a rule that was changed elsewhere shows both versions", async (t) => {
  const user = await account();
  const { categories } = await household(user, 0);
  const { rule } = await user.post("/rules", { name: "Market", conditions: [{ field: "text", op: "contains", values: ["market"] }], actions: [{ kind: "setCategory", value: categories[0].id }] });
  const page = await open(t, user, "/rules");
  await page.getByRole("button", { name: /^Market/ }).click();
  await page.getByLabel("Name").fill("Food");
  await user.patch(`/rules/${rule.id}`, { name: "Farm", actions: [{ kind: "setCategory", value: categories[1].id }] });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const conflict = page.getByRole("dialog", { name: "This was changed elsewhere" });
  await conflict.getByText("Farm").waitFor();
  await conflict.getByText(`Set the category: ${categories[1].name}`).waitFor();
  await accessible(page);
  await conflict.getByRole("button", { name: "Keep the other" }).click();
  assert.equal(await page.getByLabel("Name").inputValue(), "Farm");
  await page.getByLabel("Name").fill("Food");
  await user.patch(`/rules/${rule.id}`, { stop: true });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await conflict.getByRole("button", { name: "Keep mine" }).click();
  await page.getByText(/^Would change/).waitFor();
  const kept = (await user.get(`/rules/${rule.id}`)).rule;
  assert.deepEqual([kept.name, kept.stop, kept.actions[0].value], ["Food", false, categories[1].id]);
});

test("a rule is switched off with its version, and stays on after a change elsewhere", async (t) => {
  const user = await account();
  const { categories } = await household(user, 0);
  const { rule } = await user.post("/rules", { name: "Market", conditions: [{ field: "text", op: "contains", values: ["market"] }], actions: [{ kind: "setCategory", value: categories[0].id }] });
  const page = await open(t, user, "/rules");
  // The rule changes after the console has read its version.
  await page.route(`**/api/v1/rules/${rule.id}`, async (route) => {
    if (route.request().method() === "PATCH") await user.patch(`/rules/${rule.id}`, { name: "Farm" });
    await route.continue();
  });
  const box = page.getByRole("checkbox", { name: "Market is on" });
  await box.click();
  await page.getByRole("checkbox", { name: "Farm is on", checked: true }).waitFor();
  await page.getByRole("status").filter({ hasText: "changed" }).waitFor();
  assert.equal((await user.get(`/rules/${rule.id}`)).rule.enabled, true);
  await page.unroute(`**/api/v1/rules/${rule.id}`);
  const sent = page.waitForRequest((request) => request.method() === "PATCH");
  await page.getByRole("checkbox", { name: "Farm is on" }).uncheck();
  assert.ok((await sent).headers()["if-match"]);
  await until(async () => !(await user.get(`/rules/${rule.id}`)).rule.enabled);
});

for (const { name, options } of sizes) {
  test(`the rules are accessible: ${name}`, async (t) => {
    const user = await account();
    const { categories } = await household(user, 1);
    await user.post("/rules", { name: "Groceries at the market", conditions: [{ field: "text", op: "contains", values: ["market"] }], actions: [{ kind: "setCategory", value: categories[0].id }] });
    const page = await open(t, user, "/rules", options);
    await page.getByRole("button", { name: "Actions for Groceries at the market" }).waitFor();
    await accessibleInLooks(page);
    await page.getByRole("button", { name: /^Groceries at the market/ }).click();
    await page.getByLabel("Condition 1: value").waitFor();
    await accessibleInLooks(page);
  });
}
