// Helpers of the browser tests: accounts through the API, pages in Chromium, and checks that hold for every test.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after } from "node:test";
import axe from "axe-core";
import { launch } from "./chromium.js";

/** url is the address of the stack. */
export const url = process.env.COFFER_URL ?? "http://127.0.0.1:8080";
export const password = "correct horse battery staple";
/** offline allows the service worker, which stores the files of the build. Other tests block it: each of their pages would load them all. */
export const offline = { serviceWorkers: "allow" };
export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
/** tablet is narrower than the screens on which the list of transactions is a table. */
export const tablet = { viewport: { width: 1024, height: 860 } };
export const desktop = { viewport: { width: 1280, height: 860 } };

/** flags are further flags of Chromium. A test file adds them before it opens the first page. */
export const flags = [];
let launched;

/** browser starts Chromium once per test file. */
function browser() {
  launched ??= launch(...flags);
  return launched;
}

after(async () => (await launched)?.close());

/**
 * account registers a user. Its methods send requests of this user: get(path), post(path, body), patch(path, body), del(path).
 * name is the display name.
 */
export async function account(name = "Ada Lovelace") {
  const email = `${randomUUID()}@example.com`;
  const call = async (method, path, body, token) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) },
      body: body && JSON.stringify(body),
    });
    const answer = await response.json();
    assert.ok(response.ok, `${method} ${path}: ${JSON.stringify(answer)}`);
    return answer;
  };
  const { user } = await call("POST", "/auth/register", { name, email, password });
  const { accessToken } = await call("POST", "/auth/login", { email, password });
  return {
    user,
    email,
    token: accessToken,
    get: (path) => call("GET", path, undefined, accessToken),
    post: (path, body) => call("POST", path, body, accessToken),
    patch: (path, body) => call("PATCH", path, body, accessToken),
    del: (path) => call("DELETE", path, undefined, accessToken),
  };
}

