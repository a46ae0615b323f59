import assert from "node:assert/strict";
import test from "node:test";
import { accessibleInLooks, account, household, open, sizes, until } from "../console.js";

/** unsigned is a file that shows neither the sign of its amounts nor the order of its dates. */
const unsigned = (month, rows) => ({ name: `card-${month}.csv`, mimeType: "text/csv", buffer: Buffer.from(`Date,Payee,Amount,Currency,Account\n${rows.map(([day, payee, amount]) => `0${day}/0${month}/2026,${payee},${amount},EUR,Travel card`).join("\n")}\n`) });
const april = unsigned(4, [[1, "Bakery", "3.50"], [2, "Cinema", "12.00"], [3, "Corner shop", "8.20"]]);

const may = unsigned(5, [[4, "Bakery", "4.50"], [5, "Cinema", "11.00"]]);

async function upload(page, chosen) {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Choose a file" }).click();
  await (await chooser).setFiles(chosen);
  await page.waitForURL("**/imports/*");
}

/** line is the line of a question. */
const line = (page, text) => page.getByRole("region", { name: "Please check" }).getByRole("listitem").filter({ hasText: text });

for (const { name, options } of sizes) {
  test(`guesses wait for an answer: ${name}`, async (t) => {
    const user = await account();
    const { wallets, categories } = await household(user, 0);
    const page = await open(t, user, "/imports", options);
    await upload(page, april);
    const sign = line(page, "The file does not show which amounts are money out.");
    const dates = line(page, "The file does not show whether the day or the month comes first.");
    await sign.getByText("+€3.50").waitFor();
    await sign.getByText("Corner shop").waitFor();
    await sign.getByText("No amount in the column").waitFor();
    await accessibleInLooks(page);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByLabel(/^Wallet for/).selectOption(wallets[0].id);
    await page.getByLabel("Expenses without a category").selectOption(categories[0].id);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("tab", { name: "New 3" }).waitFor();
    await page.getByRole("button", { name: "Answer 2 questions first" }).click();
    await page.waitForFunction(() => document.activeElement.textContent === "Please check");

    // Turning shows the other amounts. The question stays to be turned back.
    await sign.getByRole("button", { name: "Turn all signs round" }).click();
    await sign.getByText("\u2212€3.50").waitFor();
    await sign.getByRole("button", { name: "Right" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^Edit: .*Bakery.*\u2212€3\.50/ }).waitFor();
    await page.getByRole("button", { name: "Answer 1 question first" }).waitFor();
    // Without the mouse: the button for the other order shows a date as it would be.
    const other = dates.getByRole("button", { name: /^Rather/ });
    const right = dates.getByRole("button", { name: "Right" });
    await dates.getByText("01/04/2026", { exact: true }).waitFor();
    await right.focus();
    await page.keyboard.press("Tab");
    assert.ok(await other.evaluate((node) => node === document.activeElement));
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await right.waitFor({ state: "detached" });
    await page.waitForFunction(() => document.activeElement.textContent === "Please check");
    await accessibleInLooks(page);
    await page.getByRole("button", { name: "Book 3 transactions" }).click();
    await page.getByText("3 transactions were added.").waitFor();
    const booked = (await user.get("/transaction?limit=200")).transactions;
    assert.deepEqual(booked.map(({ amount }) => amount).sort((a, b) => a - b), [-12, -8.2, -3.5]);
  });
}

test("a question that was answered stays answered after a reload", async (t) => {
  const user = await account();
  await household(user, 0);
  const page = await open(t, user, "/imports");
  await upload(page, april);
  const sign = line(page, "The file does not show which amounts are money out.");
  const dates = line(page, "The file does not show whether the day or the month comes first.");
  await dates.getByRole("button", { name: /^Rather/ }).click();
  await dates.getByRole("button", { name: "Right" }).waitFor({ state: "detached" });
  await sign.getByRole("button", { name: "Right" }).waitFor();
  await page.reload();
  await sign.getByRole("button", { name: "Right" }).click();
  await until(async () => (await user.get("/imports")).imports[0].warnings.length === 0);
  await page.reload();
  await page.getByRole("heading", { name: "Columns" }).waitFor();
  await sign.waitFor({ state: "detached" });
});

