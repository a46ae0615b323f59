// Runs the tests of the console: first the unit tests, then the browser tests against a temporary stack that serves web/dist.
//
//   node test/run.js [words]
//
// With words, only the browser tests run whose file names contain one of them. COFFER_URL selects a running stack instead.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { start } from "./stack.js";

const web = fileURLToPath(new URL("..", import.meta.url));
const words = process.argv.slice(2);
const files = (dir) => readdirSync(join(web, "test", dir)).filter((name) => name.endsWith(".test.js")).map((name) => join("test", dir, name));

function node(args, env = {}) {
  const { status } = spawnSync(process.execPath, args, { cwd: web, stdio: "inherit", env: { ...process.env, ...env } });
  return status ?? 1;
}

let status = words.length ? 0 : node(["--import", "./test/typescript.js", "--test", ...files("unit")]);
const chosen = files("browser").filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
if (status === 0 && chosen.length) {
  const stack = process.env.COFFER_URL ? { url: process.env.COFFER_URL, mails: process.env.COFFER_MAILS, stop: async () => {} } : await start();
  try {
    status = node(["--test", "--test-concurrency=3", ...chosen], { COFFER_URL: stack.url, COFFER_MAILS: stack.mails });
  } finally {
    await stack.stop();
  }
}
process.exit(status);
