import assert from "node:assert/strict";
import test from "node:test";
import { account, household, open, until } from "../console.js";

for (const [timeZone, now, day, month] of [
  ["Pacific/Auckland", "2026-01-31T11:00:00Z", "2026-02-01", "February"],
  ["America/Los_Angeles", "2026-02-01T07:59:59Z", "2026-01-31", "January"],
]) {
  test(`the settings decide which day and month are current: ${timeZone}`, async (t) => {
    const user = await account();
    const { wallets, categories } = await household(user, 0);
    const food = { walletId: wallets[0].id, categoryId: categories[0].id, currency: "EUR", type: "expense", amount: 5 };
    for (const date of ["2026-01-10", "2026-02-10"]) await user.post("/transaction", { ...food, date });
    await user.patch("/settings", { timeZone });
    const page = await open(t, user, "/settings/preferences");
    await page.clock.setFixedTime(new Date(now));
    await page.goto(new URL("/wallets?edit=new", page.url()).href);
    await until(async () => (await page.getByLabel("Opening day").inputValue()) === day);
    await page.goto(new URL("/", page.url()).href);
    await page.locator(".months").getByText(month).waitFor();
    assert.ok(await page.getByRole("button", { name: "Next month" }).isDisabled(), "no later month is current");
  });
}

test("a new user gets the time zone of the browser, and a chosen one stays", async (t) => {
  const user = await account();
  await open(t, user, "/", { timezoneId: "Asia/Kathmandu" });
  await until(async () => ["Asia/Kathmandu", "Asia/Katmandu"].includes((await user.get("/settings")).settings.timeZone));
  await user.patch("/settings", { timeZone: "UTC" });
  const page = await open(t, user, "/settings/preferences", { timezoneId: "Asia/Tokyo" });
  await page.getByLabel("Time zone").waitFor();
  assert.equal(await page.getByLabel("Time zone").inputValue(), "UTC");
  assert.equal((await user.get("/settings")).settings.timeZone, "UTC");
});

test("a weekly budget starts on the first day of the week of the settings", async (t) => {
  const user = await account();
  await household(user, 0);
  await user.patch("/settings", { weekStart: "sunday" });
  const page = await open(t, user, "/budgets?budget=new");
  await page.clock.setFixedTime(new Date("2026-12-01T12:00:00Z"));
  await Promise.all([page.waitForResponse(/\/api\/v1\/settings$/), page.reload()]);
  const start = page.getByLabel("First day", { exact: true });
  const repeats = page.getByLabel("Repeats");
  await until(async () => {
    // The choice uses the settings that the page has, and they may arrive after it.
    await repeats.selectOption("monthly");
    await repeats.selectOption("weekly");
    return (await start.inputValue()) === "2026-11-29";
  });
  await repeats.selectOption("monthly");
  await until(async () => (await start.inputValue()) === "2026-12-01");
});
