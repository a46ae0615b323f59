// The receipts that the user has added and not booked yet. They stay while the user visits other
// screens, and end with the session.
import { api, newKey } from "../../api/api";
import { directory } from "../../api/directory.svelte";
import { isProblem, Problem } from "../../api/problem";
import { session } from "../../api/session.svelte";
import { announce } from "../../api/topics";
import { stringifyJSON } from "../../money/json";
import { Review, type Read } from "./review.svelte";

/** maxFile is the largest file that the API accepts. */
export const maxFile = 10 * 1024 * 1024;
/** tooLarge is the code of a file that is not sent because of its size. */
export const tooLarge = "PAYLOAD_TOO_LARGE";

const parallel = 2;
const attempts = 8;
const pause = 2000;

export type Status = "waiting" | "reading" | "ready" | "failed" | "booking" | "booked";

/** Receipt is a receipt in a file with what was read from it. */
export class Receipt {
  /** key is the Idempotency-Key of the booking, so that a repeated press books once. */
  readonly key = newKey();
  readonly file: File;
  /** part is the number of the receipt in the file, from 1. */
  readonly part: number;
  /** image is the file itself if browsers can show it, otherwise the first page of the API. */
  image = $state("");
  status = $state<Status>("waiting");
  /** sent is the part of the file that was uploaded by the current request, from 0 to 1. */
  sent = $state(0);
  review = $state.raw<Review | undefined>();
  problem = $state.raw<Problem | undefined>();
  booked = $state(0);
  /** text is the content of a file without pages. */
  text = $state("");

  /** percent is the uploaded part of the file in whole percent. */
  readonly percent = $derived(Math.floor(this.sent * 100));

  constructor(file: File, part = 1) {
    this.file = file;
    this.part = part;
    if (/^image\/(jpeg|png|webp|gif|bmp)$/.test(file.type)) this.image = URL.createObjectURL(file);
  }

  get name(): string {
    return this.part === 1 ? this.file.name : `${this.file.name} (${this.part})`;
  }

  /** selection is the part of a request for this receipt. */
  get selection(): { part?: number } {
    return this.part === 1 ? {} : { part: this.part };
  }

  free(): void {
    if (this.image.startsWith("blob:")) URL.revokeObjectURL(this.image);
  }
}

let receipts = $state<Receipt[]>([]);
let selected = $state.raw<Receipt | undefined>();
let owner = "";

export const queue = {
  get receipts(): readonly Receipt[] {
    return receipts;
  },
  get selected(): Receipt | undefined {
    return selected;
  },
  /** booked is the number of transactions of all booked receipts. */
  get booked(): number {
    return receipts.reduce((all, receipt) => all + receipt.booked, 0);
  },
};

/** startReceipts empties the queue of another user. */
export function startReceipts(): void {
  const user = session.user?.id ?? "";
  if (user !== owner) clear();
  owner = user;
}

/** clear removes all receipts. */
export function clear(): void {
  receipts.forEach((receipt) => receipt.free());
  receipts = [];
  selected = undefined;
}

export function select(receipt: Receipt): void {
  selected = receipt;
}

/** addFiles appends files to the queue and reads them. */
export function addFiles(files: Iterable<File>): void {
  if (receipts.length && receipts.every(({ status }) => status === "booked")) clear();
  for (const file of files) {
    const receipt = new Receipt(file);
    if (file.size > maxFile) {
      receipt.status = "failed";
      receipt.problem = new Problem(tooLarge, "");
    }
    receipts.push(receipt);
    selected ??= receipts.at(-1);
  }
  next();
}

/** addParts queues the further receipts of a file that shows several, behind the first. */
function addParts(receipt: Receipt, count: number): void {
  const others = Array.from({ length: Math.max(0, count - 1) }, (_, i) => new Receipt(receipt.file, i + 2));
  receipts.splice(receipts.indexOf(receipt) + 1, 0, ...others);
}

/** remove takes a receipt out of the queue, and selects its neighbor. */
export function remove(receipt: Receipt): void {
  const at = receipts.indexOf(receipt);
  receipt.free();
  receipts = receipts.filter((other) => other !== receipt);
  if (selected === receipt) selected = receipts[at] ?? receipts.at(-1);
}

/** again reads a receipt that failed. */
export function again(receipt: Receipt): void {
  receipt.status = "waiting";
  receipt.problem = undefined;
  next();
}

/**
 * next starts to read the next receipts once there are a wallet and a category. Two at a time keep
 * a slow connection and the server busy.
 */
export function next(): void {
  const { openWallets, categories, settings } = directory;
  const wallet = openWallets.find(({ id }) => id === settings?.defaultWalletId) ?? openWallets[0];
  const category = directory.category(settings?.defaultCategoryId) ?? categories[0];
  if (!wallet || !category) return;
  const reading = receipts.filter(({ status }) => status === "reading").length;
  receipts
    .filter(({ status }) => status === "waiting")
    .slice(0, Math.max(0, parallel - reading))
    .forEach((receipt) => void read(receipt, wallet.id, category.id).finally(next));
}

function form(receipt: Receipt, walletId: string, categoryId: string): FormData {
  const body = new FormData();
  body.set("walletId", walletId);
  body.set("categoryId", categoryId);
  body.set("receipt", receipt.file, receipt.file.name);
  return body;
}

/** read recognizes a receipt without booking it. It tries again if the server is busy. */
async function read(receipt: Receipt, walletId: string, categoryId: string): Promise<void> {
  receipt.status = "reading";
  const progress = (sent: number) => (receipt.sent = sent);
  for (let attempt = 1; ; attempt++) {
    try {
      receipt.sent = 0;
      const answer = await api.post("/api/v1/transaction/receipt", {
        query: { dryRun: true, include: "image", ...receipt.selection },
        body: form(receipt, walletId, categoryId),
        progress,
      });
      const found = answer.receipt as Read;
      if (found.pages?.[0] && !receipt.image) receipt.image = found.pages[0].image;
      if (!found.pages) receipt.text = await receipt.file.text();
      receipt.review = new Review(found, walletId, categoryId);
      receipt.status = "ready";
      if (receipt.part === 1 && receipts.includes(receipt)) addParts(receipt, answer.receipts.length);
      return;
    } catch (error) {
      if (!isProblem(error)) throw error;
      const busy = error.code === "SERVICE_UNAVAILABLE" || error.code === "RATE_LIMITED";
      if (busy && attempt < attempts) {
        await new Promise((resolve) => setTimeout(resolve, pause));
        continue;
      }
      receipt.problem = error;
      receipt.status = "failed";
      return;
    }
  }
}

/** book creates the transactions of a receipt and selects the next. It throws its problem. */
export async function book(receipt: Receipt, review: Review): Promise<number> {
  const body = form(receipt, review.walletId, review.categoryId);
  body.set("mode", review.mode);
  body.set("corrections", stringifyJSON(review.corrections));
  receipt.status = "booking";
  receipt.sent = 0;
  const progress = (sent: number) => (receipt.sent = sent);
  try {
    const query = { ...receipt.selection, ...(review.keepImage && { keepImage: true }) };
    const answer = await api.post("/api/v1/transaction/receipt", { query, body, key: receipt.key, progress });
    receipt.booked = answer.transactions.length;
    receipt.status = "booked";
    receipt.problem = undefined;
    announce("transactions");
    selected = receipts.find(({ status }) => status !== "booked") ?? receipt;
    return receipt.booked;
  } catch (error) {
    receipt.status = "ready";
    if (isProblem(error)) receipt.problem = error;
    throw error;
  }
}
