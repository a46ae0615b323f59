// Starts Chromium. Debian's headless shell is the same engine without the windows of the browser, and needs half of the processor time.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const installed = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/** launch starts Chromium with further flags. CHROMIUM selects the program. */
export function launch(...flags) {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? installed.find((path) => existsSync(path)),
    // Only root needs --no-sandbox.
    args: [...(process.getuid() === 0 ? ["--no-sandbox"] : []), ...flags],
  });
}
