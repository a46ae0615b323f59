import assert from "node:assert/strict";
import test from "node:test";
import { accessible, accessibleInLooks, account, desktop, household, open, password, phone, until, url } from "../console.js";

const file = { name: "invoice.txt", mimeType: "text/plain", buffer: Buffer.from("Invoice of the secret shop") };

/** signIn signs in on the sign-in screen. */
async function signIn(page, user, secret = password) {
  await page.getByLabel("E-mail").fill(user.email);
  await page.getByLabel("Password", { exact: true }).fill(secret);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign in" }).waitFor({ state: "detached" });
}

/** disconnect ends the connection after the form of a transaction is loaded. */
async function disconnect(page) {
  await page.keyboard.press("n");
  await page.getByText("Tags, notes and attachments").click();
  await page.getByLabel("Add a file").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.context().setOffline(true);
}

/** enter saves a new transaction of the household. */
async function enter(page, amount, payee, files = []) {
  await page.keyboard.press("n");
  await page.getByLabel("Amount", { exact: true }).fill(amount);
  await page.getByRole("combobox", { name: "Payee" }).fill(payee);
  await page.getByRole("radio", { name: "Groceries" }).check();
  if (files.length) {
    await page.getByText("Tags, notes and attachments").click();
    await page.getByLabel("Add a file").setInputFiles(files);
    await page.getByRole("button", { name: `Do not attach ${files[0].name}` }).waitFor();
  }
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.locator("section").filter({ hasText: "Waiting to be sent" }).getByText(payee).waitFor();
}

const payees = async (user) => (await user.get("/transaction")).transactions.map(({ payee }) => payee);

/** onDevice returns all that the databases of the console contain, as text, and the names of their keys. */
function onDevice(page) {
  return page.evaluate(async () => {
    const found = { text: "", keys: 0, rows: 0 };
    for (const { name } of await indexedDB.databases()) {
      const db = await new Promise((resolve) => (indexedDB.open(name).onsuccess = ({ target }) => resolve(target.result)));
      for (const store of db.objectStoreNames) {
        const values = await new Promise((resolve) => (db.transaction(store).objectStore(store).getAll().onsuccess = ({ target }) => resolve(target.result)));
        for (const value of values) {
          found.rows++;
          if (value instanceof CryptoKey) found.keys++;
          found.text += value instanceof Uint8Array ? new TextDecoder("latin1").decode(value) : JSON.stringify(value);
        }
      }
      db.close();
    }
    return found;
  });
}

test("the entries of a user are neither shown to another user nor sent as theirs", async (t) => {
  const ada = await account("Ada Lovelace");
  const bob = await account("Bob Tables");
  await household(ada, 1);
  await household(bob, 1);
  const second = await open(t);
  await second.getByLabel("E-mail").waitFor();
  const first = await second.context().newPage();
  await first.goto(url);
  await signIn(first, bob);
  await first.goto(`${url}/transactions`);
  await first.getByText("Purchase 1").waitFor();
  await disconnect(first);
  await enter(first, "6.60", "Secret shop");
  await first.close();
  await second.context().setOffline(false);
  await signIn(second, ada);
  await second.getByText("Ada Lovelace").first().waitFor();
  await second.goto(`${url}/transactions`);
  await second.getByText("Purchase 1").waitFor();
  assert.doesNotMatch((await onDevice(second)).text, /Secret shop/);
  await second.goto(`${url}/more`);
  await second.getByRole("button", { name: "Sign out" }).click();
  await second.getByText("1 entry on this device is not sent yet", { exact: false }).waitFor();
  await signIn(second, bob);
  const question = second.getByRole("dialog", { name: "1 entry from before was not sent yet" });
  await question.getByText("Secret shop").waitFor();
  assert.deepEqual([await payees(ada), await payees(bob)], [[undefined], [undefined]]);
  await question.getByRole("button", { name: "Send all" }).click();
  await question.waitFor({ state: "detached" });
  await until(async () => (await payees(bob)).length === 2);
  assert.deepEqual(await payees(bob), ["Secret shop", undefined]);
  assert.deepEqual(await payees(ada), [undefined]);
});

test("a tab of another user starts again when a user signs in", async (t) => {
  const ada = await account("Ada Lovelace");
  const bob = await account("Bob Tables");
  await household(ada, 1);
  const { wallets, categories } = await household(bob, 0);
  await bob.post("/transaction", { amount: 5, type: "expense", currency: "EUR", date: "2026-01-02", payee: "Secret shop", walletId: wallets[0].id, categoryId: categories[0].id });
  const second = await open(t);
  await second.getByLabel("E-mail").waitFor();
  const first = await second.context().newPage();
  await first.goto(url);
  await signIn(first, bob);
  await first.getByText("Bob Tables").first().waitFor();
  await first.goto(`${url}/transactions`);
  await first.getByText("Secret shop").waitFor();
  // Something that only the memory of the tab has.
  await first.evaluate(() => (window.former = true));
  await signIn(second, ada);
  await first.getByText("Ada Lovelace").first().waitFor();
  assert.equal(await first.evaluate(() => "former" in window), false, "the memory of the tab is new");
  await first.goto(`${url}/transactions`);
  await first.getByText("Purchase 1").waitFor();
  assert.equal(await first.getByText("Secret shop").count(), 0);
  assert.doesNotMatch((await onDevice(first)).text, /Secret shop/);
});

