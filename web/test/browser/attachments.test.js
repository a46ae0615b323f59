import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { accessible, accessibleInLooks, account, closeToast, household, open, phone, sizes, until } from "../console.js";

const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const text = { name: "invoice.txt", mimeType: "text/plain", buffer: Buffer.from("<script>alert(1)</script> 12.50") };
const image = { name: "photo.png", mimeType: "image/png", buffer: png };

/** edit opens a transaction with the fold of its attachments. */
async function edit(t, user, id, options) {
  const page = await open(t, user, `/transactions?entry=${id}`, options);
  await page.getByText("Tags, notes and attachments").click();
  await page.getByText("Add a file").waitFor();
  return page;
}

test("files are added, opened and deleted with undo", async (t) => {
  const user = await account();
  const { transactions } = await household(user, 1);
  const [{ id }] = transactions;
  const page = await edit(t, user, id, phone);
  await page.getByLabel("Add a file").setInputFiles([text, image]);
  await page.getByRole("button", { name: /^photo\.png/ }).click();
  const shown = page.getByRole("img", { name: "photo.png" });
  await shown.waitFor();
  assert.match(await shown.getAttribute("src"), /^blob:/);
  await page.getByRole("button", { name: "Close" }).last().click();
  // A text is saved, and never opened as a page.
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: /^invoice\.txt/ }).click()]);
  assert.equal(saved.suggestedFilename(), "invoice.txt");
  assert.deepEqual(await readFile(await saved.path()), text.buffer);
  assert.equal(page.context().pages().length, 1);
  await page.getByRole("button", { name: "Delete invoice.txt" }).click();
  await page.getByRole("button", { name: /^invoice\.txt/ }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await page.locator(".toast").waitFor({ state: "detached" });
  await page.getByRole("button", { name: /^invoice\.txt/ }).waitFor();
  await page.getByRole("button", { name: "Delete invoice.txt" }).click();
  await closeToast(page, "Attachment deleted");
  await until(async () => (await user.get(`/transaction/${id}/attachments`)).attachments.length === 1);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.locator("[data-id]").getByTitle("1 attachment").waitFor();
});

test("a new transaction is sent with its files, and a failed one is sent again from its form", async (t) => {
  const user = await account();
  await household(user, 0);
  const page = await open(t, user, "/transactions?entry=new", phone);
  await page.getByLabel("Amount", { exact: true }).fill("12");
  await page.getByRole("combobox", { name: "Payee" }).fill("Workshop");
  await page.getByRole("radio", { name: "Groceries" }).check();
  await page.getByText("Tags, notes and attachments").click();
  await page.getByLabel("Add a file").setInputFiles([text, image]);
  await page.getByRole("button", { name: "Do not attach photo.png" }).waitFor();
  let failing = true;
  await page.route("**/attachments", (route) => (failing && route.request().method() === "POST" && route.request().postData()?.includes("photo.png") ? route.abort() : route.continue()));
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved, but not attached: photo.png").first().waitFor();
  await page.getByRole("heading", { name: "Edit transaction" }).waitFor();
  await page.getByRole("button", { name: /^invoice\.txt/ }).waitFor();
  await page.getByRole("alert").filter({ hasText: "photo.png: " }).waitFor();
  await accessible(page);
  failing = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("button", { name: /^photo\.png/ }).waitFor();
  const { transactions } = await user.get("/transaction");
  assert.deepEqual(transactions.map(({ payee, attachmentCount }) => [payee, attachmentCount]), [["Workshop", 2]]);
});

test("a file of another type, one that is too large and a full quota are explained at the field", async (t) => {
  const user = await account();
  const { transactions } = await household(user, 1);
  const page = await edit(t, user, transactions[0].id);
  const field = page.getByRole("group", { name: "Attachments" });
  const add = (file) => page.getByLabel("Add a file").setInputFiles(file);
  const explained = async (message) => {
    const alert = field.getByRole("alert").filter({ hasText: message });
    await alert.waitFor();
    assert.equal(await field.getAttribute("aria-describedby"), await alert.getAttribute("id"));
  };
  await add({ name: "page.html.zip", mimeType: "application/zip", buffer: Buffer.from("PK\u0003\u0004 no text \u0000\u0001\u0002") });
  await explained("Attachments are images, PDF or plain text.");
  await add({ name: "film.txt", mimeType: "text/plain", buffer: Buffer.alloc(10 * 1024 * 1024 + 1, "a") });
  await explained("film.txt is larger than 10 MB");
  const answer = { code: "LIMIT_REACHED", message: "The limit is reached", details: [{ field: "file", message: "all attachments may have at most 1 GiB together" }], requestId: "r1" };
  await page.route("**/attachments", (route) => (route.request().method() === "POST" ? route.fulfill({ status: 409, contentType: "application/json", body: JSON.stringify(answer) }) : route.continue()));
  await add(image);
  await explained("all attachments may have at most 1 GiB together");
});

for (const { name, options } of sizes) {
  test(`attachments are accessible: ${name}`, async (t) => {
    const user = await account();
    const { transactions } = await household(user, 1);
    const page = await edit(t, user, transactions[0].id, options);
    await page.getByLabel("Add a file").setInputFiles([text, image]);
    await page.getByRole("button", { name: /^photo\.png/ }).waitFor();
    await accessibleInLooks(page);
  });
}
