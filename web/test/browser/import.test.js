import assert from "node:assert/strict";
import test from "node:test";
import { accessibleInLooks, account, closeToast, household, open, phone, sizes, until, url } from "../console.js";

/** file is a file for the file picker. */
const file = (name, text) => ({ name, mimeType: "application/octet-stream", buffer: Buffer.from(text) });

const bank = (rows) => file("bank.csv", `Datum;Empfänger;Text;Betrag\n${rows.join("\n")}\n`);
const days = (n) => Array.from({ length: n }, (_, i) => `${String((i % 28) + 1).padStart(2, "0")}.${String((Math.floor(i / 28) % 12) + 1).padStart(2, "0")}.2025;Shop ${i};Purchase ${i};-${i + 1},50`);

/** statement is an OFX statement whose rows add up to its balances, unless the closing balance is another one. */
const statement = (closing) => file("card.ofx", `OFXHEADER:100
DATA:OFXSGML

<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR<BANKACCTFROM><ACCTID>DE12345678</BANKACCTFROM>
<BANKTRANLIST><DTSTART>20260101<DTEND>20260131
<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260105<TRNAMT>-20.00<FITID>1<NAME>Corner Shop<MEMO>Milk</STMTTRN>
<STMTTRN><TRNTYPE>CREDIT<DTPOSTED>20260110<TRNAMT>500.00<FITID>2<NAME>Employer<MEMO>Salary</STMTTRN>
</BANKTRANLIST><LEDGERBAL><BALAMT>${closing}<DTASOF>20260131</LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>
`);

/** mt940 states both balances. The rows do not add up to them if closing is not 80. */
const mt940 = (closing) => file("statement.sta", `:20:START
:25:10020030/1234567
:28C:1/1
:60F:C260101EUR100,00
:61:2601050105D20,00NMSCNONREF
:86:Corner Shop milk
:62F:C260131EUR${closing}
-
`);

async function upload(page, chosen) {
  await page.getByRole("button", { name: /Choose (a|another) file/ }).waitFor();
  await page.locator("input[type=file]").setInputFiles([chosen]);
}

const transactionsOf = async (user) => (await user.get("/transaction?limit=200")).transactions;

test("a CSV file becomes transactions: columns, wallet, categories, review, undo", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const page = await open(t, user, "/imports");
  await page.getByText("Your file stays on this server.").waitFor();
  await page.getByText("CSV, XLSX, OFX, QFX, QIF, CAMT.052 to 054, MT940, MT942, YNAB, Firefly III and Coffer").waitFor();
  await upload(page, bank(["03.02.2026;Bakery;Coffee;-3,50", "15.02.2026;Employer;Salary;2.500,00", "31.02.2026;Nobody;Broken;-1,00", "28.02.2026;Landlord;Rent;-850,00"]));
  await page.waitForURL("**/imports/*");

  // The columns are guessed. A wrong one shows at once what it does to the rows.
  const amount = page.getByRole("combobox", { name: "Column 4: Betrag" });
  assert.equal(await amount.inputValue(), "amount");
  await page.getByText("This is not a date like DD.MM.YYYY").waitFor();
  await amount.selectOption("notes");
  await page.getByText("Choose the column with the amount").waitFor();
  assert.ok(await page.getByRole("button", { name: "Continue" }).isDisabled());
  await amount.selectOption("amount");
  await page.getByText("Choose the column with the amount").waitFor({ state: "detached" });
  await page.getByRole("rowheader").filter({ hasText: "€2,500.00" }).or(page.getByRole("rowheader").filter({ hasText: "2,500.00" })).first().waitFor();
  await page.getByLabel("Dates are written as").selectOption("MM/DD/YYYY");
  await page.getByText("This is not a date like MM/DD/YYYY").first().waitFor();
  await page.getByLabel("Dates are written as").selectOption("DD.MM.YYYY");
  await page.getByText("1 with a problem").waitFor();
  await page.getByRole("button", { name: "Continue" }).click();

  await page.getByLabel("Wallet for The rows of the file").selectOption(wallets[0].id);
  await page.getByLabel("Expenses without a category").selectOption(categories[0].id);
  await page.getByLabel("Income without a category").selectOption(categories[4].id);
  await page.getByRole("button", { name: "Continue" }).click();

  await page.getByRole("tab", { name: "New 3" }).waitFor();
  await page.getByRole("tab", { name: "Problems 1" }).click();
  await page.getByRole("button", { name: /^Edit: – .*-1,00|^Edit: –/ }).first().waitFor();
  await page.getByRole("tab", { name: "New 3" }).click();
  await page.getByRole("button", { name: /^Edit: .*Landlord/ }).click();
  await page.getByLabel("Category", { exact: true }).selectOption(categories[1].id);
  await page.getByLabel("Payee").fill("Mill Lane 12");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Rent · your choice").waitFor();
  await page.getByRole("button", { name: /^Edit: .*Bakery/ }).click();
  await page.getByLabel("What happens").selectOption("skip");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("tab", { name: "Left out 1" }).waitFor();
  assert.deepEqual(await transactionsOf(user), [], "nothing is booked before the button");
  await page.getByRole("button", { name: "Book 2 transactions" }).click();
  await page.getByText("2 transactions were added.").waitFor();
  const booked = (await transactionsOf(user)).map(({ amount: value, payee, categoryId }) => [value, payee, categories.find(({ id }) => id === categoryId).name]);
  assert.deepEqual(booked, [[-850, "Mill Lane 12", "Rent"], [2500, "Employer", "Salary"]]);

  await page.getByRole("button", { name: "Undo import" }).click();
  await page.getByRole("dialog").getByText("2 transactions are deleted").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Undo import" }).click();
  await page.getByText("2 transactions were deleted.").waitFor();
  assert.deepEqual(await transactionsOf(user), []);

  // The columns of this heading are known now, so the next file goes on to the review.
  await page.getByRole("link", { name: "Import another file" }).click();
  await page.getByText("Known columns").waitFor();
  await page.getByText("Undone").waitFor();
});

