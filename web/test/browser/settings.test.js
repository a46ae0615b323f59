import assert from "node:assert/strict";
import test from "node:test";
import { accessibleInLooks, account, household, installed, offline, open, password, phone, sizes, url } from "../console.js";

test("the name changes at once; a new e-mail needs the password", async (t) => {
  const user = await account();
  const page = await open(t, user, "/settings/profile");
  await page.getByLabel("Name", { exact: true }).fill("Ada King");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator(".rail .user").getByText("Ada King").waitFor();
  await page.getByLabel("E-mail", { exact: true }).fill(`new-${user.email}`);
  await page.getByLabel("Your password, because the e-mail changes").fill("wrong password");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").filter({ hasText: "This is not your password." }).waitFor();
  await page.getByLabel("Your password, because the e-mail changes").fill(password);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByLabel("Your password, because the e-mail changes").waitFor({ state: "detached" });
  const me = (await user.get("/auth/me")).user;
  assert.deepEqual([me.name, me.email], ["Ada King", `new-${user.email}`]);
});

test("a button that is busy keeps the focus and ignores presses", async (t) => {
  const page = await open(t, await account(), "/settings/profile");
  let sent = 0;
  let answer;
  await page.route(/\/auth\/me$/, async (route) => {
    if (route.request().method() !== "PATCH") return route.continue();
    sent++;
    await new Promise((resolve) => (answer = resolve));
    await route.continue();
  });
  await page.getByLabel("Name", { exact: true }).fill("Ada King");
  const save = page.getByRole("button", { name: "Save" });
  await save.focus();
  await page.keyboard.press("Enter");
  await page.locator("button[aria-busy=true]").waitFor();
  assert.ok(await save.evaluate((node) => node === document.activeElement), "the busy button has the focus");
  await page.keyboard.press("Enter");
  await page.getByLabel("Name", { exact: true }).press("Enter");
  await save.focus();
  answer();
  await page.locator(".rail .user").getByText("Ada King").waitFor();
  await page.locator("button[aria-busy=true]").waitFor({ state: "detached" });
  assert.ok(await save.evaluate((node) => node === document.activeElement), "the button still has the focus");
  assert.equal(sent, 1);
});

test("signing out leaves nothing on the device and ends the session", async (t) => {
  const user = await account();
  await household(user);
  const page = await open(t, user, "/wallets", { ...phone, ...offline });
  await page.locator("main .list li").first().waitFor();
  await installed(page);
  await page.goto(`${url}/more`);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Welcome back" }).waitFor();
  const left = () =>
    page.evaluate(async () => ({
      local: Object.keys(localStorage),
      session: Object.keys(sessionStorage),
      databases: (await indexedDB.databases()).map(({ name }) => name),
      caches: await caches.keys(),
    }));
  const nothing = { local: [], session: [], databases: [], caches: [] };
  assert.deepEqual(await left(), nothing);
  assert.deepEqual(await page.context().cookies(), []);
  await page.reload();
  await page.getByRole("heading", { name: "Welcome back" }).waitFor();
  assert.deepEqual((await left()).databases, []);
});

test("the audit trail is in words, page by page", async (t) => {
  const user = await account();
  const grace = await account("Grace Hopper");
  const { wallets, categories } = await household(user, 1);
  const { budget } = await user.post("/budgets", { name: "Food", walletId: wallets[0].id, currency: "EUR", limit: 100, period: "monthly", startDate: "2026-01-01", categoryIds: [categories[0].id] });
  await user.post(`/budgets/${budget.id}/share`, { email: grace.email, role: "viewer", sharePercent: 20 });
  for (let i = 0; i < 16; i++) {
    const { accessToken } = await (await fetch(`${url}/api/v1/auth/login`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ email: user.email, password }) })).json();
    await fetch(`${url}/api/v1/auth/logout`, { method: "POST", headers: { Authorization: `Bearer ${accessToken}` } });
  }
  const page = await open(t, user, "/settings/activity", phone);
  await page.getByText("Signed out").first().waitFor();
  assert.equal(await page.locator("main .content li").count(), 30);
  await page.getByRole("button", { name: "Show older entries" }).click();
  await page.getByText("Account created").waitFor();
  await page.getByText("You invited Grace Hopper to “Food” as viewer").waitFor();
  await page.getByRole("button", { name: "Show older entries" }).waitFor({ state: "detached" });
});

test("language and appearance change at once and stay", async (t) => {
  const user = await account();
  const page = await open(t, user, "/settings/appearance");
  await page.getByRole("radio", { name: "Dark" }).check({ force: true });
  await page.getByRole("radio", { name: "Deutsch" }).check({ force: true });
  await page.getByRole("heading", { name: "Aussehen und Sprache" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Aussehen und Sprache" }).waitFor();
  assert.deepEqual(await page.evaluate(() => [document.documentElement.lang, getComputedStyle(document.documentElement).colorScheme]), ["de", "dark"]);
});

for (const { name, options } of sizes) {
  test(`the settings are accessible: ${name}`, async (t) => {
    const user = await account("Maximiliane Alexandra von Hohenstein-Wolkenburg");
    const page = await open(t, user, "/settings", options);
    await page.getByRole("navigation", { name: /Settings|Einstellungen/ }).waitFor();
    await accessibleInLooks(page);
    for (const section of ["profile", "security", "activity", "data", "appearance", "shortcuts", "about"]) {
      await page.goto(`${url}/settings/${section}`);
      await page.locator("main .content .card").first().waitFor();
      await accessibleInLooks(page);
    }
  });
}
