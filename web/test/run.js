// Runs the tests of the console: first the unit tests, then the browser tests against a temporary stack that serves web/dist.
//
//   node test/run.js [words]
//
// With words, only the browser tests run whose file names contain one of them. COFFER_URL selects a running stack instead.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const web = fileURLToPath(new URL("..", import.meta.url));
const words = process.argv.slice(2);
const files = (dir) => readdirSync(join(web, "test", dir)).filter((name) => name.endsWith(".test.js")).map((name) => join("test", dir, name));

function node(args, env = {}) {
  const { status } = spawnSync(process.execPath, args, { cwd: web, stdio: "inherit", env: { ...process.env, ...env } });
  return status ?? 1;
}

/** start runs a stack with its data in a temporary folder, and returns its URL and the function that stops it. */
async function start() {
  const root = join(web, "..");
  const program = join(root, ".bin", "coffer");
  const built = spawnSync("go", ["build", "-o", program, "./devstack/cmd/coffer"], { cwd: root, stdio: "inherit" });
  if (built.status !== 0) throw new Error("the stack does not compile");
  const data = mkdtempSync(join(tmpdir(), "coffer-web-"));
  const addresses = Object.fromEntries(
    ["HTTP", "AUTH", "LEDGER", "BUDGET", "OCR", "NATS", "METRICS"].map((name) => [`${name}_ADDR`, "127.0.0.1:0"]),
  );
  const stack = spawn(program, [], {
    cwd: root,
    env: { ...process.env, ...addresses, DATA_DIR: data, RATE_LIMIT: "0", WEBHOOK_PRIVATE_ADDRESSES: "true", ACCESS_TTL: process.env.ACCESS_TTL ?? "1h" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise((resolve, reject) => {
    let banner = "";
    stack.stdout.on("data", (text) => {
      banner += text;
      const found = /REST\s+(http\S+)\/api\/v1/.exec(banner);
      if (found) resolve(found[1]);
    });
    stack.on("exit", () => reject(new Error(`the stack did not start: ${banner}`)));
  });
  const stop = () =>
    new Promise((resolve) => {
      stack.on("exit", () => {
        rmSync(data, { recursive: true, force: true });
        resolve();
      });
      stack.kill("SIGTERM");
    });
  return { url, stop };
}

let status = words.length ? 0 : node(["--import", "./test/typescript.js", "--test", ...files("unit")]);
const chosen = files("browser").filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
if (status === 0 && chosen.length) {
  const stack = process.env.COFFER_URL ? { url: process.env.COFFER_URL, stop: async () => {} } : await start();
  try {
    status = node(["--test", "--test-concurrency=3", ...chosen], { COFFER_URL: stack.url });
  } finally {
    await stack.stop();
  }
}
process.exit(status);
