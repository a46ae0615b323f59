// Measures the table of transactions on a desktop with a processor that is four times slower, against a temporary stack, while it scrolls to
// the end, which loads all pages, and back. The first figures are the processor time of each task of the page, which other programs change
// less: the tasks run at full speed, and their times are multiplied. The second figures are the frames by the clock, with a processor that
// Chromium slows down. A page with nothing but its height shows how busy the machine is.
//
//   make bench-web-table [ROWS=100000]
import { start } from "../test/stack.js";
import { call, fill, open, password } from "./account.js";

const rows = Number(process.env.ROWS || 100_000);
const email = "table@coffer.example";
/** tooLong is the duration of a frame in milliseconds that a user notices. */
const tooLong = 50;
/** slower is the factor by which the processor is slower. */
const slower = 4;

/** scroll moves the page by a number of pixels per frame until it no longer moves, and returns its frames. */
function scroll(page, step) {
  return page.evaluate(async (pixels) => {
    const frames = [];
    let last = performance.now();
    let moved = last;
    let at = -1;
    // At the end of the loaded rows, the page waits for the next ones.
    while (last - moved < 3000) {
      const now = await new Promise(requestAnimationFrame);
      frames.push(now - last);
      last = now;
      if (scrollY !== at) moved = now;
      at = scrollY;
      window.scrollBy(0, pixels);
    }
    return frames;
  }, step);
}

/** tasks runs a function, and returns the result and the processor time of each task of the main thread of the page. */
async function tasks(devtools, run) {
  const events = [];
  const collect = ({ value }) => events.push(...value.filter(({ name }) => name === "RunTask" || name === "FireAnimationFrame"));
  devtools.on("Tracing.dataCollected", collect);
  await devtools.send("Tracing.start", { transferMode: "ReportEvents", categories: "-*,devtools.timeline,disabled-by-default-devtools.timeline" });
  const result = await run();
  const complete = new Promise((resolve) => devtools.once("Tracing.tracingComplete", resolve));
  await devtools.send("Tracing.end");
  await complete;
  devtools.off("Tracing.dataCollected", collect);
  const { pid, tid } = events.find(({ name }) => name === "FireAnimationFrame");
  const own = events.filter((event) => event.name === "RunTask" && event.pid === pid && event.tid === tid);
  return { result, times: own.map(({ tdur = 0 }) => (tdur / 1000) * slower) };
}

/** print shows the distribution of times. Those of tasks have no median, because most tasks do nothing for a frame. */
function print(step, unit, times, frames) {
  const long = times.filter((time) => time > tooLong);
  const sorted = times.toSorted((a, b) => a - b);
  const rest = frames ? `in ${frames} frames` : `median ${sorted[sorted.length >> 1].toFixed(0)} ms, 99th percentile ${sorted[Math.floor(sorted.length * 0.99)].toFixed(0)} ms`;
  console.log(`${step}: ${long.length} of ${times.length} ${unit} over ${tooLong} ms, longest ${sorted.at(-1).toFixed(0)} ms, ${rest}`);
}

/** scrollAll scrolls the table and an empty page, and passes each step and its scroll to a function that measures it. */
async function scrollAll(page, url, measure) {
  await page.goto(`${url}/transactions`);
  await page.locator("[data-index]").first().waitFor();
  await measure("down, while the pages are loaded", () => scroll(page, 400));
  const loaded = await page.locator("[data-index]").evaluateAll((found) => Math.max(...found.map((row) => Number(row.dataset.index))) + 1);
  console.log(`${loaded} rows are loaded`);
  await measure("up, by two screens per frame", () => scroll(page, -1800));
  await measure("down again, by two screens per frame", () => scroll(page, 1800));
  console.log(`${await page.locator("[data-index]").count()} rows exist`);
  await page.goto("about:blank");
  await page.setContent('<div style="height: 400000px"></div>');
  await measure("a page without rows", () => scroll(page, 400));
}

const stack = await start();
try {
  const { user } = await call(stack.url, "POST", "/auth/register", undefined, { name: "Long List", email, password });
  const { accessToken } = await call(stack.url, "POST", "/auth/login", undefined, { email, password });
  await fill(stack.url, accessToken, rows);
  const { page, context, close } = await open(stack.url, user, { email, password }, [], { viewport: { width: 1440, height: 900 }, locale: "en-US", timezoneId: "UTC" });
  const devtools = await context.newCDPSession(page);
  await scrollAll(page, stack.url, async (step, run) => {
    const { result, times } = await tasks(devtools, run);
    print(step, "tasks", times, result.length);
  });
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: slower });
  await scrollAll(page, stack.url, async (step, run) => print(step, "frames", await run()));
  await close();
} finally {
  await stack.stop();
}