test("a guess of the sign is turned and confirmed with the columns", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const page = await open(t, user, "/imports");
  await upload(page, bank(["03.02.2026;Bakery;Coffee;3,50", "28.02.2026;Landlord;Rent;850,00"]));
  await page.getByText("The file does not show which amounts are money out.").waitFor();
  await page.getByLabel("Expenses are positive in this file").check();
  await page.getByRole("button", { name: "Right" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("Wallet for The rows of the file").selectOption(wallets[0].id);
  await page.getByLabel("Expenses without a category").selectOption(categories[0].id);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Book 2 transactions" }).click();
  await until(async () => (await transactionsOf(user)).length === 2);
  assert.deepEqual((await transactionsOf(user)).map(({ type }) => type), ["expense", "expense"]);

  // The next file of the bank goes to the same wallet, and the console says so.
  await page.goto(`${url}/imports`);
  await upload(page, bank(["03.03.2026;Bakery;Coffee;4,50"]));
  await page.getByText("Its rows go to the wallet of the last file with these columns.").waitFor();
  await page.getByText(`went to the wallet "${wallets[0].name}"`).waitFor();
  await page.getByRole("tab", { name: "New 1" }).waitFor();

  // Continuing with the columns confirms nothing: each guess has a button.
  await page.goto(`${url}/imports`);
  await upload(page, file("other.csv", "Date,Text,Sum\n2026-03-03,Employer,900.00\n"));
  await page.getByText("The file does not show which amounts are money out.").waitFor();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("Wallet for The rows of the file").waitFor();
  assert.ok((await user.get("/imports")).imports[0].warnings.includes("SIGN_ASSUMED"));
  await page.getByRole("button", { name: "Right" }).first().click();
  await until(async () => !(await user.get("/imports")).imports[0].warnings.includes("SIGN_ASSUMED"));
});

test("a second file finds what is here, and what was typed by hand", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  await user.post("/transaction", { walletId: wallets[0].id, categoryId: categories[0].id, amount: 20, type: "expense", currency: "EUR", date: "2026-01-05", description: "Corner Shop milk" });
  const page = await open(t, user, "/imports", phone);
  await upload(page, statement("480.00"));
  await page.getByLabel("Wallet for DE12345678").or(page.getByLabel(/^Wallet for/)).first().selectOption(wallets[0].id);
  await page.getByLabel("Income without a category").selectOption(categories[4].id);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("tab", { name: "Matched 1" }).click();
  await page.getByText("You have these payments already, entered by hand").waitFor();
  await page.getByRole("button", { name: /^Edit: .*Corner Shop/ }).click();
  await page.getByRole("link", { name: "Show the existing transaction" }).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Book 1 transaction" }).click();
  await page.getByText("1 transaction was added.").waitFor();
  assert.equal((await transactionsOf(user)).length, 2);

  await page.getByRole("link", { name: "Import another file" }).click();
  await upload(page, statement("480.00"));
  await page.getByText("You have imported this file before.").waitFor();
  await page.getByRole("tab", { name: "Already here 2" }).click();
  await page.getByRole("button", { name: /^Edit: .*Employer/ }).click();
  await page.getByLabel("What happens").selectOption({ label: "Book anyway" });
  await page.getByLabel("Category", { exact: true }).selectOption(categories[4].id);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("tab", { name: "Already here 1" }).waitFor();
  await page.getByRole("button", { name: "Book 1 transaction" }).click();
  await page.getByText("1 transaction was added.").waitFor();
  assert.equal((await transactionsOf(user)).length, 3);
});

