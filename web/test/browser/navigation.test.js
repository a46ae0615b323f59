import assert from "node:assert/strict";
import test from "node:test";
import { account, desktop, household, open, phone } from "../console.js";

/** screensOfMore are the paths of the screens that the rail of a desktop lists, and More on a phone. */
const screensOfMore = ["/receipt", "/wallets", "/categories", "/invitations", "/webhooks", "/settings"];
/** screensOfSettings are the paths of the screens that a section of Settings leads to. */
const screensOfSettings = ["/imports", "/rules", "/export"];

const back = (page) => page.locator("main").getByRole("link", { name: "Back" });
const current = (page) => page.locator("nav.bar [aria-current]").innerText();

test("on a phone, each screen that the bottom bar does not name leads back to the one above", async (t) => {
  const page = await open(t, await account(), "/more", phone);
  for (const path of screensOfMore) {
    await page.locator(`main a[href="${path}"]`).last().click();
    await page.waitForURL(`**${path}`);
    await back(page).waitFor();
    assert.equal(await current(page), "More", path);
    await back(page).click();
    await page.waitForURL("**/more");
  }
  await page.goto(new URL("/settings/data", page.url()).href);
  for (const path of screensOfSettings) {
    await page.locator(`main a[href="${path}"]`).click();
    await page.waitForURL(`**${path}`);
    await back(page).waitFor();
    assert.equal(await current(page), "More", path);
    await back(page).click();
    await page.waitForURL("**/settings/data");
  }
  await back(page).click();
  await page.waitForURL("**/settings");
});

test("the main screens have no screen above them, and the details of a budget and a webhook do", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 3);
  const { budget } = await user.post("/budgets", {
    name: "Food", currency: "EUR", limit: 100, period: "monthly", startDate: "2026-01-01", walletId: wallets[0].id, categoryIds: [categories[0].id],
  });
  const { webhook } = await user.post("/webhooks", { url: "https://hooks.example.com/coffer" });
  const page = await open(t, user, "/", phone);
  for (const path of ["/", "/transactions", "/budgets", "/more", "/nowhere/else"]) {
    await page.goto(new URL(path, page.url()).href);
    await page.locator("main h1").waitFor();
    assert.equal(await back(page).count(), 0, path);
  }
  for (const [list, { id }] of [["/budgets", budget], ["/webhooks", webhook]]) {
    await page.goto(new URL(`${list}/${id}`, page.url()).href);
    await back(page).click();
    await page.waitForURL(`**${list}`);
  }
});

test("on a desktop, only the screens that the rail does not list lead back", async (t) => {
  const page = await open(t, await account(), "/", desktop);
  for (const path of [...screensOfMore, "/settings/security"]) {
    await page.goto(new URL(path, page.url()).href);
    await page.locator("main h1").waitFor();
    assert.equal(await back(page).count(), 0, path);
  }
  for (const path of screensOfSettings) {
    await page.goto(new URL(path, page.url()).href);
    await back(page).waitFor();
    assert.equal(await page.locator("nav.rail [aria-current]").innerText(), "Settings", path);
  }
});
