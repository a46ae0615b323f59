import assert from "node:assert/strict";
import test from "node:test";
import { announce, announceLater, onChange } from "../../src/api/topics.ts";

test("many events of an import reload once in two seconds", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let runs = 0;
  const end = onChange(["wallets"], () => runs++);
  for (let i = 0; i < 20; i++) {
    announceLater("transactions");
    t.mock.timers.tick(100);
  }
  assert.equal(runs, 0);
  t.mock.timers.tick(120);
  assert.equal(runs, 1);
  // A change of the user does not wait for them.
  announceLater("transactions");
  announce("wallets");
  t.mock.timers.tick(120);
  assert.equal(runs, 2);
  end();
});
