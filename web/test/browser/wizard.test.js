import assert from "node:assert/strict";
import test from "node:test";
import { account, household, open, password, phone, until, url } from "../console.js";

const file = (name, content) => ({ name, mimeType: "application/octet-stream", buffer: Buffer.from(content) });
const csv = (...lines) => file("bank.csv", `${lines.join("\n")}\n`);
const card = csv("Date,Payee,Amount", "2026-04-13,Bakery,20.50", "2026-04-14,Cinema,364.30");
const signed = csv("Date,Payee,Amount,Currency", "2026-04-13,Bakery,-3.50,EUR", "2026-04-14,Cinema,-12.00,EUR");

async function upload(page, chosen) {
  await page.getByRole("button", { name: /^(Choose|Datei|Andere)/ }).waitFor();
  await page.locator("input[type=file]").setInputFiles([chosen]);
}

const next = (page) => page.getByRole("button", { name: "Continue" });
const stepOf = (page, name) => page.getByRole("heading", { name, exact: true });

/** toReview uploads a file, and chooses a wallet and a category. */
async function toReview(page, chosen, { wallets, categories }) {
  await upload(page, chosen);
  await next(page).click();
  await page.getByLabel(/^Wallet for/).selectOption(wallets[0].id);
  await page.getByLabel("Expenses without a category").selectOption(categories[0].id);
  await next(page).click();
  await page.getByRole("tab", { name: "New 2" }).waitFor();
}

test("Back closes a row and goes through the steps, and a reload stays", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const page = await open(t, user, "/imports", phone);
  await toReview(page, signed, { wallets, categories });
  const bakery = page.getByRole("button", { name: /^Edit: .*Bakery/ });
  await bakery.click();
  await page.getByRole("dialog").waitFor();
  await page.goBack();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await bakery.click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.reload();
  await bakery.waitFor();
  await page.goBack();
  assert.equal(await page.getByLabel(/^Wallet for/).inputValue(), wallets[0].id);
  await page.goBack();
  await page.getByLabel("Dates are written as").waitFor();
  await page.goForward();
  await page.getByLabel(/^Wallet for/).waitFor();
  await page.goBack();
  await page.goBack();
  await page.getByText("Earlier imports").waitFor();
});

test("the keyboard continues in the import after the upload", async (t) => {
  const user = await account();
  await household(user, 0);
  const page = await open(t, user, "/imports");
  await upload(page, card);
  await page.waitForFunction(() => document.activeElement.textContent === "Please check");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent.trim()), "Right");
});

/** statement is an OFX file with a payment of 12.00 on a day of the CSV file. */
const statement = `OFXHEADER:100
DATA:OFXSGML

<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR<BANKACCTFROM><ACCTID>DE12345678</BANKACCTFROM><BANKTRANLIST>
<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260414<TRNAMT>-12.00<FITID>1<NAME>Lawn mower</STMTTRN>
</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>
`;

test("a row that may be here says so in the list, also if an import has created the payment", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const form = new FormData();
  form.append("walletId", wallets[0].id);
  form.append("file", new Blob([statement]), "card.ofx");
  const response = await fetch(`${url}/api/v1/imports`, { method: "POST", headers: { Authorization: `Bearer ${user.token}` }, body: form });
  const { id } = (await response.json()).import;
  await user.patch(`/imports/${id}`, { defaults: { expenseCategoryId: categories[0].id } });
  await user.post(`/imports/${id}/commit`, {});
  await until(async () => (await user.get(`/imports/${id}`)).import.status === "done");

  const page = await open(t, user, "/imports");
  await toReview(page, signed, { wallets, categories });
  await page.getByRole("button", { name: /^Edit: .*Cinema.*Perhaps already here/ }).click();
  await page.getByText("Is it the same payment?").waitFor();
  await page.getByLabel("What happens").selectOption({ label: "It is the same payment" });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("tab", { name: "New 1" }).waitFor();
  assert.equal(await page.getByText("Perhaps already here").count(), 0);
  await page.getByRole("button", { name: /^Book 1 transaction/ }).click();
  await page.getByText("1 transaction was added.").waitFor();
  assert.equal((await user.get("/transaction?limit=10")).transactions.length, 2);
});

