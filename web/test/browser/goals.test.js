// Goals: cards with what is saved, and money of wallets that is assigned to them.
import assert from "node:assert/strict";
import test from "node:test";
import { accessible, account, closeToast, desktop, open, phone, url } from "../console.js";

/** saver gives an account a wallet for savings with 500 EUR, and a goal of 300 EUR by the end of a month. */
async function saver() {
  const user = await account();
  await user.post("/wallet", { name: "Cash", currency: "EUR", balance: 20 });
  const { wallet } = await user.post("/wallet", { name: "Savings", currency: "EUR", balance: 500, kind: "savings" });
  const { goal } = await user.post("/goals", { name: "Trip to Japan", currency: "EUR", target: 300, targetDate: "2199-12-31", icon: "🗾" });
  return { user, wallet, goal };
}

test("money is assigned to a goal with two taps, and taken back", async (t) => {
  const { user, wallet, goal } = await saver();
  const page = await open(t, user, "/goals", phone);
  const card = page.getByRole("article", { name: "Trip to Japan" });
  await card.getByText("€0.00").waitFor();
  await card.getByText("On track").waitFor();
  await card.getByText("Nothing assigned yet").waitFor();
  await accessible(page);

  await card.getByRole("link", { name: "Assign money to Trip to Japan" }).click();
  const sheet = page.getByRole("dialog", { name: "Assign money to Trip to Japan" });
  await accessible(page);
  await sheet.getByRole("button", { name: "Assign", exact: true }).click();
  await closeToast(page, "assigned");
  const { assignments } = await user.get(`/goals/${goal.id}/assignments`);
  assert.deepEqual(assignments.map(({ walletId }) => walletId), [wallet.id], "the wallet for savings is proposed");
  await card.getByText("Ahead of plan").waitFor();

  // More than the goal has of the wallet is not taken back.
  await user.post(`/goals/${goal.id}/assignments`, { walletId: wallet.id, amount: 200, date: "2026-01-01" });
  await card.getByRole("link", { name: "Assign money" }).click();
  await sheet.getByRole("radio", { name: "Take back" }).check();
  await sheet.getByRole("textbox", { name: "Amount" }).fill("250");
  await sheet.getByRole("button", { name: "Take back", exact: true }).click();
  await sheet.getByText("The goal has less of this wallet").waitFor();
  await sheet.getByRole("textbox", { name: "Amount" }).fill("50");
  await sheet.getByRole("button", { name: "Take back", exact: true }).click();
  await closeToast(page, "€50.00 taken back");

  // The history lists each assignment, and deletes one.
  await card.getByRole("button", { name: "Actions of Trip to Japan" }).click();
  await page.getByRole("menuitem", { name: "Assignments" }).click();
  const history = page.getByRole("dialog", { name: "Assignments of Trip to Japan" });
  await history.getByRole("listitem").nth(2).waitFor();
  await accessible(page);
  await history.getByRole("button", { name: "Delete the assignment of −€50.00" }).click();
  await closeToast(page, "Assignment deleted");
  await history.getByRole("listitem").nth(2).waitFor({ state: "detached" });
});

