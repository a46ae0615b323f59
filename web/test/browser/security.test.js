import assert from "node:assert/strict";
import test from "node:test";
import { account, open, password, phone, url } from "../console.js";

/** noticed limits the wait until another device notices the end of its session. That takes seven seconds at most, and more on a busy machine. */
const noticed = 30_000;

test("a changed password signs the other devices out", async (t) => {
  const user = await account();
  const other = await open(t, user, "/settings");
  const page = await open(t, user, "/settings/security", phone);
  await page.getByLabel("Current password", { exact: true }).fill(password);
  await page.getByLabel("New password", { exact: true }).fill("short");
  await page.getByText("3 more characters").waitFor();
  await page.getByRole("button", { name: "Change the password" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByLabel("New password", { exact: true }).fill("another long password");
  await page.getByRole("button", { name: "Change the password" }).click();
  await page.getByText("The password is changed.").waitFor();
  await page.getByText("This device").waitFor();
  await other.getByRole("heading", { name: "Welcome back" }).waitFor({ timeout: noticed });
  const signin = await fetch(`${url}/api/v1/auth/login`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ email: user.email, password: "another long password" }) });
  assert.equal(signin.status, 200);
});

test("a session on another device is ended, and that device shows the sign-in screen", async (t) => {
  const user = await account();
  const other = await open(t, user, "/settings", { ...phone, userAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1" });
  await other.getByRole("link", { name: "Security" }).waitFor();
  const page = await open(t, user, "/settings/security");
  await page.getByText("This device").waitFor();
  await page.getByRole("button", { name: "Sign out Safari, iPhone" }).click();
  await page.getByText("Safari, iPhone is signed out").waitFor();
  await other.getByRole("heading", { name: "Welcome back" }).waitFor({ timeout: noticed });
  assert.deepEqual(await other.evaluate(() => Object.keys(localStorage)), []);
  await page.getByRole("heading", { name: "Security" }).waitFor();
});

test("signing out everywhere ends all sessions", async (t) => {
  const user = await account();
  const page = await open(t, user, "/settings/security");
  await page.getByRole("button", { name: "Sign out everywhere" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Sign out everywhere" }).click();
  await page.getByRole("heading", { name: "Welcome back" }).waitFor();
  const response = await fetch(`${url}/api/v1/auth/me`, { headers: { Authorization: `Bearer ${user.token}` } });
  assert.equal(response.status, 401);
});
