// Accounts of the benchmarks of the console, and pages that are signed in.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launchProfile } from "../test/chromium.js";

export const password = "a household of two";

/** call sends a request, and returns its answer. */
export async function call(url, method, path, token, body) {
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      "Content-Type": "application/json",
      ...(token && { Authorization: `Bearer ${token}` }),
    },
    body: body && JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
  return answer;
}

/** fill creates rows transactions over five years in requests of 100. */
export async function fill(url, token, rows) {
  const { wallet } = await call(url, "POST", "/wallet", token, {
    name: "Everyday",
    currency: "EUR",
    balance: 1000,
  });
  const { category } = await call(url, "POST", "/categories", token, { name: "Everything" });
  const first = Date.now() - 5 * 365 * 86_400_000;
  const all = Array.from({ length: rows }, (_, i) => ({
    amount: 1 + (i % 97),
    type: "expense",
    currency: "EUR",
    date: new Date(first + (i / rows) * 5 * 365 * 86_400_000).toISOString().slice(0, 10),
    description: `Purchase ${i + 1}`,
    walletId: wallet.id,
    categoryId: category.id,
  }));
  for (let i = 0; i < rows; i += 100)
    await call(url, "POST", "/transaction/batch", token, { transactions: all.slice(i, i + 100) });
}

/** open returns a page in a profile of its own that is signed in. */
export async function open(url, user, signIn, flags, options) {
  const profile = mkdtempSync(join(tmpdir(), "coffer-bench-"));
  const context = await launchProfile(profile, flags, options);
  const page = context.pages()[0] ?? (await context.newPage());
  await page.goto(`${url}/livez`);
  const response = await page.request.post(`${url}/api/v1/auth/login?session=cookie`, {
    data: signIn,
  });
  if (response.status() !== 200) throw new Error(`sign-in: ${response.status()}`);
  await page.evaluate(
    (stored) => localStorage.setItem("coffer.user", JSON.stringify(stored)),
    user,
  );
  const close = async () => {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  };
  return { context, page, close };
}
