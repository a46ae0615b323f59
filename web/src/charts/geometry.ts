// Geometry of the charts as pure functions: values in, coordinates and SVG paths out. Amounts
// become floating-point numbers only here, as positions on the screen.

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Range is the interval of values that an axis shows. */
interface Range {
  readonly min: bigint;
  readonly max: bigint;
}

/** rangeOf returns the interval of the values and 0, at least one unit high. */
export function rangeOf(values: Iterable<bigint | undefined>): Range {
  let min = 0n;
  let max = 0n;
  for (const value of values) {
    if (value === undefined) continue;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return { min, max: max === min ? min + 1n : max };
}

/** position returns where a value is in a range: 0 at the minimum, 1 at the maximum. */
export function position(value: bigint, { min, max }: Range): number {
  return Number(((value - min) * 1_000_000n) / (max - min)) / 1_000_000;
}

/** ticks returns two to six round values that cover a range. unit is the minor units of 1. */
export function ticks({ min, max }: Range, unit: bigint, most = 4): [bigint, ...bigint[]] {
  let step = 1n;
  const steps = [1n, 2n, 5n];
  const span = max - min;
  for (let power = 1n; ; power *= 10n) {
    const found = steps.find((factor) => span / (factor * power * unit) < BigInt(most));
    if (found !== undefined) {
      step = found * power * unit;
      break;
    }
  }
  let value = min < 0n ? -((-min + step - 1n) / step) * step : 0n;
  const list: [bigint, ...bigint[]] = [value];
  while (value < max) list.push((value += step));
  return list;
}

/** Mark is a text below the axis, at a value by its index. */
export interface Mark {
  readonly at: number;
  readonly text: string;
}

/**
 * spaced returns the marks whose texts do not overlap. The first mark is left-aligned and the one
 * at last is right-aligned; both stay before those between them. wide estimates the width of a
 * text.
 */
export function spaced(
  marks: readonly Mark[],
  last: number,
  x: (index: number) => number,
  wide: (text: string) => number,
): Mark[] {
  const span = ({ at, text }: Mark): [number, number] => {
    const width = wide(text);
    const start = at === 0 ? x(at) : at === last ? x(at) - width : x(at) - width / 2;
    return [start, start + width];
  };
  const kept: Mark[] = [];
  const free = (mark: Mark) =>
    kept.every((other) => span(mark)[0] >= span(other)[1] || span(mark)[1] <= span(other)[0]);
  for (const mark of [...marks].sort(
    (a, b) => Number(b.at === 0 || b.at === last) - Number(a.at === 0 || a.at === last),
  )) {
    if (free(mark)) kept.push(mark);
  }
  return kept.sort((a, b) => a.at - b.at);
}

/** points places values in a plot. Gaps, such as the days to come, are left out. */
export function points(values: readonly (bigint | undefined)[], range: Range, width: number, height: number): Point[] {
  const gap = values.length > 1 ? width / (values.length - 1) : 0;
  return values.flatMap((value, i) =>
    value === undefined ? [] : [{ x: i * gap, y: height - position(value, range) * height }],
  );
}

const round = (n: number) => Math.round(n * 100) / 100;

/**
 * line returns a smooth path through points whose x increase. It is monotone: between two points it
 * never rises above or falls below both, so a curve of cumulative spending never falls (Fritsch and
 * Carlson, 1980).
 */
export function line(through: readonly Point[]): string {
  const smooth = through.map((b, i) => ({ ...b, slope: slope(through[i - 1], b, through[i + 1]) }));
  const pieces = smooth.map((b, i) => {
    const a = smooth[i - 1];
    if (!a) return `M${round(b.x)} ${round(b.y)}`;
    const third = (b.x - a.x) / 3;
    const first = `${round(a.x + third)} ${round(a.y + a.slope * third)}`;
    const second = `${round(b.x - third)} ${round(b.y - b.slope * third)}`;
    return `C${first} ${second} ${round(b.x)} ${round(b.y)}`;
  });
  return pieces.join("");
}

/** slope returns the slope of a smooth path at the point b between a and c. */
function slope(a: Point | undefined, b: Point, c: Point | undefined): number {
  const secant = (from: Point, to: Point) => (to.y - from.y) / (to.x - from.x || 1);
  const before = a && secant(a, b);
  const after = c && secant(b, c);
  if (before === undefined || after === undefined) return before ?? after ?? 0;
  if (before * after <= 0) return 0;
  return (
    Math.sign(before) *
    Math.min(Math.abs(before + after) / 2, 3 * Math.min(Math.abs(before), Math.abs(after)))
  );
}

/** area returns the closed path between a line and the base of the plot. */
export function area(through: readonly Point[], base: number): string {
  const [first, last] = [through[0], through.at(-1)];
  return first && last
    ? `${line(through)}L${round(last.x)} ${round(base)}L${round(first.x)} ${round(base)}Z`
    : "";
}

/** Slice is a part of a donut, as parts of the circumference. */
interface Slice {
  readonly start: number;
  readonly length: number;
}

/** thinnest is the length of a slice that would be too thin to see. */
const thinnest = 0.002;

/** slices divides a circle by values of at least 0. Every value above 0 stays visible. */
export function slices(values: readonly bigint[], gap = 0.008): Slice[] {
  const total = values.reduce((sum, value) => sum + value, 0n);
  if (total === 0n) return values.map(() => ({ start: 0, length: 0 }));
  let start = 0;
  return values.map((value) => {
    const share = Number((value * 1_000_000n) / total) / 1_000_000;
    const visible = values.length === 1 ? 1 : Math.max(share - gap, Math.min(share, gap), thinnest);
    const slice = { start, length: value === 0n ? 0 : visible };
    start += share;
    return slice;
  });
}
