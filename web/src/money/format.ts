// Amounts of money as text in the user's language.
import { decimals } from "./currencies";
import { digits, type Money } from "./money";

export type Sign = "auto" | "always" | "never";

const formatters = new Map<string, Intl.NumberFormat>();

function formatter(locale: string, currency: string, sign: Sign, short: boolean): Intl.NumberFormat {
  const key = `${locale} ${currency} ${sign} ${short}`;
  let made = formatters.get(key);
  if (!made) {
    // Without a number of digits, a compact amount is rounded to its integer, or to two digits if
    // that has only one.
    const places = short ? undefined : decimals(currency);
    made = new Intl.NumberFormat(locale, {
      style: "currency",
      currency,
      currencyDisplay: "narrowSymbol",
      signDisplay: sign === "always" ? "exceptZero" : sign,
      minimumFractionDigits: places,
      maximumFractionDigits: places,
      notation: short ? "compact" : "standard",
    });
    formatters.set(key, made);
  }
  return made;
}

/** minus replaces the hyphen of Intl by a real minus sign, which is as wide as the plus. */
function minus(text: string): string {
  return text.replace("-", "\u2212");
}

/** formatMoney returns an amount such as "€1,234.50". Intl formats the digits, so none is lost. */
export function formatMoney(amount: Money, locale: string, sign: Sign = "auto"): string {
  return minus(formatter(locale, amount.currency, sign, false).format(digits(amount) as Intl.StringNumericLiteral));
}

/** formatShort rounds for a chart: "€1.2K". German does not shorten thousands: "1234 €". */
export function formatShort(amount: Money, locale: string): string {
  return minus(formatter(locale, amount.currency, "auto", true).format(digits(amount) as Intl.StringNumericLiteral));
}

/** moneyParts splits the formatted amount, so that the fraction can be set in a lighter color. */
export function moneyParts(amount: Money, locale: string, sign: Sign = "auto"): { text: string; fraction: boolean }[] {
  return formatter(locale, amount.currency, sign, false)
    .formatToParts(digits(amount) as Intl.StringNumericLiteral)
    .map(({ type, value }) => ({
      text: minus(value),
      fraction: type === "fraction" || type === "decimal",
    }));
}

/** decimalSign returns "." or ",". */
export function decimalSign(locale: string): string {
  return (
    new Intl.NumberFormat(locale).formatToParts(1.5).find((part) => part.type === "decimal")
      ?.value ?? "."
  );
}

/** currencyName returns the name of a currency in the user's language. */
export function currencyName(currency: string, locale: string): string {
  return new Intl.DisplayNames(locale, { type: "currency" }).of(currency) ?? currency;
}
