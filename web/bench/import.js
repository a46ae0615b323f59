// Measures an import in the console as a user does it, against a temporary stack: upload, the choice
// of wallet and categories, a walk through the rows, commit with a stop, and undo. For each step it
// prints the time, the frames, and the memory of the tab. It fails if the server failed to answer.
//
//   make bench-web-import [ROWS=199999]
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "../test/chromium.js";
import { start } from "../test/stack.js";

const rows = Number(process.env.ROWS || 199_999);
const email = "ada@coffer.example";
const password = "a household of two";
/** tooLong is the duration of a frame in milliseconds that a user notices. */
const tooLong = 50;
const pagesOfRows = 50;
const shops = ["Bakery", "Bookshop", "Cinema", "Garage", "Grocer", "Kiosk", "Pharmacy", "Railway", "Telephone", "Theater"];

/** statement is a CSV file with rows of eight years. */
function statement() {
  const lines = Array.from({ length: rows }, (_, i) => {
    const day = new Date(Date.UTC(2018, 0, 1 + (i % 2900))).toISOString().slice(0, 10);
    const cents = String(100 + (i % 5000)).padStart(3, "0");
    const amount = `${i % 13 ? "-" : ""}${cents.slice(0, -2)}.${cents.slice(-2)}`;
    return `${day},${shops[i % shops.length]} ${i % 997},Purchase ${i},${amount},EUR`;
  });
  return `Date,Payee,Description,Amount,Currency\n${lines.join("\n")}\n`;
}

async function call(url, path, token, body) {
  const response = await fetch(`${url}/api/v1${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`POST ${path}: ${JSON.stringify(answer)}`);
  return answer;
}

/** open returns a page with the imports of a user who has a wallet and two categories. */
async function open(browser, url) {
  await call(url, "/auth/register", "", { name: "Ada", email, password });
  const { accessToken, user } = await call(url, "/auth/login", "", { email, password });
  await call(url, "/wallet", accessToken, { name: "Everyday", currency: "EUR", balance: 1000 });
  for (const name of ["Everything", "Salary"]) await call(url, "/categories", accessToken, { name });
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, locale: "en-US", timezoneId: "UTC" });
  page.setDefaultTimeout(20 * 60_000);
  await page.request.post(`${url}/api/v1/auth/login?session=cookie`, { data: { email, password } });
  await page.addInitScript((stored) => localStorage.setItem("coffer.user", JSON.stringify(stored)), user);
  await page.goto(`${url}/imports`);
  return page;
}

/** recorder returns a function that runs a step, and prints its figures. */
async function recorder(page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable");
  await page.evaluate(() => {
    window.frames = [];
    let last = performance.now();
    const frame = (now) => {
      window.frames.push(now - last);
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  return async (name, run) => {
    await page.evaluate(() => (window.frames.length = 0));
    const begin = performance.now();
    await run();
    const seconds = ((performance.now() - begin) / 1000).toFixed(1);
    const frames = await page.evaluate(() => window.frames);
    await devtools.send("HeapProfiler.collectGarbage");
    const { metrics } = await devtools.send("Performance.getMetrics");
    const heap = metrics.find((metric) => metric.name === "JSHeapUsedSize").value / 1e6;
    const slow = frames.filter((duration) => duration > tooLong).length;
    console.log(`${name}: ${seconds} s, ${slow} of ${frames.length} frames over ${tooLong} ms, the longest ${Math.round(Math.max(0, ...frames))} ms, heap ${heap.toFixed(1)} MB`);
  };
}

/** walk shows further pages of rows, and scrolls to the end and back, with a processor that is four times slower. */
async function walk(page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  // Only the rows near the visible part of the page exist.
  const sizeOf = () => Number(document.querySelector("[role=tabpanel] li[aria-setsize]")?.getAttribute("aria-setsize"));
  for (let i = 0; i < pagesOfRows; i++) {
    const before = await page.evaluate(sizeOf);
    // A search by role would compute the names of all rows, which takes longer than the page itself.
    await page.locator("[role=tabpanel] > div button").evaluate((button) => button.click());
    await page.waitForFunction((n) => Number(document.querySelector("[role=tabpanel] li[aria-setsize]")?.getAttribute("aria-setsize")) > n, before);
  }
  for (const step of [1500, -1500]) {
    for (let i = 0; i < 100; i++) {
      await page.mouse.wheel(0, step);
      await page.waitForTimeout(16);
    }
  }
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  const existing = await page.locator("[role=tabpanel] li[aria-setsize]").count();
  console.log(`${await page.evaluate(sizeOf)} rows are in the list, of which ${existing} exist`);
}

async function measure(page, file) {
  const step = await recorder(page);
  const button = (name) => page.getByRole("button", { name });
  const progress = page.getByRole("progressbar");
  const first = page.locator("[role=tabpanel] li").first();
  await step("upload", async () => {
    await page.locator("input[type=file]").setInputFiles(file);
    await button("Continue").waitFor();
  });
  await button("Continue").click();
  for (const [name, option] of [[/^Wallet for/, "Everyday · EUR"], ["Expenses without a category", "Everything"], ["Income without a category", "Salary"]])
    await page.getByLabel(name).selectOption({ label: option });
  const change = () => button("Continue").click();
  await step("progress of the change", async () => {
    await change();
    await progress.or(first).first().waitFor();
  });
  await step("wallet and categories changed", () => first.waitFor());
  await step("walk through the rows", () => walk(page));
  await step("commit, stopped", async () => {
    await button(/^Book/).click();
    await button("Stop").waitFor();
    await page.waitForTimeout(Math.min(5000, rows / 40));
    await button("Stop").click();
    await page.getByText("The import has stopped").waitFor();
  });
  await step("commit of the rest", async () => {
    await button("Continue").click();
    await page.getByText("The import is complete").waitFor();
  });
  await step("undo", async () => {
    await button("Undo import").click();
    await page.getByRole("dialog").getByRole("button", { name: "Undo import" }).click();
    await page.getByText("The import is undone").waitFor();
  });
}

const folder = mkdtempSync(join(tmpdir(), "coffer-bench-"));
const file = join(folder, "statement.csv");
writeFileSync(file, statement());
const stack = await start();
const browser = await launch();
try {
  const page = await open(browser, stack.url);
  const failed = [];
  const requests = {};
  page.on("response", (response) => {
    const path = new URL(response.url()).pathname.replace(/[0-9a-f-]{36}/, "{id}");
    const name = `${response.request().method()} ${path}`;
    requests[name] = (requests[name] ?? 0) + 1;
    if (response.status() >= 500) failed.push(`${name}: ${response.status()}`);
  });
  await measure(page, file);
  console.log(`requests: ${Object.entries(requests).sort(([, a], [, b]) => b - a).slice(0, 4).map(([name, n]) => `${n} ${name}`).join(", ")}`);
  console.log(`failed requests: ${failed.length ? failed.join(", ") : "none"}`);
  process.exitCode = failed.length ? 1 : 0;
} finally {
  await browser.close();
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
}
