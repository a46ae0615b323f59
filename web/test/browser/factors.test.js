import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import test from "node:test";
import { accessibleInLooks, account, open, password } from "../console.js";

/** codeOf returns the code of an authenticator app (RFC 6238), of the present step or of one after. */
function codeOf(secret, after = 0) {
  const bits = [...secret].map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + after));
  const hash = createHmac("sha1", key).update(step).digest();
  const number = hash.readUInt32BE(hash.at(-1) & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, "0");
}

async function enterPassword(page, user) {
  await page.getByLabel("E-mail").fill(user.email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "One more step" }).waitFor();
}

/** home waits until the user is signed in. */
async function home(page) {
  await page.locator("main#main").waitFor();
}

test("an app is enabled, and signs in with a code or a recovery code", async (t) => {
  const user = await account();
  const page = await open(t, user, "/settings/security");
  await page.getByRole("button", { name: "Set up" }).click();
  await page.getByRole("img", { name: "QR code" }).waitFor();
  await page.getByText("No camera? Enter the secret").click();
  const secret = (await page.locator("dialog code").textContent()).replaceAll(" ", "");
  await accessibleInLooks(page);
  await page.getByLabel("Code that the app shows").fill("12345");
  await page.getByRole("button", { name: "Enable" }).click();
  await page.locator("[aria-invalid=true]").waitFor();
  await page.getByLabel("Code that the app shows").fill(codeOf(secret));
  await page.getByRole("button", { name: "Enable" }).click();
  const codes = page.locator("dialog li code");
  await codes.first().waitFor();
  const recovery = await codes.allTextContents();
  assert.equal(recovery.length, 10);
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as a file" }).click()]);
  assert.equal(saved.suggestedFilename(), "coffer-recovery-codes.txt");
  await page.getByRole("button", { name: "I have stored them" }).click();
  await page.getByText("You have 10 recovery codes left.").waitFor();

  const other = await open(t);
  await enterPassword(other, user);
  await accessibleInLooks(other);
  await other.getByLabel("Code of your authenticator app").fill("000000");
  await other.getByRole("button", { name: "Sign in" }).click();
  await other.getByText("This code is wrong or was used. Wait for the next one.").waitFor();
  await other.getByLabel("Code of your authenticator app").fill(codeOf(secret, 1));
  await other.getByRole("button", { name: "Sign in" }).click();
  await home(other);

  const lost = await open(t);
  await enterPassword(lost, user);
  await lost.getByRole("button", { name: "No access to the app?" }).click();
  await lost.getByLabel("Recovery code").fill(recovery[0].toUpperCase());
  await lost.getByRole("button", { name: "Sign in" }).click();
  await home(lost);
});

test("a change of the second step asks for the password if the sign-in is old", async (t) => {
  const user = await account();
  const page = await open(t, user, "/settings/security");
  let old = true;
  await page.route(/\/auth\/totp$/, async (route) => {
    if (!old) return route.continue();
    old = false;
    await route.fulfill({ status: 403, json: { code: "REAUTHENTICATION_REQUIRED", message: "Confirm your identity first" } });
  });
  await page.getByRole("button", { name: "Set up" }).click();
  const dialog = page.getByRole("dialog", { name: "Confirm that it is you" });
  await dialog.getByLabel("Password", { exact: true }).fill("wrong password");
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByText("This is not your password.").waitFor();
  await dialog.getByLabel("Password", { exact: true }).fill(password);
  await dialog.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("img", { name: "QR code" }).waitFor();
});
