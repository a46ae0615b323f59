// Measures the table of transactions on a desktop with a processor that is four times slower, against a temporary stack: the frames while
// it scrolls to the end, which loads all pages, and back. The frames of a page with nothing but its height show how busy the machine is.
//
//   make bench-web-table [ROWS=100000]
import { start } from "../test/stack.js";
import { call, fill, open, password } from "./account.js";

const rows = Number(process.env.ROWS || 100_000);
const email = "table@coffer.example";
/** tooLong is the duration of a frame in milliseconds that a user notices. */
const tooLong = 50;

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

function print(step, frames) {
  const long = frames.filter((time) => time > tooLong);
  const sorted = frames.toSorted((a, b) => a - b);
  console.log(`${step}: ${frames.length} frames, ${long.length} over ${tooLong} ms, longest ${sorted.at(-1).toFixed(0)} ms, median ${sorted[frames.length >> 1].toFixed(0)} ms, 99th percentile ${sorted[Math.floor(frames.length * 0.99)].toFixed(0)} ms`);
}

const stack = await start();
try {
  const { user } = await call(stack.url, "POST", "/auth/register", undefined, { name: "Long List", email, password });
  const { accessToken } = await call(stack.url, "POST", "/auth/login", undefined, { email, password });
  await fill(stack.url, accessToken, rows);
  const { page, context, close } = await open(stack.url, user, { email, password }, [], { viewport: { width: 1440, height: 900 }, locale: "en-US", timezoneId: "UTC" });
  await page.goto(`${stack.url}/transactions`);
  await page.locator("[data-index]").first().waitFor();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  print("down, while the pages are loaded", await scroll(page, 400));
  const loaded = await page.evaluate(() => Number([...document.querySelectorAll("[data-index]")].at(-1).dataset.index) + 1);
  console.log(`${loaded} rows are loaded`);
  print("up, by two screens per frame", await scroll(page, -1800));
  print("down again, by two screens per frame", await scroll(page, 1800));
  console.log(`${await page.locator("[data-index]").count()} rows exist`);
  await page.goto("about:blank");
  await page.setContent('<div style="height: 400000px"></div>');
  print("a page without rows", await scroll(page, 400));
  await close();
} finally {
  await stack.stop();
}
