import assert from "node:assert/strict";
import test, { after } from "node:test";
import { accessible, accessibleInLooks, account, flags, household, open, phone, sizes, until, url } from "../console.js";
import { bakery, photograph, printed, video } from "../receipts.js";

const photo = await photograph(bakery);
const camera = video(photo);
after(camera.remove);
flags.push("--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream", `--use-file-for-fake-video-capture=${camera.path}`);

const image = { name: "bakery.jpg", mimeType: "image/jpeg", buffer: photo };
const reading = { timeout: 60_000 };

/** shopper is an account with wallets and categories, and without transactions. */
async function shopper() {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  return { user, wallets, category: (name) => categories.find((each) => each.name === name).id };
}

/** add chooses files, and waits until the selected receipt is read. */
async function add(page, ...files) {
  await page.getByRole("button", { name: "Choose files" }).waitFor();
  await page.locator("input[type=file]").setInputFiles(files);
  await page.getByLabel("Merchant").waitFor(reading);
}

/** dropHuge drops a file on the page that is larger than the API accepts. */
async function dropHuge(page) {
  await page.evaluate(() => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([new Uint8Array(10 * 1024 * 1024 + 1)], "huge.jpg", { type: "image/jpeg" }));
    for (const type of ["dragover", "drop"]) document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
  });
}

/** covered reports whether something lies above the focused control, such as the sticky footer. */
function covered(page) {
  return page.evaluate(() => {
    const { left, top, width, height } = document.activeElement.getBoundingClientRect();
    return !document.activeElement.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  });
}

/** tabTo presses Tab until a control with this name has the focus. */
async function tabTo(page, name) {
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      return element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent?.trim() ?? element.textContent.trim();
    });
    if (focused === name) {
      assert.ok(!(await covered(page)), `${name} is covered`);
      return;
    }
  }
  assert.fail(`Tab does not reach ${name}`);
}

/** replace types a text in place of the content of the focused field. */
async function replace(page, text) {
  await page.keyboard.press("Control+A");
  await page.keyboard.type(text);
}

test("a receipt is photographed, reviewed, corrected and booked with the keyboard only", async (t) => {
  const { user, category } = await shopper();
  const page = await open(t, user, "/receipt");
  await page.getByRole("button", { name: "Take a photo" }).waitFor();
  await tabTo(page, "Take a photo");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Take the photo", disabled: false }).waitFor();
  await tabTo(page, "Take the photo");
  await page.keyboard.press("Enter");
  await page.getByText("1 photo").waitFor();
  await tabTo(page, "Done");
  await page.keyboard.press("Enter");
  await page.getByLabel("Merchant").waitFor(reading);
  assert.deepEqual((await user.get("/transaction")).transactions, [], "nothing is booked before the button");

  await tabTo(page, "Merchant");
  assert.match(await page.locator(".box.active").getAttribute("title"), /CORNER BAKERY/);
  await replace(page, "Corner Bakery");
  await tabTo(page, "Category");
  await page.keyboard.type("Gro");
  await tabTo(page, "Item 2: category");
  await page.keyboard.type("Eat");
  await tabTo(page, "Item 3: amount");
  assert.match(await page.locator(".box.active").getAttribute("title"), /Coffee/);
  await replace(page, "2.60");
  await page.getByText("€0.50 is missing").waitFor();
  assert.ok(await page.getByRole("button", { name: "Book 3 transactions" }).isDisabled());
  await tabTo(page, "Add €0.50 as an item");
  await page.keyboard.press("Enter");
  await page.getByText("€13.50 of €13.50").waitFor();
  await tabTo(page, "Book 4 transactions");
  await page.keyboard.press("Enter");
  await page.getByText("All receipts are booked").waitFor();

  const { transactions } = await user.get("/transaction?sort=amount");
  const found = transactions.map(({ description, amount, categoryId }) => [description, amount, categoryId === category("Groceries") ? "Groceries" : "Eating out"]);
  assert.deepEqual(found, [
    ["Sourdough bread", -5.6, "Eating out"], ["Croissant", -4.8, "Groceries"], ["Coffee", -2.6, "Groceries"], ["Rest of the receipt", -0.5, "Groceries"],
  ]);
  const { receipt } = await user.get(`/receipts/${transactions[0].receiptId}`);
  assert.equal(receipt.merchant, "Corner Bakery");
  assert.equal(receipt.recognized.merchant, "CORNER BAKERY");
  assert.equal(receipt.recognized.lines.length, 3);
  assert.equal(receipt.imagePages, 1, "the image is kept");
});

