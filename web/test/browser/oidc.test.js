import assert from "node:assert/strict";
import test from "node:test";
import { randomUUID } from "node:crypto";
import { accessibleInLooks, account, open, password, phone, url } from "../console.js";

// The identity provider sends browsers back to PUBLIC_URL.
const site = url.replace("127.0.0.1", "localhost");

/** signInAt follows a link or button to the identity provider, and signs in there. */
async function signInAt(page, name, email) {
  await page.getByText(name, { exact: true }).click();
  await page.getByLabel("E-mail").fill(email);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`${site}/**`);
}

async function security(page) {
  await page.locator("main#main").waitFor();
  await page.goto(`${site}/settings/security`);
}

async function signOut(page) {
  await page.getByRole("button", { name: "Sign out", exact: true }).first().click();
  await page.getByRole("heading", { name: "Welcome back" }).waitFor();
}

test("an identity provider creates an account, whose user confirms the identity and sets a password", async (t) => {
  const email = `${randomUUID()}@example.com`;
  const page = await open(t);
  await page.goto(`${site}/reports`);
  await page.getByText("Sign in with Home").waitFor();
  await accessibleInLooks(page);
  await page.getByText("Sign in with Home").click();
  await page.getByRole("link", { name: "Cancel" }).click();
  await page.getByRole("alert").filter({ hasText: "was canceled" }).waitFor();
  await signInAt(page, "Sign in with Home", email);
  await page.getByRole("heading", { name: "Reports" }).waitFor();
  await page.waitForURL(`${site}/reports`);

  await security(page);
  await page.getByRole("button", { name: `Unlink Home (${email})` }).click();
  await page.getByRole("button", { name: "Unlink", exact: true }).click();
  await page.getByText("You could no longer sign in.").waitFor();
  await page.keyboard.press("Escape");
  await page.route(/\/auth\/oidc\/home\/link$/, (route) => route.fulfill({ status: 403, json: { code: "REAUTHENTICATION_REQUIRED", message: "Confirm your identity first" } }), { times: 1 });
  await page.getByRole("button", { name: "Link an account at Home" }).click();
  await signInAt(page, "Sign in with Home", email);
  await page.getByText("Your identity is confirmed.").waitFor();

  await page.getByLabel("New password").fill(password);
  await page.getByRole("button", { name: "Set a password" }).click();
  await page.getByText("The password is set.").waitFor();
  await page.getByRole("button", { name: `Unlink Home (${email})` }).click();
  await page.getByRole("button", { name: "Unlink", exact: true }).click();
  await page.getByText("is unlinked").waitFor();
  await page.getByLabel("Current password").waitFor();
});

test("a code is used once, and a second step of a user who is signed in links nothing", async (t) => {
  const answer = (page, path, status, json) => page.route(`**/api/v1/auth/${path}`, (route) => route.fulfill({ status, json }), { times: 1 });
  const details = [{ field: "erasesAt", message: "2030-01-01T00:00:00Z" }, { field: "cancelToken", message: "token" }];
  const page = await open(t);
  await answer(page, "oidc/exchange?*", 403, { code: "ACCOUNT_DELETION_PENDING", message: "The account is being deleted", details });
  await answer(page, "deletion/cancel", 200, { code: "DELETION_CANCELED", message: "Deletion canceled" });
  await page.goto(`${site}/#oidc=code`);
  await page.getByRole("button", { name: "Keep the account" }).click();
  await page.getByRole("alert").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Sign in", exact: true }).waitFor();

  const user = await account();
  const other = await open(t, user, "/settings");
  await answer(other, "oidc/exchange?*", 200, { code: "MFA_REQUIRED", message: "Second factor required", mfaToken: "token", factors: ["totp"] });
  const exchanged = other.waitForResponse(/oidc\/exchange/);
  await other.goto(`${url}/settings/security#oidc=code`);
  await exchanged;
  await other.getByRole("button", { name: "Link an account at Home" }).waitFor();
  assert.equal(await other.getByText("The account is linked").count(), 0);
});

test("an account is linked to an identity, which then signs in", async (t) => {
  const user = await account();
  const page = await open(t, undefined, "/", phone);
  await page.goto(site);
  await signInAt(page, "Sign in with Home", user.email);
  await page.getByRole("alert").filter({ hasText: "is not linked to yours" }).waitFor();
  await page.getByLabel("E-mail").fill(user.email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await security(page);
  await signInAt(page, "Link an account at Home", user.email);
  await page.getByText("The account is linked").waitFor();
  await page.getByText("not used yet").waitFor();
  await accessibleInLooks(page);
  await page.goto(`${site}/settings`);
  await signOut(page);
  await signInAt(page, "Sign in with Home", user.email);
  await page.locator("main#main").waitFor();
});
