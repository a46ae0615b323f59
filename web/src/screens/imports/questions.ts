// The questions of an import: its warnings with their evidence. All functions are pure.
import type { Digits } from "../../money/json";
import { layouts } from "./mapping";
import type { Import, Mapping, Row } from "./types";

/** Question is a warning of an import, with what the file shows about it. */
export interface Question {
  readonly code: string;
  /** other is the id of the import that the warning names. */
  readonly other?: string;
  /** evidence is a sentence in English. */
  readonly evidence?: string;
  /** rows are the numbers of rows that show it. */
  readonly rows: readonly number[];
}

/** guesses are the warnings about guesses. The user answers each of them before the commit. */
const guesses = [
  "SIGN_ASSUMED", "AMOUNT_ASSUMED", "STATUS_ASSUMED", "DATE_ORDER_ASSUMED", "DECIMALS_ASSUMED",
] as const;
export type Guess = (typeof guesses)[number];

/** isGuess reports whether a warning is about a guess that the user confirms or changes. */
export function isGuess(code: string): code is Guess {
  return (guesses as readonly string[]).includes(code);
}

/** questionsOf returns the questions of an import, those that need an answer first. */
export function questionsOf({ warnings, assumptions = [] }: Import): Question[] {
  const questions = warnings.map((warning) => {
    const [code = warning, other] = warning.split(":");
    const found = assumptions.find((assumption) => assumption.code === code);
    return { code, other, evidence: found?.evidence, rows: found?.rows ?? [] };
  });
  const rank = ({ code }: Question) => (isGuess(code) ? 0 : code === "BALANCE_MISMATCH" ? 1 : 2);
  return questions.sort((a, b) => rank(a) - rank(b));
}

/** cellOf returns the first cell of a row with a value in a column of one of the fields. */
export function cellOf({ cells = [] }: Row, { columns }: Mapping, ...fields: string[]): string {
  return (
    columns
      .filter(({ field }) => fields.includes(field))
      .map(({ index }) => cells[index] ?? "")
      .find(Boolean) ?? ""
  );
}

/** otherLayout returns the date layout with day and month exchanged, if the API has it. */
export function otherLayout(layout: string): string | undefined {
  const letters: Record<string, string> = { D: "M", M: "D" };
  const other = layout.replace(/[DM]/g, (letter) => letters[letter] ?? letter);
  return other !== layout && layouts.includes(other) ? other : undefined;
}

/** otherDay returns a day with day and month exchanged, if it is one. */
export function otherDay(day: string): string | undefined {
  const [year, month, date] = day.split("-");
  return Number(date) <= 12 ? `${year}-${date}-${month}` : undefined;
}

/** readWith returns an amount as it is read with a decimal mark, without its sign. */
export function readWith(cell: string, mark: string): Digits | undefined {
  const grouping = mark === "," ? /\./g : /,/g;
  const digits = cell.replace(/[^\d.,]/g, "").replace(grouping, "").replace(",", ".");
  return /^\d+(\.\d+)?$/.test(digits) ? (digits as Digits) : undefined;
}