test("the next file of a bank asks nothing: three clicks from the file to the booked rows", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const page = await open(t, user, "/imports");
  await upload(page, april);
  await line(page, "The file does not show which amounts are money out.").getByRole("button", { name: "Turn all signs round" }).click();
  await line(page, "The file does not show whether the day or the month comes first.").getByRole("button", { name: "Right" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel(/^Wallet for/).selectOption(wallets[0].id);
  await page.getByLabel("Expenses without a category").selectOption(categories[0].id);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Book 3 transactions" }).click();
  await page.getByText("3 transactions were added.").waitFor();
  const booked = (await user.get("/transaction?limit=200")).transactions;
  for (const { id } of booked) await user.patch(`/transaction/${id}`, { categoryId: categories[2].id });

  // The answers, the wallet and the chosen categories hold for the next file.
  await page.getByRole("link", { name: "Import another file" }).click();
  await upload(page, may);
  await page.getByRole("tab", { name: "New 2" }).waitFor();
  assert.equal(await page.getByRole("region", { name: "Please check" }).count(), 0);
  await page.getByRole("button", { name: "Book 2 transactions" }).click();
  await page.getByText("2 transactions were added.").waitFor();
  const both = (await user.get("/transaction?limit=200")).transactions.filter(({ amount }) => [-11, -4.5].includes(amount));
  assert.deepEqual(both.map(({ categoryId }) => categoryId), [categories[2].id, categories[2].id]);
});

const csv = (...lines) => ({ name: "bank.csv", mimeType: "text/csv", buffer: Buffer.from(`${lines.join("\n")}\n`) });

test("other balances that differ need another click", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const page = await open(t, user, "/imports");
  // Without live events, the page does not show a change of another window.
  await page.route("**/api/v1/events", (route) => route.abort());
  await page.reload();
  await upload(page, csv("Date,Payee,Amount,Balance", "2026-04-13,Bakery,-3.50,96.50", "2026-04-14,Cinema,-12.00,80.00", "2026-04-15,Corner shop,-8.20,70.00", "2026-04-16,Kiosk,-1.00,69.00"));
  await page.getByText("The balance of row 2 is 96.50 and that of row 3 is 80, but").waitFor();
  const speak = (newValue) => page.evaluate((newValue) => window.dispatchEvent(new StorageEvent("storage", { key: "coffer.language", newValue })), newValue);
  await speak("de");
  await page.getByText("Der Kontostand ist 96,50 in Zeile 2 und 80 in Zeile 3.").waitFor();
  await speak("en");
  const accept = page.getByRole("button", { name: "Import although the balances differ" });
  await accept.click();
  await accept.waitFor({ state: "detached" });
  // The same balances contradict the other amounts, too.
  await page.getByLabel("Expenses are positive in this file").check();
  await accept.waitFor();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel(/^Wallet for/).selectOption(wallets[0].id);
  await page.getByLabel("Income without a category").selectOption(categories[4].id);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Answer 1 question first" }).waitFor();
  // Balances that another window has changed since must be seen first.
  const [{ id, mapping }] = (await user.get("/imports")).imports;
  await user.patch(`/imports/${id}`, { mapping: { ...mapping, invert: false } });
  // The page reads the version of the import, and then the import, because it is another one.
  let reads = 0;
  const read = page.waitForResponse((response) => response.url().endsWith(id) && response.request().method() === "GET" && ++reads === 2);
  await accept.click();
  await read;
  assert.equal((await user.get("/imports")).imports[0].assumptions[0].accepted, false);
  await accept.click();
  await accept.waitFor({ state: "detached" });
  await page.getByText("The balance of row 2 is 96.50 and that of row 3 is 80, but").waitFor();
  await page.getByRole("button", { name: "Book 4 transactions" }).waitFor();
});

test("rejected columns stay rejected after an answer", async (t) => {
  const user = await account();
  await household(user, 0);
  const page = await open(t, user, "/imports");
  await upload(page, april);
  const right = line(page, "The file does not show which amounts are money out.").getByRole("button", { name: "Right" });
  const skip = page.getByLabel("Rows before it to skip");
  const next = page.getByRole("button", { name: "Continue" });
  await skip.fill("200001");
  await page.locator("[aria-invalid=true]").waitFor();
  await right.click();
  await right.waitFor({ state: "detached" });
  await page.locator("[aria-invalid=true]").waitFor();
  assert.ok(await next.isDisabled(), "the server does not have these columns");
  await skip.fill("0");
  await page.locator("[aria-invalid=true]").waitFor({ state: "detached" });
  await next.click();
  await page.getByLabel(/^Wallet for/).waitFor();
});

