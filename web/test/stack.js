// Starts a temporary stack that serves web/dist.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** start runs a stack with its data in a temporary folder, and returns its URL, that of the page with its mails, and the function that stops it. */
export async function start() {
  const program = join(root, ".bin", "coffer");
  const built = spawnSync("go", ["build", "-o", program, "./devstack/cmd/coffer"], { cwd: root, stdio: "inherit" });
  if (built.status !== 0) throw new Error("the stack does not compile");
  const data = mkdtempSync(join(tmpdir(), "coffer-web-"));
  const addresses = Object.fromEntries(
    ["HTTP", "AUTH", "LEDGER", "BUDGET", "OCR", "NATS", "METRICS", "MAIL", "MAIL_PAGE"].map((name) => [`${name}_ADDR`, "127.0.0.1:0"]),
  );
  const stack = spawn(program, [], {
    cwd: root,
    env: { ...process.env, ...addresses, DATA_DIR: data, RATE_LIMIT: "0", WEBHOOK_PRIVATE_ADDRESSES: "true", ACCESS_TTL: process.env.ACCESS_TTL ?? "1h" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [url, mails] = await new Promise((resolve, reject) => {
    let banner = "";
    stack.stdout.on("data", (text) => {
      banner += text;
      const found = /REST\s+(http\S+)\/api\/v1[^]*Mails\s+(http\S+)\n/.exec(banner);
      if (found) resolve(found.slice(1));
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
  return { url, mails, stop };
}
