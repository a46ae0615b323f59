import assert from "node:assert/strict";
import test from "node:test";
import { accessibleInLooks, account, closeToast, household, open, phone, sizes } from "../console.js";

const iso = (daysFromNow) => new Date(Date.now() + daysFromNow * 86_400_000).toISOString().slice(0, 10);

async function budgetOf(user, name = "Food") {
  const home = await household(user, 0);
  const body = { name, currency: "EUR", limit: 100, period: "monthly", startDate: `${iso(0).slice(0, 7)}-01`, walletId: home.wallets[0].id, categoryIds: [home.categories[0].id] };
  return { home, budget: (await user.post("/budgets", body)).budget };
}

const stored = async (user, budget) => (await user.get(`/budgets/${budget.id}/members`)).members;

test("two users share a budget: one declines, then accepts, and leaves", async (t) => {
  const [ada, grace] = [await account("Ada Lovelace"), await account("Grace Hopper")];
  const { budget } = await budgetOf(ada);
  const owner = await open(t, ada, `/budgets/${budget.id}`);
  const guest = await open(t, grace, "/budgets", phone);
  await guest.getByText("No budgets yet").waitFor();

  await owner.getByRole("button", { name: "Invite" }).click();
  const sheet = owner.getByRole("dialog", { name: "Share this budget" });
  await sheet.getByLabel("E-mail").fill("nobody@example.com");
  await sheet.getByRole("button", { name: "Invite" }).click();
  await sheet.getByRole("alert").filter({ hasText: "No account has this e-mail address" }).waitFor();
  await sheet.getByLabel("E-mail").fill(grace.email);
  await sheet.getByRole("textbox", { name: "Share" }).fill("40");
  await sheet.getByText("€40.00 of the limit. 60% remain with the owner.").waitFor();
  await sheet.getByRole("button", { name: "Invite" }).click();
  await owner.getByRole("link", { name: "Edit Grace Hopper" }).getByText("Invited").waitFor();

  // The invitation arrives without a reload.
  await guest.getByText("Ada Lovelace wants to share this budget with you").waitFor();
  await guest.getByText("Your share is 40%.").waitFor();
  await guest.getByRole("button", { name: "Decline Food" }).click();
  await guest.getByText("You declined Food").waitFor();
  await owner.getByRole("link", { name: "Edit Grace Hopper" }).getByText("Declined").waitFor();

  await owner.getByRole("link", { name: "Edit Grace Hopper" }).click();
  await owner.getByRole("dialog").getByRole("button", { name: "Invite again" }).click();
  await guest.getByRole("button", { name: "Accept Food" }).click();
  await guest.getByRole("link", { name: /Food/ }).click();
  await guest.getByText("left of €100.00").waitFor();
  assert.equal(await guest.getByRole("link", { name: "Edit" }).count(), 0, "a viewer cannot edit");
  assert.equal((await stored(ada, budget))[0].sharePercent, 40);

  await guest.getByRole("button", { name: "More" }).click();
  await guest.getByRole("menuitem", { name: "Leave budget" }).click();
  await closeToast(guest, "You left Food");
  await owner.getByRole("link", { name: "Edit Grace Hopper" }).waitFor({ state: "detached" });
  await guest.getByText("No budgets yet").waitFor();
});

test("the owner changes role and share of a member, and removes the member", async (t) => {
  const [ada, grace] = [await account("Ada Lovelace"), await account("Grace Hopper")];
  const { budget } = await budgetOf(ada);
  await ada.post(`/budgets/${budget.id}/share`, { email: grace.email });
  await grace.patch(`/budgets/${budget.id}/members/${grace.user.id}`, { status: "accepted" });
  const page = await open(t, ada, `/budgets/${budget.id}`);
  await page.getByRole("link", { name: "Edit Grace Hopper" }).click();
  const sheet = page.getByRole("dialog");
  await sheet.getByRole("radio", { name: "Editor" }).check();
  await sheet.getByRole("textbox", { name: "Share" }).fill("101");
  await sheet.getByRole("button", { name: "Save" }).click();
  await sheet.getByRole("alert").filter({ hasText: "from 0 to 100" }).waitFor();
  await sheet.getByRole("textbox", { name: "Share" }).fill("33.33");
  await sheet.getByRole("button", { name: "Save" }).click();
  await page.getByRole("link", { name: "Edit Grace Hopper" }).getByText("33.33%").waitFor();
  const [member] = await stored(ada, budget);
  assert.deepEqual([member.role, member.sharePercent], ["editor", 33.33]);

  await page.getByRole("link", { name: "Edit Grace Hopper" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await closeToast(page, "Grace Hopper was removed");
  await page.getByText("Only you see this budget.").waitFor();
});

test("a budget is shared with the keyboard only", async (t) => {
  const [ada, grace] = [await account("Ada Lovelace"), await account("Grace Hopper")];
  const { budget } = await budgetOf(ada);
  const page = await open(t, ada, `/budgets/${budget.id}`);
  const invite = page.getByRole("button", { name: "Invite" });
  await invite.waitFor();
  const focused = (locator) => locator.evaluate((node) => node === document.activeElement).catch(() => false);
  const tabTo = async (locator) => {
    for (let i = 0; i < 60; i++) {
      if (await focused(locator)) return;
      await page.keyboard.press("Tab");
    }
    assert.fail(`Tab does not reach ${locator}`);
  };
  await tabTo(invite);
  await page.keyboard.press("Enter");
  const sheet = page.getByRole("dialog", { name: "Share this budget" });
  await sheet.waitFor();
  assert.ok(await focused(sheet.getByLabel("E-mail")), "the e-mail has the focus");
  await page.keyboard.type(grace.email);
  await tabTo(sheet.getByRole("radio", { name: "Viewer" }));
  await page.keyboard.press("ArrowRight");
  await tabTo(sheet.getByRole("slider", { name: "Share" }));
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
  await tabTo(sheet.getByRole("button", { name: "Invite" }));
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Edit Grace Hopper" }).waitFor();
  const [member] = await stored(ada, budget);
  assert.deepEqual([member.role, member.sharePercent, member.status], ["editor", 3, "pending"]);
  await sheet.waitFor({ state: "detached" });
  assert.ok(await focused(invite), "the focus returns to the button");

  const guest = await open(t, grace, "/invitations");
  const accept = guest.getByRole("button", { name: "Accept Food" });
  await accept.focus();
  await guest.keyboard.press("Enter");
  await guest.getByText("No invitations").waitFor();
  assert.equal((await stored(ada, budget))[0].status, "accepted");
});

for (const { name, options } of sizes) {
  test(`sharing is accessible: ${name}`, async (t) => {
    const [ada, grace] = [await account("Ada Lovelace"), await account("Grace Hopper-Wolffensteinmüllerberger de la Fuente")];
    const { budget } = await budgetOf(ada, "Ein langer Name für die Lebensmittel der ganzen Familie");
    await ada.post(`/budgets/${budget.id}/share`, { email: grace.email, role: "editor", sharePercent: 12.5 });
    const page = await open(t, ada, `/budgets/${budget.id}?share=${grace.user.id}`, options);
    await page.getByRole("dialog").locator("form").waitFor();
    await accessibleInLooks(page);
    const guest = await open(t, grace, "/invitations", options);
    await guest.getByRole("article").waitFor();
    await accessibleInLooks(guest);
  });
}
