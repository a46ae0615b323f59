// The layout of the flow of money: incomes at the left, spending at the right, all through the
// middle.
import { sumOf } from "./report";

/** Stream is an amount that flows in or out. */
export interface Stream {
  readonly name: string;
  readonly value: bigint;
}

/** Placed is the place of a stream: its block at the side, and its part of the middle. */
export interface Placed<T> {
  readonly of: T;
  readonly top: number;
  readonly height: number;
  readonly middle: number;
}

/** slot is the least height of a stream, in which its name is readable. */
const slot = 22;
const gap = 6;
const thinnest = 1.5;

/** layout places streams of values above 0. Both sides have the same sum, and middle its height. */
export function layout<T extends Stream>(sides: readonly (readonly T[])[], middle: number): { height: number; sides: Placed<T>[][]; top: number } {
  const scaled = sides.map((streams) => {
    const total = sumOf(streams.map(({ value }) => value)) || 1n;
    return streams.map((of) => ({ of, height: Math.max(thinnest, (Number((of.value * 1_000_000n) / total) / 1_000_000) * middle) }));
  });
  const heights = scaled.map((streams) => streams.reduce((sum, { height }) => sum + Math.max(slot, height) + gap, -gap));
  const height = Math.max(middle, ...heights);
  const top = (height - middle) / 2;
  return {
    height,
    top,
    sides: scaled.map((streams, i) => {
      let at = (height - (heights[i] ?? 0)) / 2;
      let through = top;
      return streams.map(({ of, height: thick }) => {
        const room = Math.max(slot, thick);
        const placed = { of, top: at + (room - thick) / 2, height: thick, middle: through };
        at += room + gap;
        through += thick;
        return placed;
      });
    }),
  };
}

/** ribbon returns the path of a band between two heights. */
export function ribbon(x: number, y: number, toX: number, toY: number, thick: number): string {
  const half = (x + toX) / 2;
  return `M${x} ${y}C${half} ${y} ${half} ${toY} ${toX} ${toY}V${toY + thick}C${half} ${toY + thick} ${half} ${y + thick} ${x} ${y + thick}Z`;
}