test("balances that differ must be confirmed", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const page = await open(t, user, "/imports");
  await upload(page, mt940("90,00"));
  await page.getByLabel(/^Wallet for/).selectOption(wallets[0].id);
  await page.getByLabel("Expenses without a category").selectOption(categories[0].id);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("heading", { name: "The rows do not add up to the balances in the file." }).waitFor();
  await page.getByText("The opening balance is 100.00 and the rows give").waitFor();
  // The button says what is missing, and shows it.
  await page.getByRole("button", { name: "Answer 1 question first" }).click();
  await page.waitForFunction(() => document.activeElement.textContent === "Please check");
  await page.getByRole("button", { name: "Import although the balances differ" }).click();
  await page.getByRole("button", { name: "Book 1 transaction" }).click();
  await page.getByText("1 transaction was added.").waitFor();

  // The notification opens the import.
  await page.goto(`${url}/wallets?notifications=open`);
  await page.getByRole("button", { name: /^The import of statement\.sta is complete/ }).click();
  await page.waitForURL(/\/imports\/[0-9a-f-]{36}$/);
  await page.getByText("1 transaction was added.").waitFor();
});

test("an import whose wallet is deleted asks for another one", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const page = await open(t, user, "/imports");
  await upload(page, bank(days(30)));
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel(/^Wallet for/).selectOption(wallets[1].id);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Book 30 transactions" }).click();
  await page.getByText("This import is not complete yet").waitFor();
  await page.getByRole("button", { name: "Change: Wallets and categories" }).last().click();
  await page.getByLabel("Expenses without a category").selectOption(categories[0].id);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("tab", { name: "New 30" }).waitFor();
  await user.del(`/wallet/${wallets[1].id}`);
  await page.getByRole("button", { name: "Book 30 transactions" }).click();
  await page.getByText("This import is not complete yet").waitFor();
  await page.getByRole("button", { name: "Change: Wallets and categories" }).last().click();
  await page.getByLabel(/^Wallet for/).selectOption(wallets[0].id);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Book 30 transactions" }).click();
  await page.getByText("30 transactions were added.").waitFor();
  assert.equal((await transactionsOf(user)).length, 30);
});

test("a new user brings data without a wallet or a category, and deletes an import", async (t) => {
  const user = await account();
  const page = await open(t, user, "/welcome", phone);
  await page.getByRole("link", { name: "Import a file" }).click();
  await upload(page, statement("480.00"));
  await page.getByLabel(/^Wallet for/).selectOption("new");
  // Each letter is sent. The answer to one does not replace the later ones.
  await page.getByLabel("Name of the new wallet").fill("");
  await page.getByLabel("Name of the new wallet").pressSequentially("Card");
  assert.equal(await page.getByLabel("Name of the new wallet").inputValue(), "Card");
  await page.getByLabel("Expenses without a category").selectOption("new");
  await until(async () => (await user.get("/categories")).categories.length === 1);
  const { id } = (await user.get("/categories")).categories[0];
  await page.getByLabel("Income without a category").selectOption(id);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Book 2 transactions" }).click();
  await page.getByText("2 transactions were added.").waitFor();
  assert.deepEqual((await user.get("/wallet")).wallets.map(({ name }) => name), ["Card"]);
  await page.goto(`${url}/imports`);
  await page.getByRole("button", { name: "Actions for card.ofx" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await closeToast(page, "Import deleted. Its transactions stay.");
  await until(async () => (await user.get("/imports")).imports.length === 0);
  assert.equal((await transactionsOf(user)).length, 2);
});

test("a file that cannot be read is explained", async (t) => {
  const user = await account();
  const page = await open(t, user, "/imports");
  await upload(page, file("photo.bin", "\u0000\u0001\u0002\u0003"));
  await page.getByRole("alert").filter({ hasText: "Coffer does not know the format of this file." }).waitFor();
  await upload(page, file("empty.csv", ""));
  await page.getByRole("alert").filter({ hasText: "This file is empty." }).waitFor();
  await page.goto(`${url}/imports/0199f0c5-0000-7000-8000-000000000022`);
  await page.getByText("This import no longer exists").waitFor();
});

test("the progress of the upload and of the job is shown", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const page = await open(t, user, "/imports", phone);
  const network = await page.context().newCDPSession(page);
  const throughput = (uploadThroughput) => network.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput });
  const chosen = bank(days(3000));
  await page.getByRole("button", { name: "Choose a file" }).waitFor();
  await throughput(chosen.buffer.length / 6);
  await page.locator("input[type=file]").setInputFiles([chosen]);
  await page.getByText(/^Uploading: \d+%$/).waitFor();
  await throughput(-1);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel(/^Wallet for/).selectOption(wallets[0].id);
  await page.getByLabel("Expenses without a category").selectOption(categories[0].id);
  await page.getByRole("button", { name: "Continue" }).click();
  // The page shows the progress of a job that it does not follow to the end.
  const bars = page.getByRole("progressbar");
  await page.getByRole("button", { name: "Book 3,000 transactions" }).click();
  await bars.or(page.getByText("3,000 transactions were added.")).first().waitFor();
  await page.getByText("3,000 transactions were added.").waitFor({ timeout: 60_000 });
});

