import assert from "node:assert/strict";
import test from "node:test";
import { area, line, points, position, rangeOf, slices, spaced, ticks } from "../../src/charts/geometry.ts";

test("rangeOf contains 0 and is never empty", () => {
  assert.deepEqual(rangeOf([5n, undefined, -3n]), { min: -3n, max: 5n });
  assert.deepEqual(rangeOf([]), { min: 0n, max: 1n });
  assert.deepEqual(rangeOf([7n]), { min: 0n, max: 7n });
});

test("ticks are round and cover the range", () => {
  assert.deepEqual(ticks({ min: 0n, max: 123_456n }, 100n), [0n, 50_000n, 100_000n, 150_000n]);
  assert.deepEqual(ticks({ min: 0n, max: 100n }, 100n), [0n, 100n]);
  assert.deepEqual(ticks({ min: -12_000n, max: 5_000n }, 100n), [-15_000n, -10_000n, -5_000n, 0n, 5_000n]);
  for (const max of [1n, 99n, 101n, 12_345_678n, 9_223_372_036_854_775_807n]) {
    const list = ticks({ min: 0n, max }, 100n);
    assert.ok(list.at(-1) >= max && list.length <= 6, `${max}: ${list}`);
  }
});

test("position is exact for amounts that no double holds", () => {
  assert.equal(position(4_611_686_018_427_387_904n, { min: 0n, max: 9_223_372_036_854_775_808n }), 0.5);
});

test("points leave out the days to come", () => {
  assert.deepEqual(points([0n, 5n, undefined, 10n], { min: 0n, max: 10n }, 300, 100), [{ x: 0, y: 100 }, { x: 100, y: 50 }, { x: 300, y: 0 }]);
});

test("line never falls between rising points", () => {
  const path = line([{ x: 0, y: 100 }, { x: 10, y: 99 }, { x: 20, y: 10 }, { x: 30, y: 10 }]);
  const ys = [...path.matchAll(/-?[\d.]+/g)].map(Number).filter((_, i) => i % 2 === 1);
  // Each curve has two control points and its end. A cubic within these limits has no extremum between its ends.
  for (let i = 0; i + 3 < ys.length; i += 3) {
    const [from, one, two, to] = ys.slice(i, i + 4);
    for (const control of [one, two]) assert.ok(control <= from + 0.01 && control >= to - 0.01, path);
  }
  assert.equal(line([]), "");
  assert.equal(area([], 10), "");
  assert.match(area([{ x: 0, y: 1 }, { x: 5, y: 2 }], 10), /L5 10L0 10Z$/);
});

test("slices fill the circle", () => {
  const parts = slices([50n, 25n, 25n], 0.01);
  assert.deepEqual(parts.map(({ start }) => start), [0, 0.5, 0.75]);
  assert.equal(parts[0].length, 0.49);
  assert.equal(slices([10n])[0].length, 1);
  assert.deepEqual(slices([0n, 0n]).map(({ length }) => length), [0, 0]);
  assert.ok(slices([1n, 1_000_000n]).every(({ length }) => length > 0));
});

test("spaced omits marks that overlap others, but neither the first nor the last", () => {
  const x = (index) => index * 10;
  const wide = (text) => text.length * 8;
  const marks = [{ at: 0, text: "1. Dez. 2025" }, { at: 7, text: "1. Apr." }, { at: 20, text: "1. Aug." }, { at: 30, text: "30. Nov." }];
  assert.deepEqual(spaced(marks, 30, x, wide).map(({ at }) => at), [0, 20, 30]);
  assert.deepEqual(spaced(marks.slice(0, 1), 0, x, wide), marks.slice(0, 1));
});
