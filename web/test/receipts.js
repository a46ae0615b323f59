// Photos of receipts for the browser tests: a printed slip on a table, a little turned, with uneven light.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "./chromium.js";

export const bakery = `CORNER BAKERY
12 Mill Lane, Dublin
Tel 01 555 0142

18/11/2026          08:41

2 x Croissant        4.80
Sourdough bread      5.60
Coffee               3.10

TOTAL      EUR      13.50
Card                13.50

Thank you, come again`;

/** drawn shows HTML in Chromium and returns what take makes of the page. */
async function drawn(html, take) {
  const browser = await launch();
  try {
    const page = await browser.newPage({ viewport: { width: 1200, height: 1500 } });
    await page.setContent(html);
    return await take(page);
  } finally {
    await browser.close();
  }
}

/** photograph returns a JPEG of a receipt with this text. */
export function photograph(text) {
  const table = "margin:0;height:100vh;display:grid;place-items:center;background:radial-gradient(#6b5a48,#3d3128)";
  const slip = "margin:0;padding:70px 60px;background:linear-gradient(100deg,#fdfcf8,#e9e6df);color:#26231f;" +
    "font:34px/1.45 'DejaVu Sans Mono',monospace;transform:rotate(1.2deg);box-shadow:0 12px 60px #0009";
  return drawn(`<body style="${table}"><pre style="${slip}">${text}</pre>`, (page) => page.screenshot({ type: "jpeg", quality: 88 }));
}

/** printed returns a PDF of a receipt with this text, as a shop sends it by e-mail. */
export function printed(text) {
  return drawn(`<pre style="font:16px/1.5 monospace">${text}</pre>`, (page) => page.pdf({ width: "400px", height: "600px" }));
}

/** video writes a video of the photo for the fake camera of Chromium, and returns its path and the function that deletes it. */
export function video(photo) {
  const folder = mkdtempSync(join(tmpdir(), "coffer-camera-"));
  const path = join(folder, "receipt.mjpeg");
  writeFileSync(path, Buffer.concat([photo, photo, photo, photo]));
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
