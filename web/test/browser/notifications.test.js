import assert from "node:assert/strict";
import test from "node:test";
import { accessibleInLooks, account, closeToast, household, open, sizes, until } from "../console.js";

const today = new Date().toISOString().slice(0, 10);

async function budgetOf(user, name = "Food") {
  const home = await household(user, 0);
  const body = { name, currency: "EUR", limit: 100, period: "monthly", startDate: `${today.slice(0, 7)}-01`, walletId: home.wallets[0].id, categoryIds: [home.categories[0].id] };
  return { home, budget: (await user.post("/budgets", body)).budget };
}

test("an alert arrives live, and is read, marked unread and deleted", async (t) => {
  const user = await account();
  const { home } = await budgetOf(user);
  const page = await open(t, user, "/budgets");
  await page.getByRole("link", { name: /Food/ }).waitFor();
  await user.post("/transaction", { amount: 81, type: "expense", currency: "EUR", date: today, description: "Market", walletId: home.wallets[0].id, categoryId: home.categories[0].id });
  await page.getByRole("link", { name: "Notifications: 1" }).click();
  const drawer = page.getByRole("dialog", { name: "Notifications" });
  await drawer.getByText("€81.00 of €100.00 spent").waitFor();
  await drawer.getByRole("button", { name: "Mark as read: Food has reached 80%" }).click();
  await drawer.getByRole("button", { name: "Mark as unread: Food has reached 80%" }).click();
  await drawer.getByRole("button", { name: "Mark all read" }).click();
  await drawer.getByRole("button", { name: "Mark as unread: Food has reached 80%" }).waitFor();
  await drawer.getByRole("radio", { name: "Unread" }).check();
  await drawer.getByText("You have read everything").waitFor();
  assert.equal((await user.get("/notifications?read=false")).unreadCount, 0);

  await drawer.getByRole("radio", { name: "All" }).check();
  await drawer.getByRole("button", { name: "Delete notification: Food has reached 80%" }).click();
  await drawer.getByText("Nothing new").waitFor();
  await closeToast(page, "The notification was deleted");
  await until(async () => (await user.get("/notifications")).notifications.length === 0);
});

test("a notification opens its budget, and an invitation is answered inside", async (t) => {
  const [ada, grace] = [await account("Ada Lovelace"), await account("Grace Hopper")];
  const { budget } = await budgetOf(ada, "Holiday");
  await ada.post(`/budgets/${budget.id}/share`, { email: grace.email, sharePercent: 25 });
  const page = await open(t, grace, "/budgets?notifications=open");
  const drawer = page.getByRole("dialog", { name: "Notifications" });
  await drawer.getByText("Ada Lovelace wants to share Holiday with you").waitFor();
  await drawer.getByText("You can see it, share 25%").waitFor();
  await drawer.getByRole("button", { name: "Accept Holiday" }).click();
  await page.getByText("You now share Holiday").waitFor();
  await drawer.getByRole("button", { name: /^You accepted the invitation of Ada Lovelace to Holiday/ }).waitFor();
  await drawer.getByRole("button", { name: "Accept Holiday" }).waitFor({ state: "detached" });
  await drawer.getByText("wants to share").waitFor({ state: "detached" });

  const owner = await open(t, ada, "/budgets?notifications=open");
  await owner.getByRole("button", { name: /Grace Hopper accepted your invitation to Holiday/ }).first().click();
  await owner.waitForURL(`**/budgets/${budget.id}`);
  await owner.getByRole("heading", { name: "Holiday" }).waitFor();
  await owner.getByRole("link", { name: "Notifications", exact: true }).waitFor();
});

test("a notification says that its invitation was declined", async (t) => {
  const [ada, grace] = [await account("Ada Lovelace"), await account("Grace Hopper")];
  const { budget } = await budgetOf(ada, "Holiday");
  await ada.post(`/budgets/${budget.id}/share`, { email: grace.email });
  const page = await open(t, grace, "/budgets?notifications=open");
  const drawer = page.getByRole("dialog", { name: "Notifications" });
  await drawer.getByRole("button", { name: "Decline Holiday" }).click();
  await drawer.getByText("The invitation to Holiday is closed").waitFor();
  await drawer.getByText("You declined it or left, or it was withdrawn.").waitFor();
});

for (const { name, options } of sizes) {
  test(`the notifications are accessible: ${name}`, async (t) => {
    const [ada, grace] = [await account("Ada Lovelace"), await account("Grace Hopper")];
    const { budget } = await budgetOf(ada, "Ein langer Name für die Lebensmittel der ganzen Familie");
    await ada.post(`/budgets/${budget.id}/share`, { email: grace.email });
    const page = await open(t, grace, "/budgets?notifications=open", options);
    const drawer = page.getByRole("dialog");
    await drawer.getByRole("listitem").first().waitFor();
    await accessibleInLooks(page);
    const empty = await open(t, await account(), "/budgets?notifications=open", options);
    await empty.getByRole("dialog").getByRole("heading", { level: 2 }).nth(1).waitFor();
    await accessibleInLooks(empty);
  });
}
