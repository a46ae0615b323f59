import assert from "node:assert/strict";
import test from "node:test";
import { accessible, accessibleInLooks, account, household, open, phone, sizes, until } from "../console.js";

const names = (page) => page.locator("main .page > .list > li .name").allInnerTexts();

test("a wallet is created, edited, archived and restored", async (t) => {
  const user = await account();
  const page = await open(t, user, "/wallets", phone);
  await page.getByRole("button", { name: "New wallet" }).click();
  await page.getByRole("button", { name: "Create wallet" }).click();
  await page.getByRole("alert").filter({ hasText: "required" }).waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Cash");
  await page.getByLabel("Currency").selectOption("JPY");
  await page.getByLabel("Opening balance").fill("12.5");
  await page.getByRole("button", { name: "Create wallet" }).click();
  await page.getByRole("alert").filter({ hasText: "JPY has no decimals" }).waitFor();
  await page.getByLabel("Opening balance").fill("999,999,999,999");
  await page.getByRole("radio", { name: "Violet" }).check({ force: true });
  await page.getByRole("radio", { name: "👛" }).check({ force: true });
  await page.getByRole("button", { name: "Create wallet" }).click();
  await page.locator("main .list").getByText("¥999,999,999,999").waitFor();
  const [created] = (await user.get("/wallet")).wallets;
  assert.deepEqual([created.name, created.color, created.icon], ["Cash", "#8a63ad", "👛"]);

  await page.getByRole("button", { name: "Actions for Cash" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Purse");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Actions for Purse" }).click();
  await page.getByRole("menuitem", { name: "Archive" }).click();
  await page.getByText("All your wallets are archived").waitFor();
  assert.equal((await user.get(`/wallet/${created.id}`)).wallet.archived, true);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.locator("main .list").getByText("Purse").waitFor();
  assert.equal((await user.get(`/wallet/${created.id}`)).wallet.archived, false);
});

test("an opening balance and its day are entered and corrected", async (t) => {
  const user = await account();
  const page = await open(t, user, "/wallets", phone);
  await page.getByRole("button", { name: "New wallet" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Cash");
  await page.getByLabel("Currency").selectOption("EUR");
  await page.getByLabel("Opening balance").fill("1000");
  await page.getByLabel("Opening day").fill("2026-01-31");
  await page.getByRole("button", { name: "Create wallet" }).click();
  await page.locator("main .list").getByText("€1,000.00").waitFor();
  const { id, ...created } = (await user.get("/wallet")).wallets[0];
  assert.deepEqual([created.openingDate, created.initialBalance], ["2026-01-31", 1000]);

  await page.getByRole("button", { name: "Actions for Cash" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await page.getByLabel("Opening balance").fill("much");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").filter({ hasText: "amount" }).waitFor();
  await page.getByLabel("Opening balance").fill("-12.50");
  await page.getByLabel("Opening day").fill("2025-12-31");
  await accessible(page);
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator("main .list").getByText("12.50").waitFor();
  const { wallet } = await user.get(`/wallet/${id}`);
  assert.deepEqual([wallet.openingDate, wallet.initialBalance, wallet.balance], ["2025-12-31", -12.5, -12.5]);

  await page.getByRole("button", { name: "Actions for Cash" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await page.getByLabel("Opening day").fill("");
  await page.getByText("Without a day, the opening balance counts for all days.").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await until(async () => !("openingDate" in (await user.get(`/wallet/${id}`)).wallet));
});

test("a change of the same wallet elsewhere is shown beside the user's own", async (t) => {
  const user = await account();
  const { wallet } = await user.post("/wallet", { name: "Cash", currency: "EUR" });
  const page = await open(t, user, `/wallets?edit=${wallet.id}`);
  await page.getByLabel("Name", { exact: true }).fill("Purse");
  await user.patch(`/wallet/${wallet.id}`, { name: "Pocket money" });
  await page.getByRole("button", { name: "Save" }).click();
  const row = page.getByRole("row", { name: "Name" });
  await row.getByText("Pocket money").waitFor();
  await row.getByText("Purse").waitFor();
  await page.getByRole("button", { name: "Keep mine" }).click();
  await page.locator("main .list").getByText("Purse").waitFor();
  assert.equal((await user.get(`/wallet/${wallet.id}`)).wallet.name, "Purse");
});

test("a wallet with transactions cannot be deleted, an empty one can", async (t) => {
  const user = await account();
  await household(user, 2);
  await user.post("/wallet", { name: "Unused", currency: "EUR" });
  const page = await open(t, user, "/wallets");
  await page.getByRole("button", { name: "Actions for Cash" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "“Cash” cannot be deleted" });
  await dialog.getByText("It has transactions").waitFor();
  await accessible(page);
  await dialog.getByRole("button", { name: "Archive" }).click();
  await page.getByText("1 archived wallet").waitFor();

  await page.getByRole("button", { name: "Actions for Unused" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const deleted = page.waitForResponse((response) => response.request().method() === "DELETE");
  await page.locator(".toast", { hasText: "Unused" }).getByRole("button", { name: "Close" }).click();
  assert.equal((await deleted).status(), 200);
  assert.deepEqual(await names(page), ["Checking account"]);
});

test("the keyboard and dragging change the order of wallets", async (t) => {
  const user = await account();
  for (const name of ["Third", "Second", "First"]) await user.post("/wallet", { name, currency: "EUR" });
  const page = await open(t, user, "/wallets");
  await page.getByRole("button", { name: "Change the order" }).click();
  const saved = (...wanted) => until(async () => (await user.get("/wallet")).wallets.map(({ name }) => name).join() === wanted.join());

  await page.getByRole("button", { name: "Move Third" }).press("ArrowUp");
  await page.getByText("Third, place 2 of 3").waitFor({ state: "attached" });
  await saved("First", "Third", "Second");

  await page.getByRole("button", { name: "Move Second" }).hover();
  await page.mouse.down();
  const target = await page.getByRole("button", { name: "Move First" }).boundingBox();
  await page.mouse.move(target.x + 10, target.y + 10, { steps: 4 });
  await page.mouse.up();
  await saved("Second", "First", "Third");
  await page.getByRole("button", { name: "Done" }).click();
  await until(async () => (await names(page)).join() === "Second,First,Third");
});

for (const { name, options } of sizes) {
  test(`the wallets are accessible: ${name}`, async (t) => {
    const user = await account();
    const page = await open(t, user, "/wallets", options);
    await page.locator(".empty").waitFor();
    await accessibleInLooks(page);
    const { wallets } = await household(user, 2);
    await user.post("/wallet", { name: "A wallet with a name that is much longer than a row of the list has room for", currency: "USD", balance: 999999999999.99 });
    await page.locator("main .list > li").nth(2).waitFor();
    await accessibleInLooks(page);
    await page.goto(`${page.url()}?edit=${wallets[0].id}`);
    await page.locator("#wallet").waitFor();
    await accessibleInLooks(page);
  });
}