test("rows of another currency than their wallet's are announced", async (t) => {
  const user = await account();
  const { wallets } = await household(user, 0);
  const { wallet } = await user.post("/wallet", { name: "Dollars", currency: "USD" });
  const page = await open(t, user, "/imports", phone);
  await upload(page, csv("Date,Payee,Amount,Currency", "2026-04-13,Bakery,-3.50,USD"));
  await next(page).click();
  await page.getByLabel(/^Wallet for/).selectOption(wallets[0].id);
  await page.getByText("Checking account is kept in EUR.").waitFor();
  await page.getByRole("button", { name: /Dollars/ }).click();
  await page.getByText("Checking account is kept in EUR.").waitFor({ state: "detached" });
  assert.equal(await page.getByLabel(/^Wallet for/).inputValue(), wallet.id);
});

test("each file that cannot be imported says what to do", async (t) => {
  const user = await account();
  const page = await open(t, user, "/imports", { ...phone, locale: "de-DE" });
  const start = (hex, name) => file(name, Buffer.concat([Buffer.from(hex, "hex"), Buffer.alloc(600)]));
  for (const [chosen, text] of [
    [file("statement.pdf", "%PDF-1.7\n"), "Ein PDF lässt sich nicht importieren. Exportiere bei deiner Bank CSV"],
    [start("d0cf11e0a1b11ae1", "secret.xlsx"), "Speichere sie als .xlsx ohne Kennwort."],
    [start("377abcaf271c", "statements.7z"), "Entpacke es und wähle eine Datei."],
    [csv('"Month","Category Group/Category","Category Group","Category","Budgeted","Activity","Available"', '"Jan 2026","a: b","a","b",€1.00,€1.00,€0.00'), "Wähle das Register"],
    [start("ffd8ffe000104a46", "photo.jpg"), "Fotos von Belegen liest Coffer unter „Beleg“."],
    [start("89504e470d0a1a0a", "screen.png"), "Das ist ein Bild."],
    [file("table.xls", "<html><body><table></table></body></html>"), "speichere sie als .xlsx."],
    [file("noise.bin", "\u0000\u0001\u0002\u0003"), "Exportiere sie bei deiner Bank als CSV, XLSX"],
    [file("empty.csv", ""), "Diese Datei ist leer. Exportiere sie noch einmal."],
    [file("cut.xml", `<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><BkToCstmrStmt>`), "Diese Datei ist beschädigt."],
  ]) {
    await upload(page, chosen);
    await page.getByRole("alert").filter({ hasText: text }).waitFor();
  }
  await upload(page, csv("Date,Payee,Amount"));
  await page.getByText("Diese Datei enthält keine Buchungen").waitFor();
  await page.getByRole("link", { name: "Andere Datei auswählen" }).click();
  await page.getByText("Frühere Importe").waitFor();
});

test("amounts and dates are read in the language of the user", async (t) => {
  const user = await account();
  await household(user, 0);
  const page = await open(t, user, "/imports", { locale: "de-DE" });
  await upload(page, csv("Date,Payee,Amount", "01/01/2026,Bakery,20.50", "02/01/2026,Cinema,1364.30"));
  const questions = page.getByRole("region", { name: "Bitte prüfen" });
  await questions.getByText("1.364,30").waitFor();
  await questions.getByText("Gelesen als TT/MM/JJJJ.").waitFor();
  // The first of January has no other reading.
  await questions.getByRole("button", { name: "Eher MM/TT/JJJJ" }).waitFor();
  assert.equal(await page.getByLabel("Ein Datum steht als").inputValue(), "DD/MM/YYYY");
});

