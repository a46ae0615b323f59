// Takes screenshots of each screen with the demo account of a running stack: phone and desktop, light and dark.
//
//   make web-screenshots [OUT=folder] [COFFER_URL=http://localhost:8080]
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import test from "node:test";
import { accessible, desktop, open, phone, url } from "./console.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const out = process.env.OUT || join(root, ".cache", "screenshots");
// The account that make demo fills.
const email = "ada@coffer.example";
const password = "a household of two";

/** screens are paths of the console by the name of their picture. */
const screens = {
  home: "/",
  transactions: "/transactions",
  entry: "/?entry=new",
  receipt: "/receipt",
  budgets: "/budgets",
  invitations: "/invitations",
  notifications: "/?notifications=open",
  wallets: "/wallets",
  categories: "/categories",
  webhooks: "/webhooks",
  settings: "/settings",
  security: "/settings/security",
};

const variants = {
  "phone-light": { ...phone, deviceScaleFactor: 2, colorScheme: "light" },
  "phone-dark": { ...phone, deviceScaleFactor: 2, colorScheme: "dark" },
  "desktop-light": { ...desktop, colorScheme: "light" },
  "desktop-dark": { ...desktop, colorScheme: "dark" },
};

const locale = process.env.LOCALE || "en-US";

/** login returns the demo account, which is filled the first time. */
async function login() {
  execFileSync("go", ["run", "./test/cmd/demo", "-url", url, "-email", email], { cwd: root, stdio: "inherit" });
  const response = await fetch(`${url}/api/v1/auth/login`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ email, password }),
  });
  const { user, accessToken } = await response.json();
  const budgets = await fetch(`${url}/api/v1/budgets`, { headers: { Authorization: `Bearer ${accessToken}` } });
  screens.budget = `/budgets/${(await budgets.json()).budgets[0].id}`;
  return { user, email, password };
}

mkdirSync(out, { recursive: true });
const ada = await login();

for (const [variant, options] of Object.entries(variants)) {
  test(`sign-in, ${variant}`, async (t) => {
    const page = await open(t, undefined, "/", { ...options, locale });
    await page.locator("input[type=password]").waitFor();
    await page.screenshot({ path: join(out, `signin-${variant}.png`) });
  });
  for (const [name, path] of Object.entries(screens)) {
    test(`${name}, ${variant}`, async (t) => {
      const page = await open(t, ada, path, { ...options, locale });
      await page.waitForFunction(() => document.querySelector("h1, h2") && !document.querySelector(".skeleton"));
      await accessible(page);
      await page.screenshot({ path: join(out, `${name}-${variant}.png`) });
    });
  }
}