test("a row shows the amount of the pending payment that it replaces", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const page = await open(t, user, "/imports");
  const card = (...rows) => file("card.csv", `Datum;Empfänger;Text;Betrag;Status\n28.02.2026;Landlord;Rent;-850,00;Gebucht\n${rows.join("\n")}\n`);
  await upload(page, card("27.02.2026;Hotel Adler;Room;-40,00;Vorgemerkt"));
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel(/^Wallet for/).selectOption(wallets[0].id);
  await page.getByLabel("Expenses without a category").selectOption(categories[0].id);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("tab", { name: "Pending 1" }).click();
  await page.getByRole("button", { name: /^Edit: .*Hotel/ }).click();
  await page.getByLabel("What happens").selectOption("book");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Book 2 transactions" }).click();
  await page.getByText("2 transactions were added.").waitFor();
  await page.goto(`${url}/imports`);
  await upload(page, card("01.03.2026;Hotel Adler;Room;-44,10;Gebucht"));
  await page.getByRole("tab", { name: "Matched 1" }).click();
  await page.getByText("Replaces the pending amount of -€40.00").or(page.getByText("Replaces the pending amount of \u2212€40.00")).waitFor();
});

test("the speed of a job is shown, and that another tab has deleted the import", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const page = await open(t, user, "/imports");
  await upload(page, bank(["15.02.2026;Bakery;Coffee;-3,50", "28.02.2026;Landlord;Rent;-850,00"]));
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel(/^Wallet for/).selectOption(wallets[0].id);
  await page.getByLabel("Expenses without a category").selectOption(categories[0].id);
  await page.getByRole("button", { name: "Continue" }).click();
  let [done, deleted] = [0, false];
  await page.route(/\/api\/v1\/imports\/[^/]+\?wait=8/, async (route) => {
    if (deleted) return route.fulfill({ status: 404, contentType: "application/json", body: JSON.stringify({ code: "IMPORT_NOT_FOUND", message: "Import not found", requestId: "r" }) });
    const response = await route.fetch();
    const answer = await response.json();
    done += 300;
    await new Promise((resolve) => setTimeout(resolve, 600));
    await route.fulfill({ response, json: { ...answer, import: { ...answer.import, status: "running", progress: { done, total: 100_000 } } } });
  });
  await page.getByRole("button", { name: "Book 2 transactions" }).click();
  await page.getByText(/· \d+ rows per second$/).waitFor();
  deleted = true;
  await page.getByText("This import no longer exists").waitFor();
});

for (const { name, options } of sizes) {
  test(`the import is accessible: ${name}`, async (t) => {
    const user = await account();
    const { wallets, categories } = await household(user, 0);
    const page = await open(t, user, "/imports", options);
    await page.getByText("No imports yet").waitFor();
    await accessibleInLooks(page);
    await upload(page, bank(["03.02.2026;Bakery;Coffee with a very long text that no column of a phone can show in one line;-3,50", "31.02.2026;Nobody;Broken;-1,00", "28.02.2026;Landlord;Rent;-850,00"]));
    await page.getByText("This is not a date like DD.MM.YYYY").waitFor();
    await accessibleInLooks(page);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByLabel(/^Wallet for/).selectOption(wallets[0].id);
    await page.getByLabel("Expenses without a category").selectOption(categories[0].id);
    await accessibleInLooks(page);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("tab", { name: "New 2" }).waitFor();
    await page.getByRole("button", { name: /^Edit: .*Bakery/ }).waitFor();
    await accessibleInLooks(page);
    await page.getByRole("button", { name: /^Edit: .*Bakery/ }).click();
    await page.getByRole("dialog").waitFor();
    await accessibleInLooks(page);
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Book 2 transactions" }).click();
    await page.getByText("2 transactions were added.").waitFor();
    await accessibleInLooks(page);
    await page.goto(`${url}/imports`);
    await page.getByRole("button", { name: "Actions for bank.csv" }).waitFor();
    await accessibleInLooks(page);
  });
}
