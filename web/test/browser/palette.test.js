// The command palette, and the views that it opens.
import assert from "node:assert/strict";
import test from "node:test";
import { accessible, account, closeToast, household, open, phone, url } from "../console.js";

test("filters are saved as a view, which the palette opens", async (t) => {
  const user = await account();
  const { categories } = await household(user, 12);
  await user.patch(`/transaction/${(await user.get("/transaction")).transactions[0].id}`, { payee: "Corner Shop" });
  const page = await open(t, user, `/transactions?category=${categories[0].id}&type=expense&min=20`);
  await page.getByRole("button", { name: "Views" }).click();
  const sheet = page.getByRole("dialog", { name: "Views" });
  await sheet.getByRole("textbox", { name: "Save these filters as" }).fill("Large groceries");
  await accessible(page);
  await page.keyboard.press("Enter");
  await closeToast(page, "Saved: Large groceries");
  const { views } = await user.get("/views");
  assert.deepEqual(views.map(({ name, kind, query }) => [name, kind, query]), [["Large groceries", "transactions", `categoryId=${categories[0].id}&maxAmount=-20&type=expense`]]);

  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Go to" });
  const go = async (text, option) => {
    await palette.getByRole("combobox").fill(text);
    await palette.getByRole("option", { name: option }).first().waitFor();
    await page.keyboard.press("Enter");
    await palette.waitFor({ state: "detached" });
  };
  await go("budg", /Budgets/);
  await page.waitForURL("**/budgets");
  await page.keyboard.press("Control+k");
  await accessible(page);
  await go("large", /Large groceries.*View/);
  await page.waitForURL(/category=.*type=expense.*min=20/);
  await page.keyboard.press("Control+k");
  await palette.getByRole("combobox").fill("corner");
  await palette.getByRole("option", { name: /Corner Shop.*Payee/ }).click();
  await page.waitForURL(/payee=Corner\+Shop/);

  // A view is renamed, and deleted with undo.
  await page.getByRole("button", { name: "Views" }).click();
  await sheet.getByRole("button", { name: "Rename Large groceries" }).click();
  await sheet.locator("li").getByRole("textbox").fill("Groceries");
  await page.keyboard.press("Enter");
  await sheet.getByRole("button", { name: "Groceries", exact: true }).waitFor();
  await sheet.getByRole("button", { name: "Delete Groceries" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await sheet.getByRole("button", { name: "Groceries", exact: true }).click();
  await page.waitForURL(/category=.*type=expense.*min=20/);
});

test("a report is saved as a view, which the list of transactions and the palette open", async (t) => {
  const user = await account();
  const { wallets } = await household(user, 12);
  const page = await open(t, user, `/reports?wallet=${wallets[0].id}&page=spending&by=payee`, phone);
  await page.getByRole("button", { name: "Views" }).click();
  const sheet = page.getByRole("dialog", { name: "Views" });
  await sheet.getByRole("textbox", { name: "Save these filters as" }).fill("Where it goes");
  await accessible(page);
  await page.keyboard.press("Enter");
  await closeToast(page, "Saved: Where it goes");
  const { views } = await user.get("/views");
  assert.deepEqual(views.map(({ kind, query }) => [kind, query]), [["report", `groupBy=payee&walletId=${wallets[0].id}`]]);
  await page.goto(`${url}/transactions`);
  await page.getByRole("button", { name: "Views" }).click();
  await sheet.getByRole("button", { name: "Where it goes", exact: true }).click();
  await page.waitForURL(/reports\?wallet=.*page=spending&by=payee/);
  await page.getByRole("link", { name: "Net worth" }).click();
  await page.getByRole("button", { name: "Views" }).click();
  await sheet.getByRole("textbox", { name: "Save these filters as" }).fill("Worth");
  await page.keyboard.press("Enter");
  await closeToast(page, "Saved: Worth");
  const worth = (await user.get("/views")).views.find(({ name }) => name === "Worth");
  assert.deepEqual([worth.kind, worth.query], ["balances", `walletId=${wallets[0].id}`]);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Go to" }).fill("where");
  await page.getByRole("option", { name: /Where it goes.*View/ }).click();
  await page.waitForURL(/reports\?wallet=.*page=spending&by=payee/);
});
