// Messages for amounts that a user typed.
import { common, i18n } from "../i18n/i18n.svelte";
import { decimals } from "../money/currencies";
import { decimalSign } from "../money/format";
import { parseAmount, type AmountProblem, type Money } from "../money/money";

/** readAmount parses a typed amount with the decimal sign of the user's language. */
export function readAmount(text: string, currency: string): Money | AmountProblem {
  return parseAmount(text, currency, decimalSign(i18n.locale));
}

/** amountMessage explains why a text is no amount. */
export function amountMessage(problem: AmountProblem, currency: string): string {
  const texts = common();
  switch (problem) {
    case "empty": return texts.amountEmpty;
    case "decimals": return texts.amountDecimals(currency, decimals(currency));
    case "tooLarge": return texts.amountTooLarge;
    case "invalid": return texts.amountInvalid;
  }
}

/** amountText returns digits for an input field, with the decimal sign of the user's language. */
export function amountText(digits: string): string {
  return digits.replace(".", decimalSign(i18n.locale));
}