/** mailed returns the path and token of the newest link to an address, once the page of mails has it. path begins the link's path. */
export async function mailed(email, path) {
  for (;;) {
    const page = await (await fetch(process.env.COFFER_MAILS ?? "http://localhost:8025")).text();
    const mail = page.split("<article>").find((text) => text.includes(`to ${email}`) && text.includes(`${path}#`));
    const link = new RegExp(`href="[^"]*(${path}#[^"]+)"`).exec(mail ?? "")?.[1];
    if (link) return link;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** household gives an account two wallets, five categories and count transactions of the last days. It returns what it created. */
export async function household(user, count = 12) {
  const wallets = [];
  for (const [name, balance] of [["Checking account", 2450.5], ["Cash", 120]]) {
    wallets.push((await user.post("/wallet", { name, currency: "EUR", balance })).wallet);
  }
  const categories = [];
  for (const name of ["Groceries", "Rent", "Eating out", "Transport", "Salary"]) categories.push((await user.post("/categories", { name })).category);
  const today = new Date().toISOString().slice(0, 10);
  const transactions = Array.from({ length: count }, (_, i) => ({
    amount: i % 10 === 9 ? 2800 : Number((4.35 + ((i * 7.77) % 90)).toFixed(2)),
    type: i % 10 === 9 ? "income" : "expense",
    currency: "EUR",
    date: new Date(Date.parse(today) - Math.floor(i / 3) * 86_400_000).toISOString().slice(0, 10),
    description: i % 10 === 9 ? "Salary" : `Purchase ${i + 1}`,
    walletId: wallets[i % 2].id,
    categoryId: categories[i % 10 === 9 ? 4 : i % 4].id,
  }));
  const created = [];
  for (let i = 0; i < count; i += 100) {
    created.push(...(await user.post("/transaction/batch", { transactions: transactions.slice(i, i + 100) })).transactions);
  }
  return { wallets, categories, transactions: created };
}

/** reconcile gives an account three purchases, of which a reconciliation locks the first. */
export async function reconcile(user) {
  const { wallets, transactions } = await household(user, 3);
  await user.patch(`/transaction/${transactions[0].id}`, { cleared: true });
  const { cleared } = await user.get(`/wallet/${wallets[0].id}?include=cleared`);
  await user.post(`/wallet/${wallets[0].id}/reconciliations`, { date: transactions[0].date.slice(0, 10), balance: cleared[0].balance });
  return { wallets, transactions };
}

/**
 * open shows a path of the console, signed in as the account, or signed out without one. options are those of a browser context, such
 * as phone, desktop, offline, colorScheme: "dark", locale: "de-DE". The test fails at its end if the page reported an error. Motion is
 * reduced, because frames of animations take a sixth of the processor time of the tests.
 */
export async function open(t, user, path = "/", options = desktop) {
  const context = await (await browser()).newContext({ locale: "en-US", timezoneId: "UTC", serviceWorkers: "block", reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.stack ?? String(error)));
  page.on("console", (message) => {
    // Chromium logs each failed request. Those of the API are part of the tests, and it asks for a favicon beside the first page.
    const expected = message.text().startsWith("Failed to load resource") && /\/api\/|\/favicon\.ico$/.test(message.location().url);
    if (message.type() === "error" && !expected) {
      errors.push(`${message.text()} ${message.location().url}`);
    }
  });
  t.after(async () => {
    // A handler that reads a response would fail with the closed page.
    if (!page.isClosed()) await page.unrouteAll({ behavior: "ignoreErrors" });
    await context.close();
    assert.deepEqual(errors, [], "the page reported errors");
  });
  page.setDefaultTimeout(60_000);
  if (user) await signInto(page, user);
  await page.goto(url + path);
  return page;
}

/** signInto gives the browser a session of the account, as the sign-in screen does. */
async function signInto(page, user) {
  const response = await page.request.post(`${url}/api/v1/auth/login?session=cookie`, { data: { email: user.email, password: user.password ?? password } });
  assert.equal(response.status(), 200);
  // The script runs before those of each page. The name of the window marks the first one, because a later page may be signed out.
  await page.addInitScript((stored) => {
    if (window.name) return;
    window.name = "signed in";
    localStorage.setItem("coffer.user", JSON.stringify(stored));
  }, user.user);
}

/**
 * accessible fails if axe finds a violation of WCAG 2.2 AA. axe measures contrast, so no animation may run meanwhile. With reduced motion,
 * those that start later also end immediately.
 */
export async function accessible(page) {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.waitForFunction(() => document.getAnimations().every(({ playState }) => playState !== "running"));
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], resultTypes: ["violations"] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html.slice(0, 160)} (${node.failureSummary})`).join("; ")}`);
  });
  assert.deepEqual(found, [], "axe found violations");
}

/** sizes are the two layouts in which each screen is checked. */
export const sizes = [
  { name: "phone", options: phone },
  { name: "desktop", options: desktop },
];

/** accessibleInLooks checks a screen in light and English, and in dark and German, without loading it again. */
export async function accessibleInLooks(page) {
  await accessible(page);
  await fits(page);
  await look(page, "dark", "de");
  await accessible(page);
  await fits(page);
  await look(page, "light", "en");
}

/** look switches the color scheme and the language. The page follows as if another tab had changed the language. */
async function look(page, colorScheme, language) {
  await page.emulateMedia({ colorScheme });
  await page.evaluate((newValue) => window.dispatchEvent(new StorageEvent("storage", { key: "coffer.language", newValue })), language);
  await page.waitForFunction((lang) => document.documentElement.lang === lang, language);
}

/** fits fails if the page scrolls sideways. */
async function fits(page) {
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wider <= 0, `the page is ${wider} px too wide`);
}

/** installed waits until the service worker has stored the files of the build. */
export async function installed(page) {
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
}

/** until polls a condition of the API, for changes that the page does not show. */
export async function until(condition) {
  for (const deadline = Date.now() + 60_000; !(await condition()); ) {
    assert.ok(Date.now() < deadline, "the condition did not become true");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** closeToast closes the toast with a text, so that a removal is sent without waiting for the time of Undo. */
export function closeToast(page, text) {
  return page.locator(".toast").filter({ hasText: text }).getByRole("button", { name: "Close" }).click();
}
