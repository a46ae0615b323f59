// Measures the console with a year of a household and with a long list of transactions, against a
// temporary stack: the median of five Lighthouse runs on Home, the time from navigation to a usable
// Home on a slow phone, and the frames of a fast scroll.
//
//   make bench-web [ROWS=100000]
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import lighthouse from "lighthouse";
import { computeMedianRun } from "lighthouse/core/lib/median-run.js";
import { start } from "../test/stack.js";
import { call, fill, open, password } from "./account.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const rows = Number(process.env.ROWS || 100_000);
const email = "ada@coffer.example";
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, locale: "en-US", timezoneId: "UTC" };
/** Lighthouse's profile of a phone on slow 4G. The processor is slowed down by four. */
const slow = { offline: false, latency: 150, downloadThroughput: (1.6e6 / 8) * 0.9, uploadThroughput: (750e3 / 8) * 0.9 };
const runs = 5;

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** audit runs Lighthouse on Home several times, and prints the median run. */
async function audit(url, user, signIn) {
  const results = [];
  for (let run = 0; run < runs; run++) {
    // Each browser has a port of its own: Lighthouse waits forever if it finds the port of the
    // browser before.
    const port = 9300 + run * 500 + (process.pid % 500);
    const { close } = await open(url, user, signIn, [`--remote-debugging-port=${port}`], {});
    const { lhr } = await lighthouse(url, {
      port,
      disableStorageReset: true,
      onlyCategories: ["performance", "accessibility", "best-practices"],
    });
    await close();
    results.push(lhr);
  }
  const lhr = computeMedianRun(results);
  const figure = (of, id) => Math.round(of.audits[id].numericValue);
  for (const of of results) {
    console.log(`Lighthouse run: performance ${Math.round(of.categories.performance.score * 100)}, blocking time ${figure(of, "total-blocking-time")} ms`);
  }
  for (const { id, score, auditRefs } of Object.values(lhr.categories)) {
    const failed = auditRefs
      .filter(({ id: audited, weight }) => weight > 0 && (lhr.audits[audited].score ?? 1) < 0.9)
      .map(({ id: audited }) => audited);
    console.log(`Lighthouse ${id}: ${Math.round(score * 100)}${failed.length ? ` (below 0.9: ${failed.join(", ")})` : ""}`);
  }
  console.log(`final URL ${lhr.finalDisplayedUrl}`);
  for (const id of ["first-contentful-paint", "largest-contentful-paint", "total-blocking-time", "cumulative-layout-shift"]) {
    console.log(`  ${id}: ${lhr.audits[id].displayValue}`);
  }
}

/** home prints the time to a usable Home on a slow phone, also with the service worker. */
async function home(url, user, signIn) {
  const times = { "empty cache": [], "installed app": [] };
  for (let run = 0; run < runs; run++) {
    const { context, page, close } = await open(url, user, signIn, [], phone);
    const devtools = await context.newCDPSession(page);
    await devtools.send("Network.enable");
    await devtools.send("Network.emulateNetworkConditions", slow);
    await devtools.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    for (const taken of Object.values(times)) {
      const begin = Date.now();
      await page.goto(url);
      await page.locator("figure svg").first().waitFor();
      await page.waitForFunction(() => !document.querySelector(".skeleton"));
      taken.push(Date.now() - begin);
      await page.evaluate(() => navigator.serviceWorker.ready);
      await page.goto("about:blank");
    }
    await close();
  }
  for (const [name, taken] of Object.entries(times)) {
    console.log(
      `usable Home on a slow phone, ${name}: median ${median(taken)} ms of ${taken.join(", ")}`,
    );
  }
}

/** scroll scrolls through all transactions and prints the frames that took longer than 50 ms. */
async function scroll(url, user, signIn) {
  const { page, close } = await open(url, user, signIn, [], phone);
  await page.goto(`${url}/transactions`);
  await page.locator("[data-id]").first().waitFor();
  const found = await page.evaluate(async () => {
    const frames = [];
    const begin = performance.now();
    let last = begin;
    let still = begin;
    let nodes = 0;
    // The list has ended when it has not become longer for five seconds.
    for (let bottom = 0; performance.now() - still < 5000; ) {
      const now = await new Promise(requestAnimationFrame);
      frames.push(now - last);
      last = now;
      window.scrollBy(0, 2000);
      nodes = Math.max(nodes, document.querySelectorAll("[data-id]").length);
      if (document.documentElement.scrollHeight > bottom) {
        bottom = document.documentElement.scrollHeight;
        still = now;
      }
    }
    return { frames, nodes, rows: Math.round(document.querySelector("ul.list").clientHeight / 62), seconds: (still - begin) / 1000 };
  });
  await close();
  const long = found.frames.filter((time) => time > 50);
  console.log(
    `scrolling about ${found.rows} rows in ${found.seconds.toFixed(0)} s: ${found.frames.length} frames, ${long.length} over 50 ms, ` +
      `longest ${Math.max(...found.frames).toFixed(0)} ms, at most ${found.nodes} rows in the document`,
  );
}

const stack = await start();
try {
  execFileSync("go", ["run", "./test/cmd/demo", "-url", stack.url, "-email", email], {
    cwd: root,
    stdio: "ignore",
  });
  const { user } = await call(stack.url, "POST", "/auth/login", undefined, { email, password });
  await audit(stack.url, user, { email, password });
  await home(stack.url, user, { email, password });
  const long = { email: "long@coffer.example", password };
  const registered = await call(stack.url, "POST", "/auth/register", undefined, {
    name: "Long List",
    ...long,
  });
  const { accessToken } = await call(stack.url, "POST", "/auth/login", undefined, long);
  await fill(stack.url, accessToken, rows);
  await scroll(stack.url, registered.user, long);
} finally {
  await stack.stop();
}
