import { plural } from "../../i18n/i18n.svelte";
import type en from "./en";

const de: typeof en = {
  missing: "Dieses Konto gibt es nicht",
  adjust: "Saldo setzen",
  adjustText: "Coffer bucht eine Korrektur über die Differenz. Sie ändert nur den Saldo und ist weder Einnahme noch Ausgabe.",
  newBalance: "Saldo am Ende des Tages",
  unnecessary: "Das Konto hat diesen Saldo schon",
  adjustment: "Korrektur",
  split: "Mehrere Kategorien",
  uncleared: "Noch nicht gebucht",
  count: (n) => plural(n, { one: "# Buchung", other: "# Buchungen" }),
  overTime: "Verlauf des Saldos",
  period: "Zeitraum",
  spans: { months3: "3 Monate", months12: "12 Monate", years5: "5 Jahre" },
  register: (name) => `Buchungen von ${name} mit dem Saldo nach jeder`,
  onlyUncleared: "Nur nicht gebuchte",
  cleared: "Von der Bank gebucht",
  clear: (name) => `${name}: von der Bank gebucht`,
  reconciledMark: "Abgeglichen",
  allCleared: "Die Bank hat alles gebucht.",
  noTransactions: "Dieses Konto hat noch keine Buchungen.",

  reconcile: "Abgleichen",
  reconcileText: "Gib den letzten Tag und den Saldo deines Kontoauszugs ein. Hake dann ab, was der Auszug enthält, bis die Differenz null ist.",
  statementDay: "Letzter Tag des Auszugs",
  statementBalance: "Saldo des Auszugs",
  compare: "Vergleichen",
  difference: "Differenz",
  tickAll: "Alle abhaken",
  moreUncleared: (n) => `Das sind die neuesten ${n}. Hake sie ab und öffne dieses Fenster für die übrigen noch einmal.`,
  finish: "Abschließen",
  finishAdjusted: "Mit einer Korrektur abschließen",
  finished: (n) => plural(n, { one: "Abgeglichen: # Buchung ist gesperrt", other: "Abgeglichen: # Buchungen sind gesperrt" }),
  differsNow: "Inzwischen hat sich etwas geändert. Die neue Differenz steht oben.",

  history: "Abgleiche",
  locked: (n) => plural(n, { one: "# Buchung", other: "# Buchungen" }),
  differs: "Der Anfangssaldo oder eine abgeglichene Buchung wurde seitdem geändert",
  unlock: "Abgleich aufheben",
  unlocked: "Die Buchungen des Auszugs können wieder geändert werden",
  imports: "Importe dieses Kontos",
};

export default de;
