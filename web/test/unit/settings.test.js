import assert from "node:assert/strict";
import test from "node:test";
import { deviceOf } from "../../src/screens/settings/device.ts";
import { eventText, eventsText, grouped, ungrouped } from "../../src/screens/webhooks/events.ts";
import en from "../../src/screens/webhooks/en.ts";

test("deviceOf", async (t) => {
  const cases = [
    ["Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36", "Chrome, Windows", false],
    ["Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0", "Edge, Windows", false],
    ["Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1", "Safari, iPhone", true],
    ["Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36", "Chrome, Android", true],
    ["Mozilla/5.0 (Macintosh; Intel Mac OS X 15.6; rv:142.0) Gecko/20100101 Firefox/142.0", "Firefox, macOS", false],
    ["curl/8.5.0", "curl/8.5.0", false],
    ["", "", false],
  ];
  for (const [userAgent, name, phone] of cases) await t.test(name || "empty", () => assert.deepEqual(deviceOf(userAgent), { name, phone }));
});

test("grouped", () => {
  assert.deepEqual(grouped([]), { chosen: [], others: [] });
  assert.deepEqual(grouped(["budget.v1.member.*", "budget.v1.invitation.*", "ledger.v1.*.created"]), { chosen: ["sharing"], others: ["ledger.v1.*.created"] });
  assert.deepEqual(grouped(["budget.v1.member.*"]), { chosen: [], others: ["budget.v1.member.*"] }, "half of a group");
  const events = ["ledger.v1.wallet.*", "auth.v1.user.*", "budget.v1.*.*"];
  const { chosen, others } = grouped(events);
  assert.deepEqual(ungrouped(chosen, others), events);
});

test("eventText", () => {
  assert.equal(eventText("ledger.v1.transaction.created", en), "Transaction created");
  assert.equal(eventText("budget.v1.budget.threshold_reached", en), "Budget reached a threshold");
  assert.equal(eventText("ledger.v2.transfer.created", en), "ledger.v2.transfer.created");
  assert.equal(eventsText([], en), "All events");
  assert.equal(eventsText(["ledger.v1.wallet.*", "ledger.v1.*.created"], en), "Wallets, ledger.v1.*.created");
});
