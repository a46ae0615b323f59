import assert from "node:assert/strict";
import test from "node:test";
import { accessibleInLooks, account, open, password, url } from "../console.js";

// A passkey belongs to a domain, and never to an address like 127.0.0.1.
const site = url.replace("127.0.0.1", "localhost");

/** enterPassword is the first step of a sign-in. */
async function enterPassword(page, user) {
  await page.getByLabel("E-mail").fill(user.email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

async function signOut(page) {
  await page.getByRole("button", { name: "Sign out", exact: true }).first().click();
  await page.getByRole("heading", { name: "Welcome back" }).waitFor();
}

/** protectedPage opens the settings of a user who signs in with the password, in a browser with an authenticator. */
async function protectedPage(t, user) {
  const page = await open(t);
  await page.goto(site);
  const chromium = await page.context().newCDPSession(page);
  await chromium.send("WebAuthn.enable");
  const options = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true };
  await chromium.send("WebAuthn.addVirtualAuthenticator", { options });
  await enterPassword(page, user);
  await page.locator("main#main").waitFor();
  await page.goto(`${site}/settings/security`);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.locator("dialog li code").first().waitFor();
  await page.getByRole("button", { name: "I have stored them" }).click();
  return page;
}

test("a passkey is added and renamed, signs in alone and as the second step, and is deleted", async (t) => {
  const user = await account();
  const page = await protectedPage(t, user);
  await page.getByText("You have 10 recovery codes left.").waitFor();
  await page.getByRole("button", { name: /^Rename/ }).click();
  await page.getByLabel("Name of the passkey").fill("My phone");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("My phone", { exact: true }).waitFor();
  await accessibleInLooks(page);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByText("This device already has a passkey of your account.").waitFor();

  await signOut(page);
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.locator("main#main").waitFor();
  await signOut(page);
  await enterPassword(page, user);
  await page.getByRole("heading", { name: "One more step" }).waitFor();
  await accessibleInLooks(page);
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.locator("main#main").waitFor();

  await page.goto(`${site}/settings/security`);
  // The sessions show their last use too.
  await page.getByRole("region", { name: "Passkeys" }).getByText(/^last used/).waitFor();
  await page.getByRole("button", { name: "Delete My phone" }).click();
  await page.getByText("Signing in will need only your password").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("My phone", { exact: true }).waitFor({ state: "detached" });
  await signOut(page);
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByRole("alert").filter({ hasText: "This passkey was not accepted." }).waitFor();
});

test("the identity is confirmed with a passkey or a recovery code", async (t) => {
  const user = await account();
  const page = await protectedPage(t, user);
  let asked = 0;
  await page.route(/\/auth\/recovery-codes$/, (route) =>
    asked++ % 2 ? route.continue() : route.fulfill({ status: 403, json: { code: "REAUTHENTICATION_REQUIRED", message: "Confirm your identity first" } }),
  );
  const dialog = page.getByRole("dialog", { name: "Confirm that it is you" });
  const renew = async () => {
    await page.getByRole("button", { name: "New recovery codes" }).click();
    await page.getByRole("button", { name: "Create codes" }).click();
    await dialog.getByRole("button", { name: "Use a passkey" }).waitFor();
  };
  const stored = async () => {
    const codes = await page.locator("dialog li code").allTextContents();
    await page.getByRole("button", { name: "I have stored them" }).click();
    return codes;
  };
  await renew();
  await accessibleInLooks(page);
  await dialog.getByRole("button", { name: "Use a passkey" }).click();
  await page.locator("dialog li code").first().waitFor();
  const [code] = await stored();
  await renew();
  await dialog.getByRole("button", { name: "Use a recovery code" }).click();
  await dialog.getByLabel("Recovery code").fill("00000-00000");
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByText("This code is wrong or was used.").waitFor();
  await dialog.getByLabel("Recovery code").fill(code);
  await dialog.getByRole("button", { name: "Continue" }).click();
  await page.locator("dialog li code").first().waitFor();
  assert.equal((await stored()).length, 10);
});
