import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import test from "node:test";
import { accessibleInLooks, account, closeToast, household, mailed, open, password, phone, until, url } from "../console.js";

const path = (link) => new URL(link, url).href;

test("the link of a mail confirms the e-mail", async (t) => {
  const user = await account();
  const page = await open(t, user, "/");
  // The stack does not require verified e-mails, so the console would not ask for it.
  await page.route("**/api/v1/auth/me", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), emailVerification: "soft" } });
  });
  await page.goto(path("/settings"));
  await page.getByText("Your e-mail is not confirmed.").waitFor();
  await page.getByRole("button", { name: "Send the link" }).click();
  await page.getByRole("status").filter({ hasText: `on its way to ${user.email}` }).waitFor();
  const link = await mailed(user.email, "/verify");
  await page.goto(path(link));
  await page.getByRole("status").filter({ hasText: "The address is confirmed." }).waitFor();
  assert.equal(await page.evaluate(() => location.hash), "", "the token does not stay in the address");
  await accessibleInLooks(page);
  await page.goto(path("/settings"));
  await page.getByLabel("E-mail", { exact: true }).waitFor();
  assert.equal(await page.getByText("Your e-mail is not confirmed.").count(), 0);
  await page.goto(path(link));
  await page.getByRole("alert").filter({ hasText: "used before" }).waitFor();
});

test("a changed e-mail is restored with the link of a mail", async (t) => {
  const user = await account();
  const page = await open(t, user, "/settings");
  await page.getByLabel("E-mail", { exact: true }).fill(`new-${user.email}`);
  await page.getByLabel("Your password, because the e-mail changes").fill(password);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByLabel("Your password, because the e-mail changes").waitFor({ state: "detached" });
  await page.goto(path(await mailed(user.email, "/revert")));
  await page.getByRole("button", { name: "Restore the address" }).waitFor();
  await accessibleInLooks(page);
  await page.getByRole("button", { name: "Restore the address" }).click();
  await page.getByRole("status").filter({ hasText: "The address is restored" }).waitFor();
  await page.goto(path("/"));
  await page.getByLabel("E-mail").fill(user.email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1 }).filter({ hasNotText: "Welcome back" }).waitFor();
});

test("a user without an account is invited to a budget, and joins it", async (t) => {
  const ada = await account("Ada Lovelace");
  const { wallets, categories } = await household(ada, 0);
  const startDate = new Date().toISOString().slice(0, 8) + "01";
  const { budget } = await ada.post("/budgets", { name: "Food", currency: "EUR", limit: 100, period: "monthly", startDate, walletId: wallets[0].id, categoryIds: [categories[0].id] });
  const email = `${randomUUID()}@example.com`;
  const owner = await open(t, ada, `/budgets/${budget.id}`);
  await owner.getByRole("button", { name: "Invite" }).click();
  const sheet = owner.getByRole("dialog", { name: "Share this budget" });
  await sheet.getByLabel("E-mail").fill(email);
  await sheet.getByRole("button", { name: "Invite" }).click();
  await sheet.getByRole("alert").filter({ hasText: "No account has this e-mail address" }).waitFor();
  await sheet.getByRole("button", { name: "Send a mail" }).click();
  await owner.getByRole("link", { name: `Edit ${email}` }).getByText("Invited by mail").waitFor();

  await owner.getByRole("link", { name: `Edit ${email}` }).click();
  await owner.getByRole("dialog").getByText("The invitation ends on").waitFor();
  await accessibleInLooks(owner);
  await owner.getByRole("dialog").getByRole("button", { name: "Send again" }).click();
  await owner.getByText(`The mail to ${email} was sent again`).waitFor();

  const link = await mailed(email, "/join");
  const guest = await open(t, undefined, link, phone);
  assert.equal(await guest.getByLabel("E-mail").inputValue(), email);
  await guest.getByLabel("Name").fill("Mum");
  await guest.getByLabel("Password", { exact: true }).fill(password);
  await accessibleInLooks(guest);
  await guest.getByRole("button", { name: "Create account" }).click();
  await guest.waitForURL("**/welcome");
  await guest.goto(path("/invitations"));
  await guest.getByRole("button", { name: "Accept Food" }).click();
  await owner.getByRole("link", { name: "Edit Mum" }).getByText("Viewer").waitFor();
  await guest.goto(path(link));
  await guest.getByRole("alert").filter({ hasText: "used before" }).waitFor();
});

test("a withdrawn invitation cannot be used, and one to an account asks for the sign-in", async (t) => {
  const ada = await account("Ada Lovelace");
  const grace = await account("Grace Hopper");
  const { wallets, categories } = await household(ada, 0);
  const startDate = new Date().toISOString().slice(0, 8) + "01";
  const { budget } = await ada.post("/budgets", { name: "Food", currency: "EUR", limit: 100, period: "monthly", startDate, walletId: wallets[0].id, categoryIds: [categories[0].id] });
  await ada.post(`/budgets/${budget.id}/share?invite=true`, { email: grace.email });
  const link = await mailed(grace.email, "/join");
  const guest = await open(t, undefined, link);
  await guest.getByRole("button", { name: "See the invitation" }).click();
  await guest.getByRole("heading", { name: "Welcome back" }).waitFor();
  assert.equal(await guest.getByLabel("E-mail").inputValue(), grace.email);
  await guest.getByLabel("Password", { exact: true }).fill(password);
  await guest.getByRole("button", { name: "Sign in" }).click();
  await guest.getByText("Ada Lovelace wants to share this budget with you").waitFor();

  const owner = await open(t, ada, link);
  await owner.getByRole("alert").filter({ hasText: "Sign out, then open the link again." }).waitFor();
  await owner.goto(path(`/budgets/${budget.id}`));
  await owner.getByRole("link", { name: `Edit ${grace.email}` }).click();
  await owner.getByRole("dialog").getByRole("button", { name: "Withdraw" }).click();
  await closeToast(owner, `The invitation of ${grace.email} was withdrawn`);
  await owner.getByText("Only you see this budget.").waitFor();
  await guest.getByText("Ada Lovelace wants to share this budget with you").waitFor({ state: "detached" });
  // auth learns of the withdrawal by an event.
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ token: link.split("#")[1] });
  await until(async () => (await fetch(`${url}/api/v1/auth/invitation`, { method: "POST", headers, body })).status === 410);
  await guest.goto("about:blank");
  await guest.goto(path(link));
  await guest.getByRole("alert").filter({ hasText: "Ask the person who invited you" }).waitFor();
});