test("a cookie of another user ends the session of the tab, and its token is not used", async (t) => {
  const ada = await account("Ada Lovelace");
  const bob = await account("Bob Tables");
  await household(ada, 1);
  await household(bob, 0);
  const page = await open(t, bob, "/transactions");
  await page.getByText("No transactions yet").waitFor();
  // Another page of the browser has signed Ada in.
  await page.request.post(`${url}/api/v1/auth/login?session=cookie`, { data: { email: ada.email, password } });
  let listed = 0;
  await page.route(/\/api\/v1\/transaction\?/, (route) => {
    if (listed++) return route.continue();
    return route.fulfill({ status: 401, contentType: "application/json", body: JSON.stringify({ code: "TOKEN_EXPIRED", message: "Expired", error: "Expired", requestId: "r" }) });
  });
  await page.getByRole("button", { name: "Transfers" }).click();
  await page.getByText("Your session has ended").waitFor();
  assert.equal(listed, 1, "the request is not repeated with the token of the other user");
  assert.deepEqual(await page.evaluate(() => Object.keys(localStorage)), []);
});

test("entries of an ended session are kept sealed, and offered after the sign-in of their user", async (t) => {
  const user = await account();
  await household(user, 1);
  const page = await open(t, user, "/transactions", phone);
  await page.getByText("Purchase 1").waitFor();
  await disconnect(page);
  await enter(page, "6.60", "Secret shop", [file]);
  await enter(page, "7.70", "Other shop");
  const other = await (await fetch(`${url}/api/v1/auth/login`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ email: user.email, password }) })).json();
  await user.patch("/auth/password", { currentPassword: password, newPassword: "another good password" });
  // The services learn of ended sessions within seconds.
  await until(async () => (await fetch(`${url}/api/v1/transaction`, { headers: { Authorization: `Bearer ${other.accessToken}` } })).status === 401);
  await page.context().setOffline(false);
  await page.getByText("Your session has ended").waitFor();
  await page.getByText("2 entries on this device are not sent yet", { exact: false }).waitFor();
  await accessibleInLooks(page);
  const kept = await onDevice(page);
  assert.deepEqual([kept.keys, kept.rows], [0, 3], "two entries and a file, and no key");
  assert.doesNotMatch(kept.text, /shop|invoice|Purchase/);
  assert.equal((await user.get("/transaction")).transactions.length, 1);

  await page.reload();
  await page.getByText("2 entries on this device are not sent yet", { exact: false }).waitFor();
  await signIn(page, user, "another good password");
  const question = page.getByRole("dialog", { name: "2 entries from before were not sent yet" });
  await question.getByText("Secret shop").waitFor();
  await accessibleInLooks(page);
  await question.getByRole("button", { name: "Discard: Other shop" }).click();
  const one = page.getByRole("dialog", { name: "1 entry from before was not sent yet" });
  await one.getByRole("button", { name: "Send all" }).click();
  await one.waitFor({ state: "detached" });
  await page.locator("[data-id]").filter({ hasText: "Secret shop" }).getByTitle("1 attachment").waitFor();
  assert.deepEqual(await payees(user), ["Secret shop", undefined]);
});

test("a file that cannot be sent stays in the queue, and is sent once", async (t) => {
  const user = await account();
  await household(user, 0);
  const page = await open(t, user, "/transactions");
  await page.getByText("No transactions yet").waitFor();
  await disconnect(page);
  await enter(page, "6.60", "Workshop", [file, { ...file, name: "second.txt", buffer: Buffer.from("Another invoice") }]);
  let answer = (route) => route.abort();
  const keys = [];
  await page.route("**/attachments", (route) => {
    if (route.request().method() !== "POST") return route.continue();
    keys.push(route.request().headers()["idempotency-key"]);
    return answer(route);
  });
  await page.context().setOffline(false);
  const waiting = page.locator("section").filter({ hasText: "Waiting to be sent" });
  await waiting.getByText("Booked. Still to be attached: invoice.txt, second.txt").waitFor();
  answer = (route) => route.fulfill({ status: 503, contentType: "application/json", body: JSON.stringify({ code: "SERVICE_UNAVAILABLE", message: "later", requestId: "r" }) });
  await page.evaluate(() => window.dispatchEvent(new Event("online")));
  await until(() => keys.length === 2);
  await page.reload();
  answer = (route) => (keys.at(-1).endsWith(".1") ? route.fulfill({ status: 415, contentType: "application/json", body: JSON.stringify({ code: "UNSUPPORTED_ATTACHMENT_TYPE", message: "no such type", requestId: "r" }) }) : route.continue());
  await page.evaluate(() => window.dispatchEvent(new Event("online")));
  await waiting.getByText("Booked, but second.txt was not attached: no such type").waitFor();
  answer = (route) => route.continue();
  await waiting.getByRole("button", { name: "Send: Workshop" }).click();
  await page.locator("[data-id]").getByTitle("2 attachments").waitFor();
  await waiting.waitFor({ state: "detached" });
  assert.equal(new Set(keys).size, 2, "each file has one key");
  const [{ id }] = (await user.get("/transaction")).transactions;
  assert.deepEqual((await user.get(`/transaction/${id}/attachments`)).attachments.map(({ name }) => name).sort(), ["invoice.txt", "second.txt"]);
});

