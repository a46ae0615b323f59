// Starts a temporary stack that serves web/dist, and an identity provider.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** start runs a stack with its data in a temporary folder, and returns its URL, that of the page with its mails, and the function that stops it. */
export async function start() {
  const programs = join(root, ".bin/");
  const built = spawnSync("go", ["build", "-o", programs, "./devstack/cmd/coffer", "./test/cmd/identity-provider"], { cwd: root, stdio: "inherit" });
  if (built.status !== 0) throw new Error("the stack does not compile");
  const data = mkdtempSync(join(tmpdir(), "coffer-web-"));
  const addresses = Object.fromEntries(
    ["HTTP", "AUTH", "LEDGER", "BUDGET", "OCR", "NATS", "METRICS", "MAIL", "MAIL_PAGE"].map((name) => [`${name}_ADDR`, "127.0.0.1:0"]),
  );
  const provider = spawn(join(programs, "identity-provider"), [], { stdio: ["ignore", "pipe", "inherit"] });
  const [issuer] = await once(provider.stdout, "data");
  const identities = { OIDC_PROVIDERS: "home", OIDC_SIGNUP: "true", OIDC_HOME_LABEL: "Home", OIDC_HOME_ISSUER: String(issuer).trim(), OIDC_HOME_CLIENT_ID: "coffer", OIDC_HOME_CLIENT_SECRET: "provider secret" };
  const stack = spawn(join(programs, "coffer"), [], {
    cwd: root,
    env: { ...process.env, ...addresses, ...identities, DATA_DIR: data, RATE_LIMIT: "0", WEBHOOK_PRIVATE_ADDRESSES: "true", ACCESS_TTL: process.env.ACCESS_TTL ?? "1h" },
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
      provider.kill("SIGTERM");
      stack.kill("SIGTERM");
    });
  return { url, mails, stop };
}
