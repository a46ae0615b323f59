import assert from "node:assert/strict";
import test from "node:test";
import { account, desktop, household, open, phone } from "../console.js";

/** screensOfMore are the paths of the screens that the rail of a desktop lists, and More on a phone. */
const screensOfMore = ["/receipt", "/imports", "/rules", "/wallets", "/categories", "/invitations", "/settings"];
/** screensOfSettings are the paths of the screens that a section of Settings leads to. */
const screensOfSettings = ["/export", "/webhooks"];

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
  await page.getByRole("link", { name: /^API documentation/ }).waitFor();
  await back(page).click();
  await page.waitForURL("**/settings");
});

for (const width of [320, 390]) {
  test(`the bottom bar shows its whole texts on a phone of ${width} px`, async (t) => {
    const page = await open(t, await account(), "/transactions", { ...phone, viewport: { width, height: 844 }, colorScheme: "dark" });
    for (const [locale, name] of [["en", "Transactions"], ["de", "Buchungen"]]) {
      await page.evaluate((newValue) => window.dispatchEvent(new StorageEvent("storage", { key: "coffer.language", newValue })), locale);
      await page.locator("nav.bar").getByText(name, { exact: true }).waitFor();
      const texts = await page.locator("nav.bar a > span").evaluateAll((spans) =>
        spans.map((span) => ({ text: span.textContent, ...span.getBoundingClientRect().toJSON(), cut: span.scrollWidth > span.offsetWidth + 1 })),
      );
      texts.forEach(({ text, left, right, cut }, i) => assert.ok(!cut && left >= (texts[i - 1]?.right ?? 0) && right <= width, `${text} is cut`));
    }
  });
}

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