test("files of several kinds queue, and a box moves the focus to its field", async (t) => {
  const { user } = await shopper();
  const page = await open(t, user, "/receipt", phone);
  const pdf = { name: "bakery.pdf", mimeType: "application/pdf", buffer: await printed(bakery) };
  await add(page, pdf, image, { name: "letter.txt", mimeType: "text/plain", buffer: Buffer.from("Dear Ada") });
  await dropHuge(page);
  const queue = page.getByRole("list", { name: "Receipts" });
  await queue.getByRole("button", { name: "bakery.pdf: Ready for review" }).waitFor();
  // The page of the PDF is shown.
  const shown = page.getByRole("region", { name: "Image of the receipt" }).locator("img");
  await until(() => shown.evaluate(({ naturalWidth }) => naturalWidth > 400));
  await page.locator(".box[title*='Sourdough']").dispatchEvent("click");
  await page.waitForFunction(() => document.activeElement.value === "Sourdough bread");

  await queue.getByRole("button", { name: "letter.txt: Could not be read" }).click(reading);
  await page.getByText("The receipt could not be read").waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await queue.getByRole("button", { name: "huge.jpg: Could not be read" }).click();
  await page.getByText("This file is larger than 10 MB.").waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();

  await queue.getByRole("button", { name: "bakery.pdf" }).click();
  await page.getByRole("button", { name: "Book 3 transactions" }).click();
  await queue.getByRole("button", { name: "bakery.pdf: Booked" }).waitFor();
  await queue.getByRole("button", { name: "bakery.jpg: Ready for review" }).waitFor(reading);
  await page.getByRole("radio", { name: "One total" }).check();
  await page.getByLabel("Total", { exact: true }).fill("13,60");
  await page.getByRole("button", { name: "Book 1 transaction" }).click();
  await page.getByText("4 transactions were added.").waitFor();
  await page.getByRole("link", { name: "Show transactions" }).click();
  await page.waitForURL("**/transactions");
  assert.ok((await user.get("/transaction")).transactions.some(({ amount }) => amount === -13.6));
});

test("each receipt of a file is reviewed and booked", async (t) => {
  const { user } = await shopper();
  const page = await open(t, user, "/receipt");
  const both = `${bakery}\n\n\n\nBLUE CAFE\n19/11/2026\nTea 3.10\nCake 4.90\nTOTAL EUR 8.00\n`;
  await add(page, { name: "two.txt", mimeType: "text/plain", buffer: Buffer.from(both) });
  await page.getByText("The file seems to show several receipts.").waitFor();
  const queue = page.getByRole("list", { name: "Receipts" });
  await queue.getByRole("button", { name: "two.txt (2): Ready for review" }).waitFor(reading);
  await page.getByRole("button", { name: "Book 3 transactions" }).click();
  await queue.getByRole("button", { name: "two.txt: Booked" }).waitFor();
  assert.equal(await page.getByLabel("Merchant").inputValue(), "BLUE CAFE");
  await page.getByRole("button", { name: "Book 2 transactions" }).click();
  await page.getByText("5 transactions were added.").waitFor();
  const amounts = (await user.get("/transaction")).transactions.map(({ amount }) => amount);
  assert.deepEqual(amounts.sort((a, b) => a - b), [-5.6, -4.9, -4.8, -3.1, -3.1]);
});

test("a value in doubt asks for a check, and a second booking warns", async (t) => {
  const { user } = await shopper();
  const page = await open(t, user, "/receipt");
  const text = { name: "kiosk.txt", mimeType: "text/plain", buffer: Buffer.from("KIOSK 12\nTea 2.00\nTotal 2.00\n") };
  await add(page, text);
  await page.getByText("No date was found. Today is used.").waitFor();
  await page.getByText("No currency was found. The currency of the wallet is used.").waitFor();
  await page.getByRole("button", { name: "Book 1 transaction" }).click();
  await page.getByRole("button", { name: "Next receipt" }).click();
  await add(page, text);
  await page.getByText("You have booked this file before.").waitFor();
  await page.getByLabel("Total", { exact: true }).fill("abc");
  await page.getByText("Enter an amount such as 12.50").waitFor();
  assert.ok(await page.getByRole("button", { name: "Book 1 transaction" }).isDisabled());
  assert.equal((await user.get("/transaction")).transactions.length, 1);
});

test("a file that is chosen before the wallets are loaded is read when they are", async (t) => {
  const { user } = await shopper();
  // This path is not a screen, so no list is stored on the device.
  const page = await open(t, user, "/livez");
  let load;
  const loading = new Promise((resolve) => (load = resolve));
  await page.context().route("**/api/v1/wallet?*", (route) => loading.then(() => route.continue()));
  await page.goto(`${url}/receipt`);
  await page.locator("input[type=file]").setInputFiles([{ name: "kiosk.txt", mimeType: "text/plain", buffer: Buffer.from("KIOSK 12\nTea 2.00\nTotal 2.00\n") }]);
  await page.getByText("Reading the receipt").waitFor();
  load();
  await page.getByLabel("Merchant").waitFor(reading);
});

