import { plural } from "../../i18n/i18n.svelte";
import type en from "./en";

const de: typeof en = {
  title: "Übersicht",
  greeting: { morning: "Guten Morgen", afternoon: "Guten Tag", evening: "Guten Abend" },
  hello: (greeting, name) => (name ? `${greeting}, ${name}` : greeting),
  netOf: (month) => `Saldo im ${month}`,
  spending: "Ausgaben",
  less: (amount, month) => `${amount} weniger ausgegeben als im ${month} bis zu diesem Tag`,
  more: (amount, month) => `${amount} mehr ausgegeben als im ${month} bis zu diesem Tag`,
  lessMonth: (amount, month) => `${amount} weniger ausgegeben als im ${month}`,
  moreMonth: (amount, month) => `${amount} mehr ausgegeben als im ${month}`,
  same: (month) => `So viel ausgegeben wie im ${month}`,
  income: "Einnahmen",
  spendingChart: "Ausgaben nach Tagen, aufsummiert",
  whereItWent: "Wofür",
  nothingSpent: "Keine Ausgaben in diesem Monat",
  rest: (n) => plural(n, { one: "# weitere", other: "# weitere" }),
  share: "Anteil",
  allBudgets: "Alle Budgets",
  leftOf: (left, limit) => `${left} übrig von ${limit}`,
  overBy: (over, limit) => `${over} über ${limit}`,
  noBudgets: "Ein Budget zeigt, wie viel noch übrig ist.",
  newBudget: "Budget anlegen",
  latest: "Neueste",
  allTransactions: "Alle Buchungen",
  noneInMonth: "Noch keine Buchungen",
  invitations: (n) => plural(n, { one: "# Einladung zu einem Budget", other: "# Einladungen zu Budgets" }),
  look: "Öffnen",
  emptyTitle: "Dein Geld auf einen Blick",
  emptyWallet: "Beginne mit einem Konto: auch eine Karte oder Bargeld.",
  emptyTransaction: "Erfasse die erste Buchung oder fotografiere einen Beleg.",
  setUp: "Coffer einrichten",
  addFirst: "Buchung erfassen",
  readReceipt: "Beleg lesen",
};

export default de;
