import assert from "node:assert/strict";
import test from "node:test";
import { accessible, accessibleInLooks, account, closeToast, household, open, phone, sizes, tablet, until } from "../console.js";

/** tagged gives the transactions of a household tags, one list for each. */
async function tagged(user, transactions, ...lists) {
  for (const [i, tags] of lists.entries()) await user.patch(`/transaction/${transactions[i].id}`, { tags });
}

const tagsOf = async (user) => (await user.get("/tags")).tags.map(({ name, transactionCount }) => [name, transactionCount]);

test("tags are completed while typing, and are chips in the list", async (t) => {
  const user = await account();
  const { transactions } = await household(user, 2);
  await tagged(user, transactions, ["Holiday"]);
  const page = await open(t, user, `/transactions?entry=${transactions[1].id}`, tablet);
  await page.getByText("Tags, notes and attachments").click();
  const field = page.getByRole("combobox", { name: "Tags" });
  await field.fill("hol");
  await page.getByRole("option", { name: /Holiday/ }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Remove the tag Holiday" }).waitFor();
  await page.keyboard.type("work,");
  await page.getByRole("button", { name: "Remove the tag work" }).waitFor();
  await page.keyboard.type("gift");
  await page.getByLabel("Notes").fill("for Grace\nwith a card");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await until(async () => (await user.get(`/transaction/${transactions[1].id}`)).transaction.tags?.length === 3);
  const { transaction } = await user.get(`/transaction/${transactions[1].id}`);
  assert.deepEqual([transaction.tags.toSorted(), transaction.notes], [["Holiday", "gift", "work"], "for Grace\nwith a card"]);
  await page.getByRole("link", { name: /Purchase 2/ }).getByText("Holiday").waitFor();
});

test("the list is filtered by tags, by payee and without tags", async (t) => {
  const user = await account();
  const { transactions } = await household(user, 4);
  await tagged(user, transactions, ["Holiday"], ["Work", "Holiday"]);
  await user.patch(`/transaction/${transactions[2].id}`, { payee: "Bakery" });
  const page = await open(t, user, "/transactions", phone);
  const rows = (n) => page.waitForFunction((count) => document.querySelectorAll("[data-id]").length === count, n);
  await rows(4);
  await page.getByRole("searchbox").fill("#holiday");
  await page.keyboard.press("Enter");
  await rows(2);
  await page.getByRole("button", { name: "Filters", exact: true }).click();
  await page.getByRole("button", { name: "Without tags" }).click();
  await accessible(page);
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await rows(2);
  await page.waitForURL(/untagged=true/);
  await page.getByRole("button", { name: "Filters", exact: true }).click();
  await page.getByLabel("Payee").fill("bakery");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await rows(1);
  await page.getByRole("link", { name: /Bakery.*Purchase 3/ }).waitFor();
});

test("a tag is renamed, merged after a question, and deleted with undo", async (t) => {
  const user = await account();
  const { transactions } = await household(user, 3);
  await tagged(user, transactions, ["Holliday"], ["Trip"], ["Work"]);
  const page = await open(t, user, "/settings/tags");
  const act = async (tag, action) => {
    await page.getByRole("button", { name: `Actions for ${tag}` }).click();
    await page.getByRole("menuitem", { name: action }).click();
  };
  await act("Holliday", "Edit");
  await page.getByLabel("Name").fill("Holiday");
  await page.getByRole("radio", { name: "Violet" }).check({ force: true });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("link", { name: /Holiday/ }).waitFor();
  await act("Trip", "Edit");
  await page.getByLabel("Name").fill("holiday");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("There is already a tag holiday").waitFor();
  await accessible(page);
  await page.getByRole("button", { name: "Merge the tags" }).click();
  await until(async () => (await tagsOf(user)).length === 2);
  assert.deepEqual(await tagsOf(user), [["Holiday", 2], ["Work", 1]]);
  await act("Work", "Delete");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.locator(".toast").filter({ hasText: "Tag Work deleted" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: /Work/ }).waitFor();
  await act("Work", "Delete");
  await closeToast(page, "Tag Work deleted");
  await until(async () => (await tagsOf(user)).length === 1);
});

test("preferences are saved, and a change elsewhere shows both versions", async (t) => {
  const user = await account();
  await household(user, 0);
  const page = await open(t, user, "/settings/preferences");
  await page.getByLabel("Time zone").selectOption("Europe/Berlin");
  await page.getByLabel("First day of the week").selectOption("sunday");
  await page.getByLabel("Usual wallet").selectOption({ label: "Cash" });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved").waitFor();
  const { settings } = await user.get("/settings");
  assert.deepEqual([settings.timeZone, settings.weekStart], ["Europe/Berlin", "sunday"]);
  await page.getByLabel("Main currency").selectOption("CHF");
  await user.patch("/settings", { baseCurrency: "USD" });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("This was changed elsewhere").waitFor();
  await page.getByRole("button", { name: "Keep mine" }).click();
  await until(async () => (await user.get("/settings")).settings.baseCurrency === "CHF");
});

test("a preference that is changed while another one is saved stays", async (t) => {
  const user = await account();
  await household(user, 1);
  const page = await open(t, user, "/settings/preferences");
  // With the saved time zone, another day becomes today.
  await page.clock.setFixedTime(new Date("2026-01-31T23:30:00Z"));
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route("**/api/v1/settings", async (route) => {
    if (route.request().method() === "PATCH") await held;
    await route.continue();
  });
  const days = page.getByLabel("First day of the week");
  await page.getByLabel("Time zone").selectOption("Europe/Vienna");
  await page.getByRole("button", { name: "Save" }).click();
  await days.selectOption("sunday");
  let loads = 0;
  page.on("response", (response) => (loads += response.url().endsWith("/settings") && response.request().method() === "GET"));
  release();
  await page.getByText("Saved").waitFor();
  await until(async () => (await user.get("/settings")).settings.timeZone === "Europe/Vienna");
  await until(() => loads >= 2); // by the form, and by the console
  await page.locator("button[aria-busy=true]").waitFor({ state: "detached" });
  assert.equal(await days.inputValue(), "sunday");
  await page.getByRole("button", { name: "Save" }).click();
  await until(async () => (await user.get("/settings")).settings.weekStart === "sunday");
});

for (const { name, options } of sizes) {
  test(`tags and preferences are accessible: ${name}`, async (t) => {
    const user = await account();
    const { transactions } = await household(user, 1);
    await tagged(user, transactions, ["Holiday", "Work"]);
    const page = await open(t, user, "/settings/tags", options);
    await page.getByRole("link", { name: /Holiday/ }).waitFor();
    await accessibleInLooks(page);
    await page.goto(page.url().replace("tags", "preferences"));
    await page.getByLabel("Time zone").waitFor();
    await accessibleInLooks(page);
  });
}
