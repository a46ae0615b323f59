// The values of a receipt during the review: the recognized values, the typed ones, and the
// difference as corrections.
import { SvelteMap } from "svelte/reactivity";
import type { components } from "../../api/coffer";
import { directory } from "../../api/directory.svelte";
import { amountText, readAmount } from "../../components/amount";
import { digits, type Money } from "../../money/money";
import { adjustments, compare, sameAmount, type Adjustment, type Comparison } from "./sum";

export type Read = components["schemas"]["ReceiptPreview"];
type Corrections = components["schemas"]["ReceiptCorrections"];
type Item = Read["lines"][number];

/** checkBelow is the expected share of correct values below which the user should check a field. */
const checkBelow = 0.9;

/** Line is an item of the receipt. Amounts are texts as typed. */
export class Line {
  description = $state("");
  amount = $state("");
  categoryId = $state("");
  readonly id: number;
  /** source is the index of the item in what was read. */
  readonly source: number | undefined;

  constructor(id: number, source: number | undefined, description: string, amount: string, categoryId: string) {
    this.id = id;
    this.source = source;
    this.description = description;
    this.amount = amount;
    this.categoryId = categoryId;
  }
}

function isMoney(amount: Money | string | undefined): amount is Money {
  return typeof amount === "object";
}

/** Review is the state of one receipt. An item may have another category than categoryId. */
export class Review {
  readonly read: Read;
  merchant = $state("");
  date = $state("");
  currency = $state("");
  total = $state("");
  walletId = $state("");
  categoryId = $state("");
  mode = $state<"items" | "single">("items");
  keepImage = $state(false);
  lines = $state<Line[]>([]);
  readonly adjusted = new SvelteMap<Adjustment, string>();
  #next = 0;

  constructor(read: Read, walletId: string, categoryId: string) {
    this.read = read;
    this.walletId = walletId;
    this.categoryId = categoryId;
    this.keepImage = Boolean(read.pages?.length);
    this.merchant = read.merchant ?? "";
    this.date = read.date ?? "";
    this.currency = read.currency ?? "";
    this.total = amountText(read.total ?? "");
    this.lines = read.lines.map(
      (item, i) =>
        new Line(this.#next++, i, item.description.trim(), amountText(item.amount ?? ""), ""),
    );
    for (const name of adjustments) if (read[name]) this.adjusted.set(name, amountText(read[name]));
    if (!this.lines.length || this.warned("LINES_NOT_RECONCILED")) this.mode = "single";
  }

  warned(code: string): boolean {
    return this.read.warnings.some((warning) => warning.code === code);
  }

  /** doubtful reports whether a value was read with low confidence and not changed since. */
  doubtful(field: "merchant" | "date" | "currency" | "total"): boolean {
    // The API layer reads the member total of the map as digits, because that is the name of a
    // field of money.
    const confidence = this.read.confidence[field];
    if (confidence === undefined || Number(confidence) >= checkBelow) return false;
    return field === "total"
      ? this[field] === amountText(this.read.total ?? "")
      : this[field] === this.read[field];
  }

  get doubtfulLines(): boolean {
    const confidence = this.read.confidence["lines"];
    return confidence !== undefined && Number(confidence) < checkBelow;
  }

  /** selectWallet books from another wallet, in its currency if none is printed. */
  selectWallet(id: string): void {
    const before = directory.wallet(this.walletId)?.currency;
    this.walletId = id;
    const wallet = directory.wallet(id);
    if (wallet && this.warned("CURRENCY_ASSUMED") && this.currency === before)
      this.currency = wallet.currency;
  }

  add(description = "", amount = ""): Line {
    const line = new Line(this.#next++, undefined, description, amount, "");
    this.lines.push(line);
    return line;
  }

  remove(line: Line): void {
    this.lines = this.lines.filter((other) => other !== line);
  }

  amount(text: string): ReturnType<typeof readAmount> {
    return readAmount(text, this.currency);
  }

  /** comparison is undefined while an amount is not valid. */
  get comparison(): Comparison | undefined {
    const total = this.amount(this.total);
    const items = this.lines.map((line) => this.amount(line.amount));
    const adjusted = [...this.adjusted].map(([name, text]) => [name, this.amount(text)] as const);
    if (!isMoney(total) || !items.every(isMoney) || !adjusted.every(([, amount]) => isMoney(amount))) return undefined;
    return compare(items, Object.fromEntries(adjusted) as Partial<Record<Adjustment, Money>>, total);
  }

  /** count is the number of transactions that the button books, 0 if it cannot book any. */
  get count(): number {
    const total = this.amount(this.total);
    if (!isMoney(total) || !this.merchant.trim() || !this.date || !this.walletId || !this.categoryId) return 0;
    if (this.mode === "single") return total.minor === 0n ? 0 : 1;
    const compared = this.comparison;
    const complete = this.lines.length > 0 && this.lines.every((line) => line.description.trim());
    return compared && complete && compared.rest.minor === 0n ? compared.count : 0;
  }

  /** corrections has the values that differ from what was read. count must not be 0. */
  get corrections(): Corrections {
    const { read } = this;
    const corrections: Corrections = {};
    if (this.merchant.trim() !== (read.merchant ?? "")) corrections.merchant = this.merchant.trim();
    if (this.date !== read.date) corrections.date = this.date;
    // Without a printed currency, the API takes the wallet's currency.
    const expected = this.warned("CURRENCY_ASSUMED")
      ? directory.wallet(this.walletId)?.currency
      : read.currency;
    if (this.currency !== expected) corrections.currency = this.currency;
    const total = this.amount(this.total) as Money;
    if (!sameAmount(read.total, total)) corrections.total = digits(total);
    if (this.mode === "single") return corrections;
    for (const name of adjustments) {
      const text = this.adjusted.get(name);
      const amount =
        text === undefined ? { minor: 0n, currency: this.currency } : (this.amount(text) as Money);
      if (read[name] ? !sameAmount(read[name], amount) : amount.minor !== 0n)
        corrections[name] = digits(amount);
    }
    const changed =
      this.lines.length !== read.lines.length ||
      this.lines.some((line, i) => this.#changed(line, read.lines[i]));
    if (changed) corrections.lines = this.lines.map((line) => this.#corrected(line));
    return corrections;
  }

  #changed(line: Line, item: Item | undefined): boolean {
    if (!item || line.categoryId !== "" || line.description.trim() !== item.description.trim()) return true;
    return !sameAmount(item.amount, this.amount(line.amount) as Money);
  }

  #corrected(line: Line): NonNullable<Corrections["lines"]>[number] {
    const amount = digits(this.amount(line.amount) as Money);
    return { description: line.description.trim(), amount, ...(line.categoryId && { categoryId: line.categoryId }) };
  }
}
