// JSON of the API without floating-point numbers: amounts of money are read and written as the
// digits of the document.
import { moneyFields } from "./fields.js";

/** Digits is an amount in the major unit as decimal digits, such as "-12.30". */
export type Digits = string & { readonly unit: "major" };

const decimal = /^-?\d+(\.\d+)?$/;

/** parseJSON parses an answer of the API. Every field of money becomes Digits. */
export function parseJSON(text: string): unknown {
  return JSON.parse(text, revive as (this: unknown, key: string, value: unknown) => unknown);
}

function revive(this: object, key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || !moneyFields.has(key)) return value;
  // The limit of a page, and the total of a job or of the rows of an import, are counts.
  if (key === "limit" && "hasMore" in this) return value;
  if (key === "total" && ("done" in this || "ready" in this)) return value;
  // Browsers without context.source have parsed a double. It writes back up to 15 digits exactly,
  // which covers every single amount.
  return context?.source ?? String(value);
}

/** stringifyJSON writes the body of a request. Digits in fields of money become JSON numbers. */
export function stringifyJSON(body: unknown): string {
  const raw = (JSON as { rawJSON?: (text: string) => unknown }).rawJSON ?? Number;
  return JSON.stringify(body, (key, value) =>
    typeof value === "string" && moneyFields.has(key) && decimal.test(value) ? raw(value) : value,
  );
}