test("a sign-out asks first if entries are not sent, also those of another tab", async (t) => {
  const user = await account();
  await household(user, 0);
  const page = await open(t, user, "/more", phone);
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  const other = await page.context().newPage();
  // The code of the sign-in screen is loaded together with this one.
  await other.goto(`${url}/more`);
  await other.getByRole("link", { name: "Transactions" }).click();
  await other.getByText("No transactions yet").waitFor();
  await disconnect(other);
  await enter(other, "6.60", "Secret shop");
  await page.getByRole("button", { name: "Sign out" }).click();
  const question = page.getByRole("dialog", { name: "Sign out" });
  await question.getByText("1 transaction waits for the connection. Signing out deletes what has not been sent.").waitFor();
  await question.getByRole("button", { name: "Cancel" }).click();
  await question.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Sign out" }).click();
  await question.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  await other.getByRole("button", { name: "Sign in" }).waitFor();
  assert.equal(await page.getByText("not sent yet").count(), 0);
  assert.equal((await onDevice(page)).rows, 0);
});

test("entries of the former database, which had no user, are sent after a decision only", async (t) => {
  const user = await account();
  const { wallets, categories } = await household(user, 0);
  const page = await open(t);
  await page.getByLabel("E-mail").waitFor();
  const body = { amount: "6.60", type: "expense", currency: "EUR", date: "2026-01-02", payee: "Former shop", walletId: wallets[0].id, categoryId: categories[0].id };
  await page.evaluate(async (entry) => {
    const request = indexedDB.open("coffer", 1);
    request.onupgradeneeded = () => ["snapshot", "queue"].forEach((store) => request.result.createObjectStore(store));
    const db = await new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
    const written = db.transaction("queue", "readwrite").objectStore("queue").put({ ...entry, files: [new File(["An invoice"], "invoice.txt", { type: "text/plain" })] }, entry.key);
    await new Promise((resolve) => (written.onsuccess = resolve));
    db.close();
  }, { key: crypto.randomUUID(), body, queuedAt: Date.now() });
  await signIn(page, user);
  const question = page.getByRole("dialog", { name: "1 entry from before was not sent yet" });
  await question.getByText("Former shop").waitFor();
  assert.equal(await page.evaluate(async () => (await indexedDB.databases()).some(({ name }) => name === "coffer")), false);
  assert.doesNotMatch((await onDevice(page)).text, /Former shop|An invoice/);
  assert.deepEqual(await payees(user), []);
  await question.getByRole("button", { name: "Send: Former shop" }).click();
  await until(async () => (await user.get("/transaction")).transactions[0]?.attachmentCount === 1);
});

test("screens without a connection show what is known and what waits", async (t) => {
  const user = await account();
  await household(user, 0);
  const page = await open(t, user, "/", desktop);
  await page.getByText("Book your first transaction", { exact: false }).waitFor();
  await disconnect(page);
  await page.keyboard.press("n");
  await page.getByLabel("Amount", { exact: true }).fill("6.60");
  await page.getByRole("combobox", { name: "Payee" }).fill("Secret shop");
  await page.getByRole("radio", { name: "Groceries" }).check();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const waiting = page.locator("section").filter({ hasText: "Waiting to be sent" });
  await waiting.getByText("Secret shop").waitFor();
  await page.getByText("Book your first transaction", { exact: false }).waitFor({ state: "detached" });
  await page.getByText("€2,450.50").first().waitFor();
  await accessible(page);
  await page.getByRole("link", { name: "Transactions", exact: true }).click();
  await page.getByText("No connection").waitFor();
  await waiting.getByText("Secret shop").waitFor();
  assert.equal(await page.getByText("This did not work").count(), 0);
  await page.context().setOffline(false);
  await page.locator("[data-id]").getByText("Secret shop").waitFor();
  await page.getByText("No connection").waitFor({ state: "detached" });
});
