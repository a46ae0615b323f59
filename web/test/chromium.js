// Starts Chromium. Debian's headless shell is the same engine without the windows of the browser, and needs half of the processor time.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const installed = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

const options = (flags) => ({
  executablePath: process.env.CHROMIUM ?? installed.find((path) => existsSync(path)),
  // Only root needs --no-sandbox.
  args: [...(process.getuid() === 0 ? ["--no-sandbox"] : []), ...flags],
});

/** launch starts Chromium with further flags. CHROMIUM selects the program. */
export function launch(...flags) {
  return chromium.launch(options(flags));
}

/** launchProfile starts Chromium with a folder that keeps its data. It returns the context of the profile. */
export function launchProfile(folder, flags, context) {
  return chromium.launchPersistentContext(folder, { ...options(flags), ...context });
}