test("the choices of a large import are sent together, and the change can be stopped", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const page = await open(t, user, "/imports");
  const sent = [];
  page.on("request", (request) => request.method() === "PATCH" && sent.push(request.postDataJSON()));
  const rows = Array.from({ length: 2500 }, (_, i) => `2026-04-${10 + (i % 18)},Shop ${i},-${1 + (i % 90)}.50,EUR`);
  await upload(page, csv("Date,Payee,Amount,Currency", ...rows));
  await next(page).click();
  const wallet = page.getByLabel(/^Wallet for/);
  const expenses = page.getByLabel("Expenses without a category");
  await wallet.selectOption(wallets[0].id);
  await expenses.selectOption(categories[0].id);
  assert.deepEqual(sent, [], "each request would read all rows again");

  // The page shows the job until it is stopped.
  let job = { status: "updating", progress: { done: 900, total: 2500, problem: "" } };
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route(/\/imports\/[0-9a-f-]{36}(\/cancel)?(\?wait=\d+)?$/, async (route) => {
    const stop = route.request().url().endsWith("/cancel");
    if (!job) return route.continue();
    if (route.request().method() === "GET") {
      // The server would hold it, too.
      await held;
      return route.continue().catch(() => {});
    }
    if (stop) {
      await until(async () => (await user.get("/imports")).imports[0].status === "preview");
      job = { status: "updating", progress: { done: 0, total: 2500, problem: "CANCELED" } };
    }
    const response = await (stop ? page.request.fetch(route.request().url().replace("/cancel", ""), { headers: route.request().headers() }) : route.fetch());
    const answer = await response.json();
    await route.fulfill({ json: { ...answer, import: { ...answer.import, ...job } } });
  });
  await next(page).click();
  await page.getByText("900 of 2,500 rows").waitFor();
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  assert.equal(await focused(), "The rows are being changed", "the button is gone");
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("alert").filter({ hasText: "You have stopped it." }).waitFor();
  assert.equal(await focused(), "Wallets and categories");
  // Another change need not wait until the rows are what they were before.
  await page.getByText("0 of 2,500. You can already change them again.").waitFor();
  assert.equal(sent.length, 1);
  assert.equal(sent[0].accounts[0].walletId, wallets[0].id);
  assert.equal(sent[0].defaults.expenseCategoryId, categories[0].id);
  job = undefined;
  await wallet.selectOption(wallets[1].id);
  await next(page).click();
  await page.getByRole("tab", { name: "New 2,500" }).waitFor();
  release();

  // Only the rows near the visible part of the page exist, and the one with the focus.
  const first = page.locator('li[aria-posinset="1"] button');
  for (const size of [250, 450]) {
    await page.getByRole("button", { name: "Show more rows" }).click();
    await page.locator(`li[aria-setsize="${size}"]`).first().waitFor();
  }
  await page.evaluate(() => window.scrollTo(0, 0));
  await first.focus();
  await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  const last = page.locator('li[aria-posinset="450"]');
  await last.waitFor();
  assert.ok((await page.locator("li[aria-posinset]").count()) < 150);
  assert.ok(await first.evaluate((button) => button === document.activeElement));
  // Rows that appear replace the estimated height of their block, which takes some frames.
  const height = () => page.evaluate(() => document.body.scrollHeight);
  let measured;
  await until(async () => measured === (measured = await height()));
  // The rows that were left keep their height, from the first frame on.
  const heights = await page.evaluate(async () => {
    const found = [];
    window.scrollTo(0, 0);
    for (let i = 0; i < 5; i++) {
      await new Promise(requestAnimationFrame);
      found.push(document.body.scrollHeight);
    }
    return found;
  });
  assert.ok(heights.every((one) => Math.abs(one - measured) < 2), `${heights} instead of ${measured}`);
  await last.waitFor({ state: "detached" });
  const { accounts } = (await user.get("/imports")).imports[0];
  assert.ok(accounts === undefined || accounts[0].walletId === wallets[1].id);
});

test("another tab follows, and says that the import is gone", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const page = await open(t, user, "/imports");
  await toReview(page, signed, { wallets, categories });
  const other = await page.context().newPage();
  await other.goto(page.url().split("?")[0]);
  await next(other).waitFor();
  await page.getByRole("button", { name: "Book 2 transactions" }).click();
  await page.getByText("2 transactions were added.").waitFor();
  await other.getByText("2 transactions were added.").waitFor();

  await page.goto(`${url}/imports`);
  await upload(page, card);
  await next(page).waitFor();
  const id = /imports\/([0-9a-f-]{36})/.exec(page.url())[1];
  await user.del(`/imports/${id}`);
  await page.getByRole("button", { name: "Turn all signs round" }).click();
  await page.getByText("This import no longer exists").waitFor();
});

