import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import test from "node:test";
import { accessible, accessibleInLooks, account, open, phone, sizes } from "../console.js";

/** receiver starts a server that answers with the next of the statuses, the last one for all others, and keeps what it received. */
async function receiver(t, ...statuses) {
  const received = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    received.push({ body, signature: request.headers["coffer-signature"] });
    response.statusCode = statuses.length > 1 ? statuses.shift() : statuses[0];
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${server.address().port}/coffer`, received };
}

test("a webhook is created, tested, and its delivery is signed with the secret that is shown once", async (t) => {
  const user = await account();
  const { url, received } = await receiver(t, 204);
  const page = await open(t, user, "/webhooks", phone);
  await page.getByRole("button", { name: "New webhook" }).click();
  await page.getByLabel("URL").fill("https://user@example.com/");
  await page.getByRole("button", { name: "Create webhook" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByLabel("URL").fill(url);
  await page.getByLabel("Note").fill("Home automation");
  await page.getByRole("radio", { name: "Only some" }).check({ force: true });
  await page.getByRole("button", { name: "Create webhook" }).click();
  await page.getByText("Choose at least one kind of event.").waitFor();
  await page.getByRole("button", { name: "Wallets" }).click();
  await page.getByRole("button", { name: "Create webhook" }).click();
  const dialog = page.getByRole("dialog", { name: "The secret of this webhook" });
  const secret = await dialog.locator("code").innerText();
  assert.match(secret, /^whsec_/);
  await accessible(page);
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  await page.getByRole("heading", { name: "Home automation" }).waitFor();

  await page.getByRole("button", { name: "Send a test" }).click();
  const delivery = page.locator("details", { hasText: "Webhook test" });
  await delivery.getByText("Delivered").waitFor();
  await delivery.locator("summary").click();
  await delivery.getByText("Status 204").waitFor();
  assert.equal(await page.getByText(secret).count(), 0, "the secret is not shown again");
  const [{ body, signature }] = received;
  const [time, signed] = signature.split(",");
  assert.equal(signed, "v1=" + createHmac("sha256", secret).update(`${time.slice(2)}.`).update(body).digest("hex"));

  await user.post("/wallet", { name: "Cash", currency: "EUR" });
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText("Wallet created").waitFor();
});

test("a failed delivery is explained and sent again", async (t) => {
  const user = await account();
  const { url, received } = await receiver(t, 410, 204);
  const { webhook } = await user.post("/webhooks", { url });
  await user.post(`/webhooks/${webhook.id}/test`, {});
  const page = await open(t, user, `/webhooks/${webhook.id}`);
  await page.getByText("The server answered with “410 Gone”, so Coffer stopped sending.").waitFor();
  const failed = page.locator("details", { hasText: "Failed" });
  await failed.locator("summary").click();
  await failed.getByText("Status 410").waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText("Active").waitFor();
  await failed.getByRole("button", { name: "Send again" }).click();
  await page.locator("details", { hasText: "Delivered" }).waitFor();
  assert.equal(received.length, 2);
  assert.deepEqual(received[0].body, received[1].body);
});

test("a secret is replaced, a webhook is edited and deleted", async (t) => {
  const user = await account();
  const { webhook } = await user.post("/webhooks", { url: "http://127.0.0.1:9/", description: "Old", events: ["ledger.v1.*.created", "ledger.v1.wallet.*"] });
  const page = await open(t, user, `/webhooks/${webhook.id}`);
  const choose = async (name) => {
    await page.getByRole("main").getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name }).click();
  };
  await choose("New secret");
  await page.getByRole("button", { name: "Create secret" }).click();
  assert.match(await page.locator("dialog code").innerText(), /^whsec_/);
  await page.getByRole("button", { name: "I have stored it" }).click();
  await choose("Edit");
  await page.getByLabel("Note").fill("New");
  await page.getByRole("button", { name: "Categories" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "New", exact: true }).waitFor();
  const changed = (await user.get(`/webhooks/${webhook.id}`)).webhook;
  assert.deepEqual(changed.events, ["ledger.v1.wallet.*", "ledger.v1.category.*", "ledger.v1.*.created"]);
  await choose("Delete");
  await page.getByText("No webhooks yet").waitFor();
  const deleted = page.waitForResponse((response) => response.request().method() === "DELETE");
  await page.locator(".toast", { hasText: "deleted" }).getByRole("button", { name: "Close" }).click();
  assert.equal((await deleted).status(), 200);
});

for (const { name, options } of sizes) {
  test(`the webhooks are accessible: ${name}`, async (t) => {
    const user = await account();
    const page = await open(t, user, "/webhooks", options);
    await page.locator(".empty").waitFor();
    await accessibleInLooks(page);
    const { webhook } = await user.post("/webhooks", { url: `http://127.0.0.1:9/${"long-path/".repeat(20)}`, description: "A note that is much longer than a row of the list has room for, and goes on" });
    await user.post(`/webhooks/${webhook.id}/test`, {});
    await page.reload();
    await page.locator("main li").waitFor();
    await accessibleInLooks(page);
    await page.locator("main li a").click();
    await page.locator("summary").first().click();
    await accessibleInLooks(page);
    await page.goto(`${new URL(page.url()).origin}/webhooks?edit=new`);
    await page.locator("#webhook").waitFor();
    await accessibleInLooks(page);
  });
}
