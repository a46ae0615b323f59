// JSON of the API without floating-point numbers: amounts of money are read and written as the
// digits of the document.
import { moneyFields } from "./fields.js";

/** Digits is an amount in the major unit as decimal digits, such as "-12.30". */
export type Digits = string & { readonly unit: "major" };

const decimal = /^-?\d+(\.\d+)?$/;

/** Listed is a number of a list whose name, which decides whether it is an amount, is read later. */
class Listed {
  readonly number: number;
  readonly digits: string;

  constructor(number: number, digits: string) {
    this.number = number;
    this.digits = digits;
  }
}

/** parseJSON parses an answer of the API. Every field of money, and each of a list, becomes Digits. */
export function parseJSON(text: string): unknown {
  return JSON.parse(text, revive as (this: unknown, key: string, value: unknown) => unknown);
}

function revive(this: object, key: string, value: unknown, context?: { source?: string }): unknown {
  if (Array.isArray(value) && value[0] instanceof Listed)
    return (value as Listed[]).map(({ number, digits }) => (moneyFields.has(key) ? digits : number));
  if (typeof value !== "number") return value;
  // Browsers without context.source have parsed a double. It writes back up to 15 digits exactly,
  // which covers every single amount.
  const digits = context?.source ?? String(value);
  if (Array.isArray(this)) return new Listed(value, digits);
  if (!moneyFields.has(key)) return value;
  // The limit of a page, and the total of a job or of the rows of an import, are counts.
  if (key === "limit" && "hasMore" in this) return value;
  if (key === "total" && ("done" in this || "ready" in this)) return value;
  return digits;
}

/** stringifyJSON writes the body of a request. Digits in fields of money become JSON numbers. */
export function stringifyJSON(body: unknown): string {
  const raw = (JSON as { rawJSON?: (text: string) => unknown }).rawJSON ?? Number;
  return JSON.stringify(body, (key, value) =>
    typeof value === "string" && moneyFields.has(key) && decimal.test(value) ? raw(value) : value,
  );
}