test("a goal is created, reached, archived and deleted", async (t) => {
  const user = await account();
  const { wallet } = await user.post("/wallet", { name: "Savings", currency: "EUR", balance: 100 });
  const page = await open(t, user, "/", desktop);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Goals" }).click();
  await page.getByRole("heading", { name: "No goals yet" }).waitFor();
  await page.getByRole("link", { name: "Create goal" }).click();
  const form = page.getByRole("dialog", { name: "New goal" });
  await form.getByRole("textbox", { name: "Name" }).fill("Bicycle");
  await form.getByRole("textbox", { name: "Target" }).fill("0");
  await page.keyboard.press("Enter");
  await form.getByText("Enter an amount above 0").waitFor();
  await form.getByRole("textbox", { name: "Target" }).fill("150");
  await accessible(page);
  await page.keyboard.press("Enter");
  await closeToast(page, "Saved");
  const card = page.getByRole("article", { name: "Bicycle" });
  await card.getByText("saved of €150.00").waitFor();

  // Money that is assigned elsewhere appears. The wallet has less than that.
  const { goals: [goal] } = await user.get("/goals");
  await user.post(`/goals/${goal.id}/assignments`, { walletId: wallet.id, amount: 150, date: "2026-01-01" });
  await card.getByText("Reached", { exact: true }).waitFor();
  await page.getByText("€50.00 missing").waitFor();
  await page.getByRole("link", { name: "Notifications: 1" }).click();
  await page.getByText("You have reached Bicycle").click();
  await page.waitForURL("**/goals");

  await card.getByRole("button", { name: "Actions of Bicycle" }).click();
  await page.getByRole("menuitem", { name: "Archive" }).click();
  await page.getByRole("heading", { name: "Archived" }).waitFor();
  await page.getByText("€50.00 missing").waitFor({ state: "detached" });
  await accessible(page);
  await card.getByRole("button", { name: "Actions of Bicycle" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const sent = page.waitForResponse((response) => response.request().method() === "DELETE");
  await closeToast(page, "Bicycle deleted");
  await page.getByRole("heading", { name: "No goals yet" }).waitFor();
  await sent;
  assert.deepEqual((await user.get("/goals")).goals, []);
});

test("money of a deleted wallet can only be taken back", async (t) => {
  const { user, wallet, goal } = await saver();
  await user.post(`/goals/${goal.id}/assignments`, { walletId: wallet.id, amount: 100, date: "2026-01-01" });
  await user.del(`/wallet/${wallet.id}`);
  const page = await open(t, user, "/goals", desktop);
  await page.getByText("€100.00 missing").waitFor();
  await page.getByText("The wallet is deleted. Take the money back.").waitFor();
  assert.equal(await page.getByText("add money to the wallet").count(), 0);
});

test("a goal with little money is reached after the last year of dates", async (t) => {
  const { user, wallet } = await saver();
  const { goal } = await user.post("/goals", { name: "House", currency: "EUR", target: 900000 });
  await user.post(`/goals/${goal.id}/assignments`, { walletId: wallet.id, amount: 1, date: "2026-01-01" });
  const page = await open(t, user, "/goals", desktop);
  await page.getByRole("article", { name: "House" }).getByText("Reached after 2200 at the present pace").waitFor();
});

test("two users save for a goal, each from the own wallets, and one leaves", async (t) => {
  const [ada, grace] = [await account("Ada Lovelace"), await account("Grace Hopper")];
  const { wallet } = await ada.post("/wallet", { name: "Ada's savings", currency: "EUR", balance: 500, kind: "savings" });
  await grace.post("/wallet", { name: "Piggy bank", currency: "EUR", balance: 500, kind: "savings" });
  const { goal } = await ada.post("/goals", { name: "Trip", currency: "EUR", target: 300 });
  await ada.post(`/goals/${goal.id}/assignments`, { walletId: wallet.id, amount: 100, date: "2026-01-01" });
  const owner = await open(t, ada, "/goals", desktop);
  const guest = await open(t, grace, "/goals", phone);
  const menu = async (page, item) => {
    await page.getByRole("button", { name: "Actions of Trip" }).press("Enter");
    await page.getByRole("menuitem", { name: item }).press("Enter");
  };

  await menu(owner, "Share");
  await owner.getByRole("dialog", { name: "Members of Trip" }).getByRole("button", { name: "Invite" }).press("Enter");
  const sheet = owner.getByRole("dialog", { name: "Share this goal" });
  await sheet.getByLabel("E-mail").fill(grace.email);
  await accessible(owner);
  await sheet.getByLabel("E-mail").press("Enter");
  await owner.getByRole("link", { name: "Edit Grace Hopper" }).getByText("Invited").waitFor();
  await accessible(owner);

  // The invitation arrives without a reload, and is accepted with the keyboard.
  await guest.getByText("Ada Lovelace wants to save for this goal with you").waitFor();
  await accessible(guest);
  await guest.getByRole("button", { name: "Accept Trip" }).press("Enter");
  const card = guest.getByRole("article", { name: "Trip" });
  await card.getByText("Shared by Ada Lovelace").waitFor();
  await card.getByText("€100.00").waitFor();
  await card.getByRole("link", { name: "Assign money to Trip" }).click();
  const assign = guest.getByRole("dialog", { name: "Assign money to Trip" });
  await assign.getByRole("textbox", { name: "Amount" }).fill("200");
  await assign.getByRole("button", { name: "Assign", exact: true }).click();
  await closeToast(guest, "assigned");
  await owner.getByRole("dialog", { name: "Members of Trip" }).press("Escape");
  await owner.getByRole("article", { name: "Trip" }).getByText("€300.00", { exact: true }).first().waitFor();
  await menu(owner, "Assignments");
  const history = owner.getByRole("dialog", { name: "Assignments of Trip" });
  await history.getByRole("listitem").filter({ hasText: "Grace Hopper" }).waitFor();
  assert.equal(await history.getByText("Piggy bank").count(), 0);
  assert.equal(await history.getByRole("button", { name: /Delete the assignment/ }).count(), 1, "only the own money is deleted");
  await history.press("Escape");

  await menu(guest, "Leave goal");
  await closeToast(guest, "You left Trip");
  await guest.getByText("No goals yet").waitFor();
  await owner.getByRole("article", { name: "Trip" }).getByText("€100.00").waitFor();
});

test("the members of a goal say that they could not be loaded", async (t) => {
  const { user, goal } = await saver();
  const page = await open(t, user, "/goals", desktop);
  await page.route("**/goals/*/members?*", (route) => route.abort());
  await page.goto(`${url}/goals?members=${goal.id}`);
  const dialog = page.getByRole("dialog", { name: `Members of ${goal.name}` });
  await dialog.getByRole("alert").getByText("No connection").waitFor();
  assert.equal(await dialog.getByText("Only you see this goal.").count(), 0);
  await page.unrouteAll();
  await dialog.getByRole("button", { name: "Try again" }).click();
  await dialog.getByText("Only you see this goal.").waitFor();
});
