// The columns of a CSV file or workbook. All functions are pure.
import type { Mapping, Row } from "./types";

/** fields are the fields that a column can have, in the order of the select. */
export const fields = [
  "ignore", "date", "amount", "debit", "credit", "type", "fee", "currency", "balance",
  "payee", "payer", "description", "notes", "category", "tags", "account", "externalId",
  "status",
] as const;
export type Field = (typeof fields)[number];

/** layouts are the date layouts of the API. */
export const layouts = [
  "YYYY-MM-DD", "DD.MM.YYYY", "DD/MM/YYYY", "DD-MM-YYYY", "MM/DD/YYYY", "MM-DD-YYYY",
  "MM.DD.YYYY", "YYYY/MM/DD", "YYYY.MM.DD", "YYYYMMDD", "DDMMYYYY", "MMDDYYYY",
  "DD.MM.YY", "DD/MM/YY", "DD-MM-YY", "MM/DD/YY", "MM-DD-YY", "MM.DD.YY",
  "YY-MM-DD", "YY/MM/DD", "YY.MM.DD", "YYMMDD", "DDMMYY", "MMDDYY",
  "DD MMM YYYY", "DD MMM YY", "MMM DD YYYY", "YYYY MMM DD",
  "DD.MM", "DD/MM", "DD-MM", "MM.DD", "MM/DD", "MM-DD", "DD MMM", "MMM DD",
];

/** hasYear reports whether the dates of a layout have a year. */
export function hasYear(layout: string): boolean {
  return layout.includes("Y");
}

/** withLayout returns a mapping with another layout. Dates without a year need a last day. */
export function withLayout(mapping: Mapping, dateLayout: string, today: string): Mapping {
  return { ...mapping, dateLayout, datesUntil: hasYear(dateLayout) ? undefined : (mapping.datesUntil ?? today) };
}

/** repeated are the fields that several columns can have. Their cells are joined. */
const repeated: readonly Field[] = ["ignore", "payee", "description", "notes", "tags"];

/** isTable reports whether the user assigns the columns: other formats have fixed ones. */
export function isTable({ format }: Mapping): boolean {
  return format === "csv" || format === "xlsx";
}

/** fieldOf returns the field of a column. */
export function fieldOf(mapping: Mapping, index: number): Field {
  return (
    (mapping.columns.find((column) => column.index === index)?.field as Field | undefined) ??
    "ignore"
  );
}

/**
 * withField returns the mapping with another field of a column. Columns that contradict it are
 * ignored, and the amount mode follows.
 */
export function withField(mapping: Mapping, index: number, field: Field): Mapping {
  const contradicting = (other: string) =>
    (other === field && !repeated.includes(field)) ||
    (field === "amount" && (other === "debit" || other === "credit")) ||
    ((field === "debit" || field === "credit") && (other === "amount" || other === "type"));
  const others = mapping.columns.filter(
    (column) => column.index !== index && !contradicting(column.field),
  );
  const columns =
    field === "ignore" ? others : [...others, { index, field }].sort((a, b) => a.index - b.index);
  return { ...mapping, columns, amountMode: modeOf(columns) };
}

function modeOf(columns: Mapping["columns"]): Mapping["amountMode"] {
  const has = (field: Field) => columns.some((column) => column.field === field);
  if (has("debit") || has("credit")) return "debitCredit";
  return has("type") ? "typeColumn" : "signed";
}

/** missing returns the fields that a mapping lacks: date, amount or both. */
export function missing({ columns }: Mapping): ("date" | "amount")[] {
  const has = (...any: Field[]) => columns.some(({ field }) => any.includes(field as Field));
  const lacking: ("date" | "amount")[] = [];
  if (!has("date")) lacking.push("date");
  if (!has("amount", "debit", "credit")) lacking.push("amount");
  return lacking;
}

/** widthOf returns the number of columns of a file. */
export function widthOf(rows: readonly Row[], heading: readonly string[] = []): number {
  return rows.reduce((most, { cells }) => Math.max(most, cells?.length ?? 0), heading.length);
}

/** wrongFields returns the fields that make a row invalid: the date, or the amount and currency. */
export function wrongFields(row: Row): readonly Field[] {
  if (row.status !== "invalid") return [];
  if (!row.date) return ["date"];
  return row.amount === undefined
    ? ["amount", "debit", "credit"]
    : ["amount", "debit", "credit", "currency"];
}

/** titleOf returns the name of a column: its heading, or its letter as in a spreadsheet. */
export function titleOf(index: number, heading: readonly string[] = []): string {
  const title = heading[index]?.trim();
  if (title) return title;
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : titleOf(Math.floor(index / 26) - 1) + letter;
}
