import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { accessibleInLooks, account, household, open, phone, sizes, url } from "../console.js";

/** saved presses Download and returns the name and the text of the file. */
async function saved(page) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download", exact: true }).click()]);
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
}

test("the transactions are downloaded as a file of the chosen format", async (t) => {
  const user = await account();
  const { wallets, categories, transactions } = await household(user, 12);
  const page = await open(t, user, "/settings/data");
  await page.getByRole("link", { name: /^Export/ }).click();
  await page.getByRole("radio", { name: /^CSV/ }).waitFor();
  const csv = await saved(page);
  assert.match(csv.name, /^coffer-\d{4}-\d\d-\d\d\.csv$/);
  assert.equal(csv.text.trim().split("\n").length, 13);
  assert.match(csv.text, /^id,date,/);

  await page.getByLabel("For Excel").check();
  await page.getByLabel("Wallet", { exact: true }).selectOption(wallets[0].id);
  await page.getByLabel("Category", { exact: true }).selectOption(categories[0].id);
  const few = await saved(page);
  const expected = transactions.filter(({ walletId, categoryId }) => walletId === wallets[0].id && categoryId === categories[0].id);
  assert.ok(few.text.startsWith("\ufeffid,date,"));
  assert.equal(few.text.trim().split("\n").length, expected.length + 1);

  await page.getByLabel("Category", { exact: true }).selectOption("");
  for (const [name, ending, content] of [["Coffer", "jsonl", /"walletId"/], ["hledger", "journal", /assets:/i], ["Beancount", "beancount", /Assets:/]]) {
    await page.getByRole("radio", { name: new RegExp(`^${name}`) }).check();
    const file = await saved(page);
    assert.ok(file.name.endsWith(`.${ending}`), file.name);
    assert.match(file.text, content);
  }
});

test("a period that ends before it begins is not sent, and a rejected export is explained", async (t) => {
  const user = await account();
  const page = await open(t, user, "/export", phone);
  await page.getByLabel("From").fill("2026-02-01");
  await page.getByLabel("To", { exact: true }).fill("2026-01-01");
  await page.getByRole("alert").filter({ hasText: "The first day must not be after the last one." }).waitFor();
  assert.ok(await page.getByRole("button", { name: "Download", exact: true }).isDisabled());
  await page.getByLabel("To", { exact: true }).fill("2026-03-01");
  await page.route(`${url}/api/v1/export/transactions**`, (route) => route.fulfill({ status: 429, contentType: "application/json", body: JSON.stringify({ code: "RATE_LIMITED", message: "Too many requests" }) }), { times: 1 });
  await page.getByRole("button", { name: "Download", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "Another export of yours is running." }).waitFor();
  await page.getByRole("radio", { name: /^CSV/ }).focus();
  await page.keyboard.press("ArrowDown");
  assert.ok(await page.getByRole("radio", { name: /^Coffer/ }).isChecked());
});

test("the archive of the account is downloaded, and a rejection is explained", async (t) => {
  const user = await account();
  const page = await open(t, user, "/export", phone);
  const button = page.getByRole("button", { name: "Download the archive" });
  await page.route(`${url}/api/v1/account/export`, (route) => route.fulfill({ status: 429, contentType: "application/json", body: JSON.stringify({ code: "RATE_LIMITED", message: "Too many requests" }) }), { times: 1 });
  await button.click();
  await page.getByRole("alert").filter({ hasText: "Another export of yours is running." }).waitFor();
  const [archive] = await Promise.all([page.waitForEvent("download"), button.press("Enter")]);
  assert.match(archive.suggestedFilename(), /^coffer-account-\d{4}-\d\d-\d\d\.zip$/);
  const file = await readFile(await archive.path());
  assert.ok(file.includes("manifest.json"));
  await page.getByText(`${archive.suggestedFilename()} is downloaded`).waitFor();
});

for (const { name, options } of sizes) {
  test(`the export is accessible: ${name}`, async (t) => {
    const user = await account();
    await household(user, 1);
    const page = await open(t, user, "/export", options);
    await page.getByRole("button", { name: "Download", exact: true }).waitFor();
    await accessibleInLooks(page);
  });
}
