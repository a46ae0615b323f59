import assert from "node:assert/strict";
import test from "node:test";
import { accessible, account, open, phone, until } from "../console.js";

/** bank gives an account a wallet with a cleared and two other transactions. */
async function bank(user) {
  const { wallet } = await user.post("/wallet", { name: "Bank", currency: "EUR", balance: 100, openingDate: "2026-01-01", kind: "checking" });
  const { category } = await user.post("/categories", { name: "Food" });
  const spend = async (amount, payee, cleared) => {
    const { transaction } = await user.post("/transaction", { amount, payee, date: "2026-02-03", currency: "EUR", walletId: wallet.id, categoryId: category.id, type: "expense" });
    if (cleared) await user.patch(`/transaction/${transaction.id}`, { cleared });
    return transaction;
  };
  const cleared = await spend(10, "Baker", true);
  return { wallet, cleared, uncleared: [await spend(20, "Butcher"), await spend(3.5, "Kiosk")] };
}

test("a wallet is reconciled with the statement of its bank", async (t) => {
  const user = await account();
  const { wallet, cleared, uncleared } = await bank(user);
  const page = await open(t, user, `/wallets/${wallet.id}`, phone);
  const register = page.getByRole("table", { name: /Transactions of Bank/ });
  await register.getByText("Kiosk").waitFor();
  // The newest is first, with the balance after it.
  assert.deepEqual(await register.locator("tbody tr td:last-child").allInnerTexts(), ["€66.50", "€70.00", "€90.00"]);
  await page.getByRole("slider", { name: "Balance over time" }).waitFor();
  await accessible(page);

  await page.getByRole("button", { name: "Reconcile" }).click();
  await page.getByLabel("Last day of the statement").fill("2026-02-28");
  await page.getByLabel("Balance of the statement").fill("70");
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("dialog").locator("dl").getByText("−€20.00").waitFor();
  await accessible(page);
  await page.getByRole("checkbox", { name: /Butcher/ }).check();
  await page.getByRole("button", { name: "Finish", exact: true }).click();
  await page.getByText("2 transactions are locked").waitFor();
  const stored = async (id) => (await user.get(`/transaction/${id}`)).transaction;
  await until(async () => (await stored(uncleared[0].id)).reconciled);
  assert.deepEqual([(await stored(cleared.id)).reconciled, (await stored(uncleared[1].id)).cleared], [true, false]);
  await page.getByRole("heading", { name: "Reconciliations" }).waitFor();

  // A locked transaction changes only if the user insists.
  await register.getByRole("link", { name: /Baker/ }).click();
  await page.getByLabel("Amount", { exact: true }).fill("11");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Change anyway" }).click();
  await until(async () => (await stored(cleared.id)).amount === -11);
  await page.getByText("The opening balance or a reconciled transaction was changed since").waitFor();
});

test("a reconciliation whose answer is lost is repeated with its key", async (t) => {
  const user = await account();
  const { wallet } = await bank(user);
  const page = await open(t, user, `/wallets/${wallet.id}`);
  const keys = [];
  await page.route(/\/reconciliations\?adjust=/, async (route) => {
    keys.push(route.request().headers()["idempotency-key"]);
    if (keys.length > 1) return route.continue();
    await route.fetch();
    return route.abort();
  });
  await page.getByRole("button", { name: "Reconcile" }).click();
  await page.getByLabel("Last day of the statement").fill("2026-02-28");
  await page.getByLabel("Balance of the statement").fill("90");
  await page.getByRole("button", { name: "Compare" }).click();
  const finish = page.getByRole("button", { name: "Finish", exact: true });
  await finish.click();
  await page.getByRole("alert").getByText("cannot be reached").waitFor();
  await finish.click();
  await page.getByText("1 transaction is locked").waitFor();
  assert.equal(keys[1], keys[0]);
  assert.equal((await user.get(`/wallet/${wallet.id}/reconciliations`)).reconciliations.length, 1);
});

test("the balance of a wallet is set", async (t) => {
  const user = await account();
  const { wallet } = await bank(user);
  const page = await open(t, user, `/wallets/${wallet.id}`);
  await page.getByRole("button", { name: "Set balance" }).click();
  await page.getByLabel("Balance at the end of the day").fill("1000");
  await page.getByRole("button", { name: "Save" }).click();
  await until(async () => (await user.get(`/wallet/${wallet.id}`)).wallet.balance === 1000);
  const register = page.getByRole("table", { name: /Transactions of Bank/ });
  await register.getByRole("link", { name: /Adjustment/ }).click();
  await page.getByRole("heading", { name: "Edit adjustment" }).waitFor();
  await accessible(page);
});

test("net worth has the balances of all wallets", async (t) => {
  const user = await account();
  const { wallet } = await bank(user);
  await user.post("/wallet", { name: "Car loan", currency: "EUR", balance: -500, openingDate: "2026-01-01", kind: "loan" });
  const page = await open(t, user, "/wallets", phone);
  await page.getByRole("link", { name: "Net worth" }).click();
  const table = page.getByRole("table", { name: "Wallets by kind" });
  await table.getByText("Car loan").waitFor();
  await page.getByRole("slider", { name: "Net worth" }).waitFor();
  await accessible(page);
  const row = table.getByRole("row", { name: /^Bank/ });
  assert.match(await row.innerText(), /€66\.50/);
  await row.getByRole("link").click();
  await page.waitForURL(`**/wallets/${wallet.id}?currency=EUR`);
});
