// Amounts of money as exact counts of the minor unit. No function of the console converts an amount
// to a floating-point number, except share and ratio for the geometry of charts.
import { decimals } from "./currencies";
import type { Digits } from "./json";

export interface Money {
  readonly minor: bigint;
  readonly currency: string;
}

/** maxMajor is the highest absolute amount that the API accepts: 999 999 999 999.99. */
const maxMajor = 999_999_999_999n;

/** money converts digits such as "-12.3". Digits beyond the currency's decimals are an error. */
export function money(digits: Digits | string, currency: string): Money {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(digits);
  const places = decimals(currency);
  const fraction = (match?.[3] ?? "").replace(/0+$/, "");
  if (!match || fraction.length > places)
    throw new RangeError(`not an amount in ${currency}: ${digits}`);
  const minor = BigInt(match[2] + fraction.padEnd(places, "0"));
  return { minor: match[1] ? -minor : minor, currency };
}

/** digits converts an amount for the API and for Intl, such as "-12.30". */
export function digits({ minor, currency }: Money): Digits {
  const places = decimals(currency);
  const text = absolute(minor).toString().padStart(places + 1, "0");
  const major = text.slice(0, text.length - places);
  const sign = minor < 0n ? "-" : "";
  return (places ? `${sign}${major}.${text.slice(-places)}` : sign + major) as Digits;
}

export function zero(currency: string): Money {
  return { minor: 0n, currency };
}

export function add(a: Money, b: Money): Money {
  if (a.currency !== b.currency) throw new RangeError(`cannot add ${a.currency} and ${b.currency}`);
  return { minor: a.minor + b.minor, currency: a.currency };
}

export function subtract(a: Money, b: Money): Money {
  return add(a, negate(b));
}

export function negate(a: Money): Money {
  return { minor: -a.minor, currency: a.currency };
}

export function abs(a: Money): Money {
  return { minor: absolute(a.minor), currency: a.currency };
}

function absolute(minor: bigint): bigint {
  return minor < 0n ? -minor : minor;
}

/** sum adds amounts per currency, in the order in which the currencies first occur. */
export function sum(amounts: Iterable<Money>): Money[] {
  const totals = new Map<string, bigint>();
  for (const { minor, currency } of amounts)
    totals.set(currency, (totals.get(currency) ?? 0n) + minor);
  return [...totals].map(([currency, minor]) => ({ minor, currency }));
}

/** ratio returns part / whole for charts, 0 if the whole is 0. It is exact to 6 decimals. */
export function ratio(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number((part * 1_000_000n) / whole) / 1_000_000;
}

export type AmountProblem = "empty" | "invalid" | "decimals" | "tooLarge";

/**
 * parseAmount reads what a user typed: "12,30", "1.234,56", "1 234.5" or "12+3.50". decimalSign is
 * that of the user's locale; it decides only between the two meanings of "1.234".
 */
export function parseAmount(text: string, currency: string, decimalSign: string): Money | AmountProblem {
  const compact = text.replace(/[\s\u00a0\u202f'’_]/g, "").replace(/\u2212/g, "-");
  if (compact === "") return "empty";
  const terms = compact.match(/[+-]?[^+-]+/g);
  if (!terms || terms.join("") !== compact) return "invalid";
  let minor = 0n;
  for (const term of terms) {
    const amount = parseTerm(term, currency, decimalSign);
    if (typeof amount === "string") return amount;
    minor += amount;
  }
  if (absolute(minor) > maxMajor * 10n ** BigInt(decimals(currency)) + 99n) return "tooLarge";
  return { minor, currency };
}

function parseTerm(term: string, currency: string, decimalSign: string): bigint | AmountProblem {
  const [, sign, number] = /^([+-]?)([\d.,]+)$/.exec(term) ?? [];
  if (number === undefined || !/\d/.test(number)) return "invalid";
  const places = decimals(currency);
  const last = Math.max(number.lastIndexOf("."), number.lastIndexOf(","));
  const separators = number.replace(/\d/g, "");
  let major = number;
  let fraction = "";
  if (last >= 0) {
    const tail = number.slice(last + 1);
    const single = separators.length === 1;
    const mixed = new Set(separators).size === 2;
    // A single separator before three digits groups thousands, unless it is the decimal sign of the
    // locale.
    const decimal =
      mixed || (single && (tail.length !== 3 || number[last] === decimalSign || last === 0));
    if (decimal) {
      major = number.slice(0, last);
      fraction = tail;
    }
  }
  if (!/^\d*$|^\d{1,3}([.,]\d{3})+$/.test(major)) return "invalid";
  fraction = fraction.replace(/0+$/, "");
  if (fraction.length > places) return "decimals";
  const minor = BigInt((major.replace(/[.,]/g, "") || "0") + fraction.padEnd(places, "0"));
  return sign === "-" ? -minor : minor;
}
