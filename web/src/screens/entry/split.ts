// The parts of a split transaction. The arithmetic is exact: counts of the minor unit, for any
// number of decimals.
import type { Split } from "../../api/types";
import { abs, add, digits, money, negate, parseAmount, subtract, zero, type AmountProblem, type Money } from "../../money/money";

/** Part is a line of the editor. amount is the typed text; a refund counts against the others. */
export interface Part {
  id: number;
  categoryId: string;
  amount: string;
  refund: boolean;
  description: string;
}

let last = 0;

/** newPart returns an empty line, or one for a part of a transaction. */
export function newPart(from: Partial<Part> = {}): Part {
  return { categoryId: "", amount: "", refund: false, description: "", ...from, id: ++last };
}

/** partsOf returns the lines for the parts of a transaction. */
export function partsOf(splits: readonly Split[], currency: string, decimalSign: string): Part[] {
  return splits.map(({ categoryId, amount, description = "" }) =>
    newPart({ categoryId, description, ...filled(money(amount, currency), decimalSign) }),
  );
}

/** filled returns the fields of a line for an amount. */
export function filled(amount: Money, decimalSign: string): { amount: string; refund: boolean } {
  return { amount: digits(abs(amount)).replace(".", decimalSign), refund: amount.minor < 0n };
}

/** readPart returns the amount of a line, negative for a refund, or why it is none. 0 is none. */
export function readPart(
  { amount, refund }: Part,
  currency: string,
  decimalSign: string,
): Money | AmountProblem {
  const read = parseAmount(amount, currency, decimalSign);
  if (typeof read === "string") return read;
  if (read.minor === 0n) return "empty";
  return refund ? negate(read) : read;
}

/** left returns what the lines leave of a total that is an amount. Lines without one count as 0. */
export function left(total: string, parts: readonly Part[], currency: string, decimalSign: string): Money | undefined {
  const whole = parseAmount(total, currency, decimalSign);
  if (typeof whole === "string") return undefined;
  const amounts = parts
    .map((part) => readPart(part, currency, decimalSign))
    .filter((amount) => typeof amount !== "string");
  return subtract(whole, amounts.reduce(add, zero(currency)));
}

/** splitsOf returns the parts for the API. All lines must have amounts. */
export function splitsOf(parts: readonly Part[], currency: string, decimalSign: string): Split[] {
  return parts.map((part) => ({
    categoryId: part.categoryId,
    amount: digits(readPart(part, currency, decimalSign) as Money),
    description: part.description.trim(),
  }));
}
