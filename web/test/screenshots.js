// Takes screenshots of each screen with the demo account of a running stack: phone and desktop, light and dark.
//
//   make web-screenshots [OUT=folder] [COFFER_URL=http://localhost:8080]
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import test from "node:test";
import { accessible, desktop, open, phone, url } from "./console.js";
import { bakery, photograph } from "./receipts.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const out = process.env.OUT || join(root, ".cache", "screenshots");
// The account that make demo fills.
const email = "ada@coffer.example";
const password = "a household of two";

const photo = { name: "bakery.jpg", mimeType: "image/jpeg", buffer: await photograph(bakery) };

/**
 * screens are paths of the console by the name of their image, each with an element that appears last. The third value, if there is one,
 * is what a user does on the page before that element appears. It finds elements by their English texts.
 */
const screens = {
  home: ["/", "figure svg"],
  transactions: ["/transactions", "[data-id]"],
  search: ["/transactions?q=market&min=5", "main .page"],
  transfers: ["/transactions?type=transfer", "main .page"],
  entry: ["/?entry=new", "dialog fieldset"],
  receipt: ["/receipt", ".drop button:not(:disabled)"],
  "receipt-review": ["/receipt", ".review footer button:not(:disabled)", async (page) => {
    await page.getByRole("button", { name: "Choose files" }).waitFor();
    await page.locator("input[type=file]").setInputFiles(photo);
  }],
  reports: ["/reports", "[data-mark=saved]"],
  "reports-spending": ["/reports?page=spending", "[data-mark]"],
  "reports-lines": ["/reports?page=spending&by=payee&view=lines", "[data-mark]"],
  "reports-calendar": ["/reports?page=calendar", "[data-mark]"],
  "reports-comparison": ["/reports?page=comparison", "[data-mark]"],
  budgets: ["/budgets", "main .page a[href^='/budgets/']"],
  "budget-new": ["/budgets?budget=new", "dialog form"],
  invitations: ["/invitations", "main .page"],
  notifications: ["/?notifications=open", "dialog h2"],
  wallets: ["/wallets", "main li"],
  "wallet-new": ["/wallets?edit=new", "#wallet"],
  categories: ["/categories", "main li"],
  "category-new": ["/categories?edit=new", "#category"],
  imports: ["/imports", ".drop button"],
  rules: ["/rules", "main li"],
  "rule-new": ["/rules", "dialog form", (page) => page.getByRole("button", { name: "New rule" }).click()],
  export: ["/export", "main form"],
  data: ["/settings/data", "main .content .card"],
  webhooks: ["/webhooks", "main .page"],
  "webhook-new": ["/webhooks?edit=new", "#webhook"],
  settings: ["/settings", "main nav"],
  profile: ["/settings/profile", "main .content .card"],
  devices: ["/settings/security", "main .content li"],
  activity: ["/settings/activity", "main .content li"],
  preferences: ["/settings/preferences", "main .content form"],
  tags: ["/settings/tags", "main .content > *"],
  appearance: ["/settings/appearance", "main .content .card"],
  shortcuts: ["/settings/shortcuts", "main .content .card"],
  about: ["/settings/about", "main .content .card"],
  more: ["/more", "main .page"],
  welcome: ["/welcome", "main"],
  missing: ["/nowhere", "main"],
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
  const get = async (path) => (await fetch(`${url}/api/v1${path}`, { headers: { Authorization: `Bearer ${accessToken}` } })).json();
  const { budgets } = await get("/budgets");
  const { id } = budgets.find(({ name }) => name === "Groceries");
  screens.budget = [`/budgets/${id}`, "figure svg"];
  screens["budget-edit"] = [`/budgets/${id}?edit=`, "dialog form"];
  screens["budget-share"] = [`/budgets/${id}?share=new`, "dialog form"];
  const { imports } = await get("/imports");
  for (const each of imports) screens[each.status === "done" ? "import-done" : "import-review"] = [`/imports/${each.id}`, "main h2"];
  const { webhooks } = await get("/webhooks");
  screens.webhook = [`/webhooks/${webhooks.find(({ enabled }) => enabled).id}`, "main li"];
  const [{ outTransactionId: transfer }] = (await get("/transfers?limit=1")).transfers;
  screens["entry-transfer"] = [`/transactions?entry=${transfer}`, "dialog fieldset"];
  const { transactions } = await get("/transaction?limit=200");
  const first = (has) => `/transactions?entry=${transactions.find(has).id}`;
  screens["entry-split"] = [first(({ splits }) => splits?.length), "dialog fieldset"];
  screens.attachments = [first(({ attachmentCount }) => attachmentCount), "dialog [aria-label^='Delete']"];
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
  for (const [name, [path, last, act]] of Object.entries(screens)) {
    test(`${name}, ${variant}`, async (t) => {
      const page = await open(t, ada, path, { ...options, locale });
      await act?.(page);
      await page.locator(last).first().waitFor();
      await page.waitForFunction(() => document.querySelector("h1, h2") && !document.querySelector(".skeleton"));
      await accessible(page);
      await page.screenshot({ path: join(out, `${name}-${variant}.png`) });
    });
  }
}
