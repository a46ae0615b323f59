// The two versions of a transaction after a 412, as rows of Conflict.
import { directory } from "../../api/directory.svelte";
import { formatDay } from "../../dates/dates";
import { common, i18n, messages } from "../../i18n/i18n.svelte";
import type en from "./en";
import type { Fields } from "./form";

/** conflictRows returns the fields in which two versions differ, as texts. */
export function conflictRows(mine: Fields, theirs: Fields) {
  const t = messages<typeof en>("entry");
  const wallet = (id: string) => directory.wallet(id)?.name ?? "";
  const category = (id: string) => directory.category(id)?.name ?? "";
  const texts: readonly [label: string, text: (of: Fields) => string][] = [
    [common().amount, ({ amount, currency }) => `${amount} ${currency}`],
    [t.arrives, ({ toAmount, toCurrency, currency }) => (toCurrency && toCurrency !== currency ? `${toAmount} ${toCurrency}` : "")],
    [t.payee, ({ payee }) => payee],
    [common().description, ({ description }) => description],
    [common().date, ({ date }) => formatDay(date, i18n.locale)],
    [common().wallet, ({ walletId }) => wallet(walletId)],
    [t.to, ({ toWalletId }) => wallet(toWalletId)],
    [common().category, ({ categoryId, parts }) => parts.map((part) => `${category(part.categoryId)} ${part.refund ? "−" : ""}${part.amount}`).join(", ") || category(categoryId)],
    [common().tags, ({ tags }) => tags.join(", ")],
    [t.notes, ({ notes }) => notes],
    [t.cleared, ({ cleared }) => (cleared ? t.yes : "")],
  ];
  return texts
    .map(([label, text]) => ({ label, mine: text(mine), theirs: text(theirs) }))
    .filter((row) => row.mine !== row.theirs);
}
