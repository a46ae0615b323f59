import assert from "node:assert/strict";
import test from "node:test";
import { blockSize, heightOf, near, partsOf } from "../../src/blocks/blocks.ts";

test("near has the blocks of a part of the page", () => {
  const heights = new Map([[0, 1000], [1, 3000]]);
  const list = { rows: 10 * blockSize + 3, usual: 76, heights };
  assert.deepEqual(near(list, -800, 900), { first: 0, end: 1 });
  assert.deepEqual(near(list, -800, 1001), { first: 0, end: 2 });
  assert.deepEqual(near(list, 1001, 4001), { first: 1, end: 3 });
  const usual = heightOf(list, 2);
  assert.deepEqual(near(list, 4000 + 7.5 * usual, 1e9), { first: 9, end: 11 });
  assert.deepEqual(near(list, 1e9, 1e9 + 900), { first: 10, end: 11 }, "the list has become shorter");
  assert.deepEqual(near(list, -5000, -4000), { first: 0, end: 1 });
  assert.deepEqual(near({ ...list, rows: 0 }, -800, 900), { first: 0, end: 0 });
  assert.equal(heightOf(list, 10) * blockSize, usual * 3);
});

test("partsOf has the spaces around the blocks that exist", () => {
  const list = { rows: 10 * blockSize, usual: 10, heights: new Map([[1, 300]]) };
  const block = 10 * blockSize;
  const space = (first, height) => ({ kind: "space", block: first, height });
  const rows = (number) => ({ kind: "rows", block: number });
  assert.deepEqual(partsOf(list, { first: 0, end: 2 }, -1), [rows(0), rows(1), space(2, 8 * block)]);
  assert.deepEqual(partsOf(list, { first: 4, end: 5 }, 4), [space(0, 3 * block + 300), rows(4), space(5, 5 * block)]);
  assert.deepEqual(partsOf(list, { first: 4, end: 5 }, 8), [space(0, 3 * block + 300), rows(4), space(5, 3 * block), rows(8), space(9, block)]);
  assert.deepEqual(partsOf(list, { first: 8, end: 10 }, 12), [space(0, 7 * block + 300), rows(8), rows(9)]);
  assert.deepEqual(partsOf({ ...list, rows: 0 }, { first: 0, end: 0 }, 0), []);
});
