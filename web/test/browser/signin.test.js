import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import test from "node:test";
import { accessibleInLooks, account, mailed, open, password, sizes } from "../console.js";

test("a new user registers, and signs in again", async (t) => {
  const page = await open(t);
  const email = `${randomUUID()}@example.com`;
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByLabel("Name").fill("Ada Lovelace");
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password", { exact: true }).fill("short");
  await page.getByText("3 more characters").waitFor();
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByRole("alert").filter({ hasText: "8" }).waitFor();
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.waitForURL("**/welcome");
  assert.deepEqual(await page.evaluate(() => Object.keys(localStorage)), ["coffer.user"], "no token is stored");
});

test("a wrong password is explained", async (t) => {
  const user = await account();
  const page = await open(t);
  await page.getByLabel("E-mail").fill(user.email);
  await page.getByLabel("Password", { exact: true }).fill("wrong password");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").filter({ hasText: "E-mail or password is wrong." }).waitFor();
});

test("a forgotten password is replaced with the link of a mail", async (t) => {
  const user = await account();
  const page = await open(t);
  await page.getByLabel("E-mail").fill(user.email);
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await page.getByRole("button", { name: "Send the mail" }).click();
  await page.getByRole("status").filter({ hasText: user.email }).waitFor();
  const link = await mailed(user.email, "/reset");
  await page.goto(new URL("/reset#old", process.env.COFFER_URL).href);
  await page.getByLabel("New password").waitFor();
  // The second link opens in the same page, whose address differs in the fragment only.
  await page.goto(new URL(link, process.env.COFFER_URL).href);
  await page.waitForFunction(() => location.hash === "");
  await page.getByLabel("New password").fill("another battery staple");
  assert.equal(await page.evaluate(() => location.hash), "", "the token does not stay in the address");
  await accessibleInLooks(page);
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.getByRole("status").waitFor();
  await page.getByRole("link", { name: "To the sign-in" }).click();
  await page.getByLabel("E-mail").fill(user.email);
  await page.getByLabel("Password", { exact: true }).fill("another battery staple");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1 }).filter({ hasNotText: "Welcome back" }).waitFor();
  await page.goto("about:blank");
  await page.goto(new URL(link, process.env.COFFER_URL).href);
  await page.getByLabel("New password").fill("yet another staple");
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.getByRole("alert").filter({ hasText: "used before" }).waitFor();
});

for (const { name, options } of sizes) {
  test(`the sign-in screen is accessible: ${name}`, async (t) => {
    const page = await open(t, undefined, "/", options);
    await page.locator("form").waitFor();
    await accessibleInLooks(page);
  });
}
