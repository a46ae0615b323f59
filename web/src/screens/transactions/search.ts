// Typed text as filters of the transaction list: ">50 food last month", "groceries in March",
// "12,50 € letzte Woche".
import { addDays, addMonths, monthDays, monthOf, type Day } from "../../dates/dates";
import type { Digits } from "../../money/json";
import { typed, type Filters } from "./filters";

interface Named {
  readonly id: string;
  readonly name: string;
}

interface Span {
  readonly from: Day;
  readonly to: Day;
}

/** Vocabulary is what a typed text can refer to, in the user's language. */
interface Vocabulary {
  readonly wallets: readonly Named[];
  readonly categories: readonly Named[];
  /** currencies are those of the wallets, with the signs of the user's language. */
  readonly currencies: readonly { readonly code: string; readonly sign: string }[];
  readonly today: Day;
  /** week is the current week. */
  readonly week: Span;
  readonly income: string;
  readonly expense: string;
  readonly transfer: string;
  /** months are the names of the twelve months, shortMonths their abbreviations. */
  readonly months: readonly string[];
  readonly shortMonths: readonly string[];
}

/** fillers are words without a meaning of their own, removed only in front of a filter. */
const fillers = "in|on|at|for|from|of|during|with|the|my|and|im|am|an|vom|von|für|bei|mit|aus|der|den|dem|des|die|das|mein|meine|meinem|meinen|meiner|und";
const since = "since|after|seit|ab";
const until = "until|till|bis";
const current = "this|diese[mnrs]?";
const previous = "last|previous|(?:letzte|vorige|vergangene)[mnrs]?";
const number = "\\d+(?:[.,']\\d{3})*(?:[.,]\\d{1,2})?";
const firstYear = 1990;
/** doubtful are names of months that are also other words. */
const doubtful = ["may"];

/**
 * readFilters turns a typed text into filters: amounts, "#holiday" for a tag, names of wallets and
 * categories, periods, and kinds. The rest is searched in payees, descriptions and notes. Words
 * that may be names too are filters only where they read as one: "may" with "in" or a year, a year
 * after the present one never.
 */
export function readFilters(text: string, base: Filters, words: Vocabulary): Filters {
  const reader = new Reader(text, { ...base, q: undefined });
  readTags(reader);
  readAmounts(reader, words.currencies);
  for (const type of ["income", "expense", "transfer"] as const)
    reader.take(escaped(words[type]), () => ({ type }));
  for (const { id, name } of longestFirst(words.categories))
    reader.take(escaped(name), () => ({
      categoryId: [...new Set([...reader.filters.categoryId, id])],
    }));
  for (const { id, name } of longestFirst(words.wallets))
    reader.take(escaped(name), () => ({
      walletId: [...new Set([...reader.filters.walletId, id])],
    }));
  readPeriods(reader, words);
  return typed({ ...reader.filters, q: reader.rest.trim().replace(/\s+/g, " ") || undefined });
}

/** Reader takes words out of a text, and collects their filters. */
class Reader {
  /** rest begins and ends with a space, so that each word is between spaces. */
  rest: string;
  filters: Filters;

  constructor(text: string, filters: Filters) {
    this.rest = ` ${text.trim()} `;
    this.filters = filters;
  }

  /**
   * take removes the first match of a pattern between spaces for which apply returns filters, with
   * the fillers before it, and adds the filters. The first group has the fillers.
   */
  take(
    pattern: string,
    apply: (groups: readonly (string | undefined)[]) => Partial<Filters> | undefined,
  ): boolean {
    for (const match of this.rest.matchAll(
      new RegExp(`(?<=\\s)((?:(?:${fillers})\\s+)*)${pattern}(?=\\s)`, "giu"),
    )) {
      const added = apply(match.slice(1));
      if (!added) continue;
      this.rest = `${this.rest.slice(0, match.index)} ${this.rest.slice(match.index + match[0].length)}`;
      this.filters = { ...this.filters, ...added };
      return true;
    }
    return false;
  }
}

function readTags(reader: Reader): void {
  while (reader.take("#([^\\s#,/]+)", ([, name = ""]) => ({ tag: [...new Set([...reader.filters.tag, name])], untagged: undefined }))) continue;
}

