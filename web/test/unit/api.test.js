import assert from "node:assert/strict";
import test from "node:test";
import { download } from "../../src/api/api.ts";

test("a download that is interrupted after its first byte is a problem", async (t) => {
  let sent = false;
  const interrupted = new ReadableStream({
    pull(body) {
      if (sent) body.error(new TypeError("terminated"));
      else body.enqueue(new Uint8Array(1));
      sent = true;
    },
  });
  t.mock.method(globalThis, "fetch", async () => new Response(interrupted));
  await assert.rejects(download("/api/v1/account/export"), { code: "NETWORK" });
});
