import assert from "node:assert/strict";
import test from "node:test";
import { placed, withMoved } from "../../src/screens/wallets/order.ts";

const wallets = (...positions) => positions.map((position, i) => ({ id: "abcdef"[i], ...(position !== undefined && { position }) }));

test("placed", async (t) => {
  const cases = [
    ["gives all wallets a position if one has none", wallets(undefined, undefined, undefined), "b", [["a", 1000], ["b", 2000], ["c", 3000]]],
    ["changes only the moved wallet between two others", wallets(1000, 9, 2000), "b", [["b", 1500]]],
    ["changes only the moved wallet at the start", wallets(9, 1000, 2000), "a", [["a", 499]]],
    ["changes only the moved wallet at the end", wallets(1000, 2000, 9), "c", [["c", 3000]]],
    ["spreads all wallets if no number is between the neighbors", wallets(5, 1, 6), "b", [["a", 1000], ["b", 2000], ["c", 3000]]],
    ["spreads all wallets if the last one has the highest position", wallets(1000, 1_000_000, 7), "c", [["b", 2000], ["c", 3000]]],
    ["spreads all wallets if two others have the same position", wallets(5, 5, 9), "c", [["a", 1000], ["b", 2000], ["c", 3000]]],
    ["starts at 0", wallets(9, 1), "a", [["a", 0]]],
    ["places a single wallet", wallets(undefined), "a", [["a", 999]]],
  ];
  for (const [name, order, moved, want] of cases) {
    await t.test(name, () => assert.deepEqual(placed(order, moved).map(({ id, position }) => [id, position]), want));
  }
  await t.test("stays within the range for 500 wallets", () => {
    const changes = placed(Array.from({ length: 500 }, (_, i) => ({ id: String(i) })), "3");
    assert.equal(changes.at(-1).position, 500_000);
    assert.ok(changes.every(({ position }, i) => i === 0 || position > changes[i - 1].position));
  });
});

test("withMoved", () => {
  assert.deepEqual(withMoved(["a", "b", "c"], 0, 2), ["b", "c", "a"]);
  assert.deepEqual(withMoved(["a", "b", "c"], 2, 0), ["c", "a", "b"]);
});