test("a pending payment is booked, and waits for the bank again", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const page = await open(t, user, "/imports");
  await upload(page, csv("Date,Payee,Amount,Status", "2026-04-13,Bakery,-3.50,Booked", "2026-04-14,Cinema,-12.00,Pending", "2026-04-15,Employer,90.00,Booked"));
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel(/^Wallet for/).selectOption(wallets[0].id);
  await page.getByLabel("Expenses without a category").selectOption(categories[0].id);
  await page.getByLabel("Income without a category").selectOption(categories[4].id);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("tab", { name: "Pending 1" }).click();
  const choose = async (label) => {
    await page.getByRole("button", { name: /^Edit: .*Cinema/ }).click();
    await page.getByLabel("What happens").selectOption({ label });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  };
  await choose("Book anyway");
  await page.getByRole("tab", { name: "New 3" }).click();
  await choose("Wait for the bank");
  await page.getByRole("tab", { name: "Pending 1" }).click();
  await choose("Leave out");
  await page.getByRole("tab", { name: "Left out 1" }).click();
  await choose("Book anyway");
  await page.getByRole("tab", { name: "New 3" }).waitFor();
});

test("a commit that has failed asks the questions that are open before it continues", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const currencies = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB FJD FKP GBP GEL GHS GIP GMD GTQ GYD".split(" ");
  const incomes = currencies.map((currency) => ({ amount: 1, type: "income", currency, date: "2026-04-01", walletId: wallets[1].id, categoryId: categories[4].id }));
  await user.post("/transaction/batch", { transactions: incomes });
  const page = await open(t, user, "/imports");
  await upload(page, csv("Date,Payee,Amount,Currency", "2026-04-13,Bakery,3.50,NOK", "2026-04-14,Cinema,12.00,NOK"));
  const id = page.url().split("/").pop();
  await user.patch(`/imports/${id}`, { defaults: { walletId: wallets[1].id, incomeCategoryId: categories[4].id } });
  // Another client books the rows in spite of the question. The wallet has the maximum of 50 currencies.
  await user.post(`/imports/${id}/commit?force=true`, {});
  await until(async () => (await user.get(`/imports/${id}`)).import.status === "failed");
  await page.reload();
  await page.getByText("A wallet has too many currencies.").waitFor();
  assert.ok(await page.getByRole("button", { name: "Answer 1 question first" }).isDisabled());
  await accessibleInLooks(page);
  const sign = line(page, "The file does not show which amounts are money out.");
  // The cells of booked rows are deleted, so the rows cannot be read in another way.
  assert.equal(await sign.getByRole("button").count(), 1);
  await sign.getByRole("button", { name: "Right" }).click();
  await page.getByLabel(/^Wallet for/).selectOption(wallets[0].id);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("2 transactions were added.").waitFor();
});

test("of two columns of days, one button takes the other one, and the first one again", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const page = await open(t, user, "/imports");
  await upload(page, csv("Posting date,Transaction date,Payee,Amount,Currency", "2026-04-15,2026-04-13,Bakery,-3.50,EUR", "2026-04-16,2026-04-14,Cinema,-12.00,EUR", "2026-04-19,2026-04-17,Kiosk,-2.00,EUR"));
  const days = line(page, "Two columns have different days.");
  await days.getByText("2026-04-15", { exact: true }).waitFor();
  const other = days.getByRole("button", { name: 'Rather "Transaction date"' });
  await other.click();
  await days.getByText("2026-04-13", { exact: true }).waitFor();
  await days.getByRole("button", { name: 'Rather "Posting date"' }).click();
  await days.getByText("2026-04-15", { exact: true }).waitFor();
  await other.click();
  await days.getByText("2026-04-13", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel(/^Wallet for/).selectOption(wallets[0].id);
  await page.getByLabel("Expenses without a category").selectOption(categories[0].id);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Book 3 transactions" }).click();
  await page.getByText("3 transactions were added.").waitFor();
  const booked = (await user.get("/transaction?limit=200")).transactions;
  assert.deepEqual(booked.map(({ date }) => date.slice(0, 10)).sort(), ["2026-04-13", "2026-04-14", "2026-04-17"]);
});

test("a unit of several currencies names the one in which it is read", async (t) => {
  const user = await account();
  await household(user, 0);
  const page = await open(t, user, "/imports");
  await upload(page, csv("Date,Payee,Amount", "2026-05-13,Bakery,FCFA -350", "2026-05-14,Cinema,FCFA -1200"));
  await line(page, "Several currencies have the name that the file uses.").getByText('The file names the currency as "FCFA", and several currencies have this name: it is read as XOF.').waitFor();
});
