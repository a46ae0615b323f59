// The first hour with Coffer, with the keyboard only: no test of this file moves the pointer or focuses an element by script. The tests of
// receipts, transfers and sharing do the same for their screens.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import test from "node:test";
import { account, household, open, password, tablet, until } from "../console.js";

/** visible fails unless the focused element has a visible outline, or a border of the accent color around it. */
async function visible(page) {
  const seen = await page.evaluate(() => {
    const element = document.activeElement;
    // After the last element, Tab leaves the page for the browser.
    if (element === document.body) return true;
    const probe = Object.assign(document.createElement("span"), { className: "link" });
    const drawn = (node) => {
      if (!node || node === document.body) return false;
      const { outlineStyle, outlineWidth, borderTopColor, borderBottomColor, boxShadow } = getComputedStyle(node);
      return (outlineStyle !== "none" && parseFloat(outlineWidth) > 0) || boxShadow !== "none" || [borderTopColor, borderBottomColor].includes(accent);
    };
    document.body.append(probe);
    probe.style.color = "var(--accent)";
    const accent = getComputedStyle(probe).color;
    probe.remove();
    // A radio button or a checkbox may be hidden behind its label, and an input may leave the ring to its frame.
    return [element, element.parentElement, element.parentElement?.parentElement, element.nextElementSibling].some(drawn);
  });
  assert.ok(seen, `the focus is not visible: ${await page.evaluate(() => document.activeElement.outerHTML.slice(0, 300))}`);
}

const focused = (locator) => locator.evaluate((node) => node === document.activeElement).catch(() => false);

/** tabTo presses Tab until the element has the focus, which is visible at each stop. */
async function tabTo(page, locator, key = "Tab") {
  await locator.waitFor({ state: "attached" });
  for (let i = 0; i < 70; i++) {
    if (await focused(locator)) return;
    await page.keyboard.press(key);
    await visible(page);
  }
  assert.fail(`${key} does not reach ${locator}`);
}

/** write replaces the text of a field. */
async function write(page, label, text) {
  await tabTo(page, label);
  await page.keyboard.press("Control+A");
  await page.keyboard.type(text);
}

/** press presses Enter on an element when it is not busy: a busy button ignores presses. */
async function press(page, locator) {
  await tabTo(page, locator);
  await page.waitForFunction((node) => node.ariaBusy !== "true", await locator.elementHandle());
  await page.keyboard.press("Enter");
}

/** choose selects an option of a select by typing its beginning. */
async function choose(page, select, text) {
  await tabTo(page, select);
  await page.keyboard.type(text);
}

test("an empty account reaches its first transaction in nine steps, with the keyboard only", async (t) => {
  const page = await open(t);
  await press(page, page.getByRole("button", { name: "Create account" }));
  await write(page, page.getByLabel("Name"), "Ada Lovelace");
  await write(page, page.getByLabel("E-mail"), `${randomUUID()}@example.com`);
  await write(page, page.getByLabel("Password", { exact: true }), password);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/welcome");

  // The suggested currency, wallet and categories need no change.
  await write(page, page.getByLabel("Balance today"), "120");
  await page.keyboard.press("Enter");
  await page.waitForURL((to) => to.pathname === "/");
  await page.getByText("Book your first transaction, or photograph a receipt.").waitFor();
  await press(page, page.locator("main").getByRole("link", { name: "Add a transaction" }));
  const sheet = page.getByRole("dialog", { name: "New transaction" });
  await sheet.waitFor();
  assert.ok(await focused(sheet.getByLabel("Amount", { exact: true })), "the amount has the focus");
  await page.keyboard.type("4.50");
  await tabTo(page, sheet.getByRole("radio").nth(3));
  await page.keyboard.press("Space");
  await press(page, sheet.getByRole("button", { name: "Save", exact: true }));
  await sheet.waitFor({ state: "detached" });
  await page.getByText("−$4.50").first().waitFor();
});

test("a split, a dialog in a dialog, and Escape work with the keyboard only", async (t) => {
  const user = await account();
  await household(user, 1);
  const page = await open(t, user, "/transactions", tablet);
  const row = page.getByRole("link", { name: /Purchase 1/ });
  await tabTo(page, row);
  await page.keyboard.press("Enter");
  const edit = page.getByRole("dialog", { name: "Edit transaction" });
  await edit.waitFor();
  assert.ok(!(await focused(edit.getByRole("button", { name: "Delete" }))), "Enter must not delete");
  await visible(page);
  await page.keyboard.press("Escape");
  await edit.waitFor({ state: "detached" });
  assert.ok(await focused(row), "the focus returns to the row");

  await page.keyboard.press("n");
  const sheet = page.getByRole("dialog", { name: "New transaction" });
  await sheet.getByLabel("Amount", { exact: true }).waitFor();
  await page.keyboard.type("30");
  await tabTo(page, sheet.getByRole("radio", { name: "Groceries" }));
  await page.keyboard.press("Space");
  await press(page, sheet.getByRole("button", { name: "Split" }));
  await write(page, sheet.getByLabel("Amount of part 1"), "20");
  await choose(page, sheet.getByLabel("Category of part 2"), "Tr");
  await press(page, sheet.getByRole("button", { name: "Use what is left" }));
  await write(page, sheet.getByRole("combobox", { name: "Payee" }), "Supermarket");
  await press(page, sheet.getByRole("button", { name: "Save", exact: true }));
  await sheet.waitFor({ state: "detached" });
  const { transactions } = await user.get("/transaction?q=Supermarket");
  assert.deepEqual(transactions[0].splits.map(({ amount }) => amount), [20, 10]);
  assert.ok(await focused(row), "the focus returns to the row");
});

test("a file is imported with the keyboard only", async (t) => {
  const user = await account();
  await household(user, 0);
  const page = await open(t, user, "/imports");
  const chosen = { name: "bank.csv", mimeType: "text/csv", buffer: Buffer.from("Date,Payee,Amount\n2026-04-02,Bakery,-3.50\n2026-04-03,Kiosk,-2.00\n") };
  page.on("filechooser", (chooser) => chooser.setFiles([chosen]));
  await press(page, page.getByRole("button", { name: "Choose a file" }));
  await page.waitForURL("**/imports/*");
  await press(page, page.getByRole("button", { name: "Continue" }));
  await choose(page, page.getByLabel("Wallet for The rows of the file"), "Che");
  await choose(page, page.getByLabel("Expenses without a category"), "Gro");
  await press(page, page.getByRole("button", { name: "Continue" }));
  await press(page, page.getByRole("button", { name: /^Book / }));
  await until(async () => (await user.get("/transaction")).transactions.length === 2);
});
