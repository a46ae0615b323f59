import assert from "node:assert/strict";
import test from "node:test";
import { blockSize, heightOf, near } from "../../src/blocks/blocks.ts";

test("near has the blocks of a part of the page", () => {
  const heights = new Map([[0, 1000], [1, 3000]]);
  const rows = 10 * blockSize + 3;
  assert.deepEqual(near(heights, rows, -800, 900), { first: 0, end: 1 });
  assert.deepEqual(near(heights, rows, -800, 1001), { first: 0, end: 2 });
  assert.deepEqual(near(heights, rows, 1001, 4001), { first: 1, end: 3 });
  const usual = heightOf(heights, 2, blockSize);
  assert.deepEqual(near(heights, rows, 4000 + 7.5 * usual, 1e9), { first: 9, end: 11 });
  assert.deepEqual(near(heights, rows, 1e9, 1e9 + 900), { first: 10, end: 11 }, "the list has become shorter");
  assert.deepEqual(near(heights, rows, -5000, -4000), { first: 0, end: 1 });
  assert.deepEqual(near(heights, 0, -800, 900), { first: 0, end: 0 });
  assert.equal(heightOf(heights, 10, 3) * blockSize, usual * 3);
});