/** readAmounts reads ">50", and exact amounts with decimals or a currency: "14.24", "€12". */
function readAmounts(reader: Reader, currencies: Vocabulary["currencies"]): void {
  const codes = currencies.map(({ code }) => code);
  const names = ["\\p{Sc}", ...currencies.map(({ sign }) => escaped(sign)), ...codes].join("|");
  const pattern = `([<>]=?)?\\s*(${names})?\\s*(${number})\\s*(${names})?`;
  const read = () =>
    reader.take(pattern, ([, compared, before, typedAmount = "", after]) => {
      const name = before ?? after;
      const amount = plain(typedAmount);
      if (!compared && !name && !/[.,]\d{1,2}$/.test(typedAmount)) return undefined;
      const fitting = currencies.filter(
        ({ code, sign }) =>
          name && [code, sign].some((one) => one.toLowerCase() === name.toLowerCase()),
      );
      const [one, another] = fitting;
      const currency = one && !another ? { currency: one.code } : {};
      return {
        ...currency,
        ...(!compared?.startsWith("<") && { minAmount: amount }),
        ...(!compared?.startsWith(">") && { maxAmount: amount }),
      };
    });
  while (read()) continue;
}

/** plain returns a typed amount without separators of thousands, and with a decimal point. */
function plain(text: string): Digits {
  const decimal = /[.,](\d{1,2})$/.exec(text);
  const major = (decimal ? text.slice(0, decimal.index) : text).replace(/\D/g, "");
  return (decimal ? `${major}.${decimal[1]}` : major) as Digits;
}

function readPeriods(reader: Reader, words: Vocabulary): void {
  const { today, week } = words;
  const period = (
    pattern: string,
    read: (groups: readonly (string | undefined)[], certain: boolean) => Span | undefined,
  ) =>
    reader.take(
      `(?:(${since})\\s+|(${until})\\s+)?(?:(?:the|dem|der|den)\\s+)?${pattern}`,
      ([filler, from, to, ...groups]) => {
        const span = read(groups, Boolean(filler || from || to));
        return span && (from ? { from: span.from } : to ? { to: span.to } : span);
      },
    );
  period(
    `(?:(${current})|(${previous}))\\s+(?:(week|woche)|(month|monat)|(?:year|jahr))`,
    ([, last, inWeeks, inMonths]) => {
      const before = last ? 1 : 0;
      if (inWeeks)
        return { from: addDays(week.from, -7 * before), to: addDays(week.to, -7 * before) };
      return inMonths
        ? monthDays(addMonths(monthOf(today), -before))
        : yearDays(Number(today.slice(0, 4)) - before);
    },
  );
  period("vormonat", () => monthDays(addMonths(monthOf(today), -1)));
  period("(?:today|heute)", () => ({ from: today, to: today }));
  period("(?:yesterday|gestern)", () => ({ from: addDays(today, -1), to: addDays(today, -1) }));
  const alone = reader.rest.trim().toLowerCase();
  for (const [names, short] of [[words.months, false], [words.shortMonths, true]] as const) {
    names.forEach((name, i) => {
      const unsure = short || doubtful.includes(name.toLowerCase());
      period(`${escaped(name.replace(/\.$/, ""))}\\.?(?:\\s+(\\d{4}))?`, ([year], certain) =>
        !unsure || year || certain || alone === name.toLowerCase()
          ? monthDays(latestMonth(i + 1, today, year))
          : undefined,
      );
    });
  }
  period("(\\d{4})", ([year = ""]) =>
    Number(year) >= firstYear && year <= today.slice(0, 4) ? yearDays(Number(year)) : undefined,
  );
}

function yearDays(year: number): Span {
  return { from: `${year}-01-01`, to: `${year}-12-31` };
}

function escaped(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function longestFirst(items: readonly Named[]): Named[] {
  return [...items].sort((a, b) => b.name.length - a.name.length);
}

/** latestMonth returns the latest month of that number up to now, or that of the given year. */
function latestMonth(number: number, today: Day, year: string | undefined): string {
  const month = String(number).padStart(2, "0");
  const current = monthOf(today);
  const inYear = `${year ?? current.slice(0, 4)}-${month}`;
  return !year && inYear > current ? addMonths(inYear, -12) : inYear;
}
