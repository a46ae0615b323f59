import assert from "node:assert/strict";
import test from "node:test";
import { accessibleInLooks, account, open, password, phone } from "../console.js";

test("an account is deleted after a confirmation, and kept by a sign-in before that", async (t) => {
  const user = await account();
  const page = await open(t, user, "/export", phone);
  await page.getByRole("button", { name: "Delete the account" }).click();
  const sheet = page.getByRole("dialog", { name: "Delete the account" });
  await sheet.getByText("Budgets that you share end for their members.").waitFor();
  await accessibleInLooks(page);
  const confirm = sheet.getByRole("button", { name: "Delete the account" });
  await sheet.getByLabel("Your e-mail, to confirm").fill("someone@example.com");
  await sheet.getByLabel("Password", { exact: true }).fill("not the password 7");
  assert.ok(await confirm.isDisabled());
  await sheet.getByLabel("Your e-mail, to confirm").fill(user.email);
  await confirm.click();
  await sheet.getByRole("alert").filter({ hasText: "The password is wrong." }).waitFor();
  await sheet.getByLabel("Password", { exact: true }).fill(password);
  await sheet.getByLabel("Password", { exact: true }).press("Enter");

  await page.getByRole("status").filter({ hasText: "This account will be deleted on" }).waitFor();
  const link = await page.getByRole("link", { name: "Certificate of the deletion" }).getAttribute("href");
  const certificate = await (await page.request.get(new URL(link, page.url()).href)).json();
  assert.equal(certificate.deletion.status, "waiting");

  await page.getByLabel("E-mail").fill(user.email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("button", { name: "Keep the account" }).waitFor();
  await accessibleInLooks(page);
  await page.getByRole("button", { name: "Keep the account" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("navigation").first().waitFor();
});