test("a connection or session that ends loses nothing", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const page = await open(t, user, "/imports");
  await page.route("**/api/v1/imports", (route) => (route.request().method() === "POST" ? route.abort("internetdisconnected") : route.continue()));
  await upload(page, signed);
  await page.getByRole("alert").filter({ hasText: "The server cannot be reached. Check your connection." }).waitFor();
  await page.unrouteAll();
  await toReview(page, signed, { wallets, categories });

  const { sessions } = await user.get("/auth/sessions");
  await page.context().clearCookies();
  for (const { id } of sessions.filter(({ current }) => !current)) await user.del(`/auth/sessions/${id}`);
  // The gateway learns of the end of a session within a second.
  await until(async () => {
    for (const name of ["Matched 0", "New 2"]) await page.getByRole("tab", { name }).click({ timeout: 1000 }).catch(() => {});
    return page.getByText("Your session has ended. Sign in again.").isVisible();
  });
  await page.getByLabel("E-mail").fill(user.email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.keyboard.press("Enter");
  await page.getByRole("tab", { name: "New 2" }).waitFor();
  await page.getByRole("button", { name: "Book 2 transactions" }).click();
  await page.getByText("2 transactions were added.").waitFor();
});

/** tabTo presses Tab until the element with a name has the focus. */
async function tabTo(page, name) {
  for (let i = 0; i < 80; i++) {
    const focused = await page.evaluate(() => {
      const { labels, textContent, ariaLabel } = document.activeElement;
      return (labels?.[0]?.textContent ?? ariaLabel ?? textContent).trim();
    });
    if (name.test(focused)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`${name} cannot be reached`);
}

test("a file is imported with the keyboard only", async (t) => {
  const user = await account();
  await household(user, 0);
  const page = await open(t, user, "/imports");
  await page.getByRole("button", { name: "Choose a file" }).waitFor();
  const press = async (name, key = "Enter") => {
    await tabTo(page, name);
    // A busy button ignores presses.
    await page.waitForFunction(() => !document.querySelector("button[aria-busy=true]"));
    await page.keyboard.press(key);
  };
  const chooser = page.waitForEvent("filechooser");
  await press(/^Choose a file$/);
  await (await chooser).setFiles([card]);
  await page.waitForFunction(() => document.activeElement.textContent === "Please check");
  await press(/^Turn all signs round$/);
  await page.getByRole("button", { name: "Right" }).waitFor({ state: "detached" });
  await press(/^Continue$/);
  await page.waitForFunction(() => document.activeElement.id === "step-places");
  for (const name of [/^Wallet for/, /^Expenses without/]) await press(name, "ArrowDown");
  await press(/^Continue$/);
  await page.waitForFunction(() => document.activeElement.id === "step-review");
  await press(/^Edit:.*Cinema/s);
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.match(await page.evaluate(() => document.activeElement.textContent), /Cinema/, "the focus returns to the row");
  await press(/^Book 2 transactions$/);
  await page.getByText("2 transactions were added.").waitFor();
});

test("a page of rows that arrives late is not shown in another tab", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const rows = Array.from({ length: 60 }, (_, i) => `2026-04-${10 + (i % 18)},Shop ${i},-${1 + i}.50,EUR`);
  const page = await open(t, user, "/imports");
  await upload(page, csv("Date,Payee,Amount,Currency", "2026-04-31,Nobody,-1.00,EUR", ...rows));
  await next(page).click();
  await page.getByLabel(/^Wallet for/).selectOption(wallets[0].id);
  await page.getByLabel("Expenses without a category").selectOption(categories[0].id);
  await next(page).click();
  let answer;
  const held = new Promise((resolve) => (answer = resolve));
  await page.route(/cursor=/, async (route) => {
    const response = await route.fetch();
    await held;
    await route.fulfill({ response }).catch(() => {});
  });
  await page.getByRole("button", { name: "Show more rows" }).click();
  await page.getByRole("tab", { name: "Problems 1" }).click();
  await page.getByRole("button", { name: /^Edit: –/ }).waitFor();
  answer();
  await page.evaluate(() => fetch("/livez"));
  assert.equal(await page.getByRole("tabpanel").getByRole("listitem").count(), 1);
});
