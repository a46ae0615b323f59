// The questions of an import: its warnings with their evidence. All functions are pure.
import type { Digits } from "../../money/json";
import { fieldOf, isTable, layouts, withField, type Field } from "./mapping";
import type { Step } from "./steps";
import type { Assumption, Import, Mapping, Row } from "./types";

/** Question is a warning of an import, with what the file shows about it. */
export interface Question {
  readonly code: string;
  /** other is the id of the import that the warning names. */
  readonly other?: string;
  /** assumption is the evidence, if the file shows it. */
  readonly assumption?: Assumption;
  /** rows are the numbers of rows that show it. */
  readonly rows: readonly number[];
}

/** isOpen reports whether a question waits for an answer: it blocks the commit. */
export function isOpen({ assumption }: Question): boolean {
  return assumption?.blocks === true;
}

/** isFact reports whether a warning that blocks a commit stays after its confirmation, because the columns do not decide about it. */
export function isFact(code: string): boolean {
  return ["BALANCE_MISMATCH", "TRANSFERS_ASSUMED", "TRANSFERS_UNPAIRED"].includes(code);
}

/** textOf returns the text of a question: that of its reason, because a code may have several, or otherwise that of its code. */
export function textOf({ code, assumption }: Question, texts: Record<string, string>): string {
  return texts[assumption?.reason ?? ""] ?? texts[code] ?? code;
}

/** isOrder reports whether a question about dates is that of day and month. Another column may have other dates. */
export function isOrder({ code, assumption }: Question): boolean {
  if (code === "DATE_ORDER_INFERRED") return !assumption?.reason?.startsWith("YEARS_");
  return code === "DATE_ORDER_ASSUMED" && ["DATES_AMBIGUOUS", "DATES_UNCLEAR"].includes(assumption?.reason ?? "DATES_AMBIGUOUS");
}

/**
 * sentenceOf returns what the file shows about an assumption, from the sentences of a language, or
 * undefined if they have none. decimal is the language's decimal sign, and layout names a date
 * layout in it.
 */
export function sentenceOf(
  { reason, parameters = {} }: Assumption,
  sentences: Record<string, string>,
  decimal: string,
  layout: (name: string) => string,
): string | undefined {
  return sentences[reason ?? ""]?.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name] ?? "";
    return name === "layout" ? layout(value) : value.replace(/^(-?\d+)\.(\d+)$/, `$1${decimal}$2`);
  });
}

/** questionsOf returns the questions of an import, those that need an answer first. */
export function questionsOf({ warnings, assumptions = [] }: Import): Question[] {
  const questions = warnings.map((warning) => {
    const [code = warning, other] = warning.split(":");
    const assumption = assumptions.find((of) => of.code === code);
    return { code, other, assumption, rows: assumption?.rows ?? [] };
  });
  const rank = (of: Question) => (isFact(of.code) ? 1 : isOpen(of) ? 0 : 2);
  return questions.sort((a, b) => rank(a) - rank(b));
}

/** inColumns are the warnings that the user can correct in the step for columns. */
const inColumns = ["AMOUNT_ASSUMED", "STATUS_ASSUMED", "BALANCE_MISMATCH", "COLUMNS_UNREAD", "DATE_ORDER_ASSUMED", "DATE_ORDER_INFERRED"];

/** stepOf returns the step in which the user can correct what a question is about, while the import can change. */
export function stepOf({ code }: Question, { status, mapping }: Pick<Import, "status" | "mapping">): Step | undefined {
  if (status !== "preview") return undefined;
  if (code === "WALLET_ASSUMED") return "places";
  return inColumns.includes(code) && mapping && isTable(mapping) ? "columns" : undefined;
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
  return Number(date) <= 12 && date !== month ? `${year}-${date}-${month}` : undefined;
}

/** readWith returns an amount as it is read with a decimal mark, without its sign. */
export function readWith(cell: string, mark: string): Digits | undefined {
  const grouping = mark === "," ? /\./g : /,/g;
  const digits = cell.replace(/[^\d.,]/g, "").replace(grouping, "").replace(",", ".");
  return /^\d+(\.\d+)?$/.test(digits) ? (digits as Digits) : undefined;
}

/**
 * otherColumn returns the mapping in which another column has the dates or the amounts, and the number and title of that column, if a
 * question is about two columns. After that change, the other column is the one that was read first.
 */
export function otherColumn({ assumption }: Question, mapping: Mapping, heading: readonly string[] = []): { number: number; title?: string; mapping: Mapping } | undefined {
  const fields: Record<string, Field> = { DATES_DIFFER: "date", AMOUNTS_DIFFER: "amount" };
  const field = fields[assumption?.reason ?? ""];
  if (!field) return undefined;
  for (const key of ["other", "column"]) {
    const name = assumption?.parameters?.[key] ?? "";
    const isOther = (index: number) => fieldOf(mapping, index) !== field;
    const named = heading.findIndex((title, index) => JSON.stringify(title) === name && isOther(index));
    const index = named < 0 ? Number(name) - 1 : named;
    if (index >= 0 && isOther(index)) return { number: index + 1, title: heading[index], mapping: withField(mapping, index, field) };
  }
  return undefined;
}
