import assert from "node:assert/strict";
import test from "node:test";
import { account, accessibleInLooks, open, phone } from "../console.js";
import { bakery } from "../receipts.js";

/** traveler is an account with a wallet in dollars, which new transactions use, one in euros for a trip, and a category. */
async function traveler() {
  const user = await account();
  const wallets = [];
  for (const [name, currency, balance] of [["Checking account", "USD", 1250.4], ["Trip", "EUR", 300]]) wallets.push((await user.post("/wallet", { name, currency, balance })).wallet);
  await user.post("/categories", { name: "Groceries" });
  await user.patch("/settings", { defaultWalletId: wallets[0].id });
  return { user, wallets };
}

const notice = (page) => page.getByRole("status").filter({ hasText: "Checking account is kept in USD. This amount would be a separate balance in EUR." });

test("the form says that an amount has another currency than its wallet, and offers both ways out", async (t) => {
  const { user, wallets } = await traveler();
  const page = await open(t, user, "/transactions?entry=new", phone);
  const [currency, wallet] = [page.getByLabel("Currency"), page.getByLabel("Wallet", { exact: true })];
  await page.waitForFunction((id) => [...document.querySelectorAll("select")].some(({ value }) => value === id), wallets[0].id);
  await currency.selectOption("EUR");
  await notice(page).waitFor();
  await accessibleInLooks(page);
  await notice(page).getByRole("button", { name: "Change to USD" }).click();
  await notice(page).waitFor({ state: "detached" });
  assert.equal(await currency.inputValue(), "USD");

  await currency.selectOption("EUR");
  await notice(page).getByRole("button", { name: "Use Trip (EUR)" }).click();
  await notice(page).waitFor({ state: "detached" });
  assert.deepEqual([await currency.inputValue(), await wallet.inputValue()], ["EUR", wallets[1].id]);
});

test("a receipt in another currency than its wallet is booked in the right wallet", async (t) => {
  const { user, wallets } = await traveler();
  const page = await open(t, user, "/receipt");
  await page.getByRole("button", { name: "Choose files" }).waitFor();
  await page.locator("input[type=file]").setInputFiles([{ name: "bakery.txt", mimeType: "text/plain", buffer: Buffer.from(bakery) }]);
  await page.getByLabel("Merchant").waitFor();
  await notice(page).getByRole("button", { name: "Use Trip (EUR)" }).click();
  await notice(page).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Book 3 transactions" }).click();
  await page.getByText("All receipts are booked").waitFor();
  const { transactions } = await user.get("/transaction");
  assert.deepEqual([...new Set(transactions.map(({ walletId, currency }) => `${walletId} ${currency}`))], [`${wallets[1].id} EUR`]);
});

test("an import offers a wallet in the currency of the account", async (t) => {
  const { user } = await traveler();
  const statement = `:20:START\n:25:10020030/1234567\n:28C:1/1\n:60F:C260101EUR100,00\n:61:2601050105D20,00NMSCNONREF\n:86:Corner Shop milk\n:62F:C260131EUR80,00\n-\n`;
  const page = await open(t, user, "/imports");
  await page.getByRole("button", { name: "Choose a file" }).waitFor();
  await page.locator("input[type=file]").setInputFiles([{ name: "statement.sta", mimeType: "text/plain", buffer: Buffer.from(statement) }]);
  await page.waitForURL("**/imports/*");
  const wallet = page.getByRole("combobox", { name: /^Wallet for/ });
  await wallet.selectOption({ label: "Checking account · USD" });
  await notice(page).getByRole("button", { name: "Use Trip (EUR)" }).click();
  await notice(page).waitFor({ state: "detached" });
});

test("Home opens in the currency of the wallets, or of the settings, and not in that of one receipt", async (t) => {
  const { user, wallets } = await traveler();
  await user.patch(`/wallet/${wallets[1].id}`, { archived: true });
  const { categories } = await user.get("/categories");
  const date = new Date().toISOString().slice(0, 10);
  await user.post("/transaction", { amount: 13.5, type: "expense", currency: "EUR", date, description: "Bakery", walletId: wallets[0].id, categoryId: categories[0].id });
  const page = await open(t, user);
  const balance = page.locator("dl div", { hasText: "Balance" }).locator("dd");
  await balance.waitFor();
  assert.equal(await balance.textContent(), "$1,250.40");
  await user.patch("/settings", { baseCurrency: "EUR" });
  await page.reload();
  await page.getByRole("radio", { name: "EUR" }).and(page.locator(":checked")).waitFor();
});
