// The file of an export. All functions are pure.

/** Format is a format of the API. */
export type Format = "csv" | "json" | "hledger" | "beancount";

/** Choice is what the user exports. Empty texts mean everything. */
export interface Choice {
  format: Format;
  from: string;
  to: string;
  walletId: string;
  categoryId: string;
  tag: string;
  bom: boolean;
}

const endings: Record<Format, string> = { csv: "csv", json: "jsonl", hledger: "journal", beancount: "beancount" };

/** formats are the formats in the order of the screen. */
export const formats = Object.keys(endings) as Format[];

/** fileName returns the name of the file, such as coffer-2026-11-22.csv. */
export function fileName(format: Format, day: string): string {
  return `coffer-${day}.${endings[format]}`;
}

/** queryOf returns the query of the request. A byte order mark is possible in CSV only. */
export function queryOf({ format, from, to, walletId, categoryId, tag, bom }: Choice) {
  return {
    format,
    ...(from && { from }),
    ...(to && { to }),
    ...(walletId && { walletId: [walletId] }),
    ...(categoryId && { categoryId: [categoryId] }),
    ...(tag && { tag: [tag] }),
    ...(bom && format === "csv" && { bom }),
  };
}

/** save stores a file on the device. */
export function save(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The browser reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
