import assert from "node:assert/strict";
import test from "node:test";
import { account, closeToast, household, open, phone, tablet } from "../console.js";

test("two devices of one account follow each other live", async (t) => {
  const user = await account();
  const { wallets } = await household(user, 1);
  const laptop = await open(t, user, "/transactions", tablet);
  const mobile = await open(t, user, "/transactions", phone);
  for (const device of [laptop, mobile]) await device.getByText("Purchase 1", { exact: true }).waitFor();

  // A new transaction with a tag appears on the other device.
  await mobile.goto(`${mobile.url()}?entry=new`);
  await mobile.getByLabel("Amount", { exact: true }).fill("7");
  await mobile.getByRole("combobox", { name: "Payee" }).fill("Kiosk");
  await mobile.getByRole("radio", { name: "Groceries" }).check();
  await mobile.getByText("Tags, notes and attachments").click();
  await mobile.getByRole("combobox", { name: "Tags" }).fill("Trip");
  await mobile.getByRole("button", { name: "Save", exact: true }).click();
  const row = laptop.getByRole("link", { name: /Kiosk/ });
  await row.getByText("Trip").waitFor();

  // An attachment, also in the form that is open on the other device.
  const { transactions } = await user.get("/transaction");
  await row.click();
  await laptop.getByText("Tags, notes and attachments").waitFor();
  await mobile.getByRole("link", { name: /Kiosk/ }).click();
  await mobile.getByLabel("Add a file").setInputFiles({ name: "bill.txt", mimeType: "text/plain", buffer: Buffer.from("7.00") });
  await laptop.getByRole("button", { name: /^bill\.txt/ }).waitFor();
  await laptop.getByRole("button", { name: "Close" }).first().click();
  await row.getByTitle("1 attachment").waitFor();
  const { attachments } = await user.get(`/transaction/${transactions[0].id}/attachments`);
  await user.del(`/attachments/${attachments[0].id}`);
  await mobile.getByRole("button", { name: /^bill\.txt/ }).waitFor({ state: "detached" });
  await mobile.getByRole("button", { name: "Close" }).first().click();
  for (const device of [laptop, mobile]) await device.getByTitle("1 attachment").waitFor({ state: "detached" });

  // A renamed tag.
  await user.patch("/tags/Trip", { name: "Journey" });
  for (const device of [laptop, mobile]) await device.getByRole("link", { name: /Kiosk/ }).getByText("Journey").waitFor();

  // A transfer, with its change and its deletion.
  const date = new Date().toISOString().slice(0, 10);
  const { transfer } = await user.post("/transfers", { fromWalletId: wallets[0].id, toWalletId: wallets[1].id, amount: 12, date });
  for (const device of [laptop, mobile]) await device.getByText("Checking account → Cash").first().waitFor();
  await user.patch(`/transfers/${transfer.id}`, { amount: 13 });
  await mobile.getByRole("link", { name: /−€13\.00/ }).waitFor();
  await laptop.getByRole("link", { name: /−€13\.00/ }).click();
  await laptop.getByRole("button", { name: "Delete" }).click();
  await closeToast(laptop, "Transfer deleted");
  await mobile.getByText("Checking account → Cash").first().waitFor({ state: "detached" });
  assert.equal((await user.get("/transaction")).transactions.length, 2);
});