test("the progress of an upload is shown", async (t) => {
  const { user } = await shopper();
  const page = await open(t, user, "/receipt", phone);
  const network = await page.context().newCDPSession(page);
  const upload = (uploadThroughput) => network.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput });
  await page.getByRole("button", { name: "Choose files" }).waitFor();
  await upload(photo.length / 10);
  await page.locator("input[type=file]").setInputFiles([image]);
  await page.getByRole("heading", { name: "Uploading the receipt" }).waitFor();
  const bar = page.getByRole("progressbar", { name: "Uploading the receipt" });
  await page.waitForFunction((element) => element.value > 0 && element.value < 100, await bar.elementHandle());
  await page.getByText(/^Uploading: \d+%$/).waitFor();
  await upload(-1);
  await page.getByLabel("Merchant").waitFor(reading);
});

test("a double press books once", async (t) => {
  const { user } = await shopper();
  const page = await open(t, user, "/receipt");
  await add(page, { name: "kiosk.txt", mimeType: "text/plain", buffer: Buffer.from("KIOSK 12\n2026-11-02\nTea 2.00\nTotal EUR 2.00\n") });
  // The first answer is lost, so the user presses again.
  await page.route(`${url}/api/v1/transaction/receipt`, async (route) => {
    await route.fetch();
    await route.abort();
  }, { times: 1 });
  await page.getByRole("button", { name: "Book 1 transaction" }).dblclick();
  await page.getByText("The server cannot be reached.").waitFor();
  await page.getByRole("button", { name: "Book 1 transaction" }).click();
  await page.getByText("All receipts are booked").waitFor();
  assert.equal((await user.get("/transaction")).transactions.length, 1);
});

test("the fields keep their values and the focus while a receipt is booked", async (t) => {
  const { user } = await shopper();
  const page = await open(t, user, "/receipt");
  await add(page, { name: "kiosk.txt", mimeType: "text/plain", buffer: Buffer.from("KIOSK 12\n2026-11-02\nTea 2.00\nTotal EUR 2.00\n") });
  // The request waits until the fields are checked. Then it fails, so that the form stays open.
  let answer;
  const checked = new Promise((resolve) => (answer = resolve));
  await page.route(`${url}/api/v1/transaction/receipt`, async (route) => {
    await checked;
    await route.abort();
  }, { times: 1 });
  const merchant = page.getByLabel("Merchant");
  const read = await merchant.inputValue();
  await merchant.press("Enter");
  await page.locator("form[aria-busy=true]").waitFor();
  await page.keyboard.type("Lost");
  await page.keyboard.press("Backspace");
  assert.equal(await merchant.inputValue(), read);
  assert.ok(await merchant.evaluate((field) => field === document.activeElement), "the field keeps the focus");
  await page.getByLabel("Wallet").focus();
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.getByLabel("Wallet").evaluate((select) => select.selectedIndex), 0);
  await page.getByText("One total").click({ force: true });
  assert.ok(await page.getByRole("radio", { name: "Items" }).isChecked());
  answer();
  await page.getByText("The server cannot be reached.").waitFor();
  await merchant.fill("Kiosk 13");
  await page.getByRole("button", { name: "Book 1 transaction" }).click();
  await page.getByText("All receipts are booked").waitFor();
  assert.equal((await user.get("/transaction")).transactions[0].payee, "Kiosk 13");
});

test("a blocked camera is explained", async (t) => {
  const { user } = await shopper();
  const page = await open(t, user, "/receipt");
  await page.evaluate(() => (navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("", "NotAllowedError"))));
  await page.getByRole("button", { name: "Take a photo" }).click();
  await page.getByRole("alert").filter({ hasText: "The camera is blocked." }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Choose files" }).waitFor();
});

test("a user without a wallet is led to the first one", async (t) => {
  const page = await open(t, await account(), "/receipt");
  await page.getByRole("link", { name: "Create a wallet" }).waitFor();
  await accessible(page);
});

const { user: viewer } = await shopper();
for (const { name, options } of sizes) {
  test(`the review of a receipt is accessible: ${name}`, async (t) => {
    const page = await open(t, viewer, "/receipt", options);
    await page.locator(".drop button:not(:disabled)").first().waitFor();
    await accessibleInLooks(page);
    await page.locator("input[type=file]").setInputFiles([image]);
    await page.locator(".review .box").first().waitFor(reading);
    await page.locator("[data-evidence=total] input").focus();
    await accessibleInLooks(page);
  });
}
