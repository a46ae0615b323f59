import { plural } from "../../i18n/i18n.svelte";
import type en from "./en";

const count = (n: number) => plural(n, { one: "# Buchung", other: "# Buchungen" });

const de: typeof en = {
  columns: {
    date: "Datum",
    payee: "Empfänger",
    description: "Beschreibung",
    category: "Kategorie",
    tags: "Tags",
    wallet: "Konto",
    amount: "Betrag",
    balance: "Saldo",
  },
  open: (name) => `${name} öffnen`,
  sheet: "Formular",
  selectLoaded: "Alle geladenen Zeilen auswählen",
  selectAll: (n) => (n === undefined ? "Alle, die passen" : `Alle ${count(n)}, die passen`),
  loaded: (n) => plural(n, { one: "# geladen", other: "# geladen" }),
  progress: (done, total) => plural(done, { one: `# von ${count(total)} geändert`, other: `# von ${count(total)} geändert` }),
  title: (what, n) => `${what}: ${count(n)}`,
  addTags: "Tags hinzufügen",
  removeTags: "Tags entfernen",
  tagsHint: "Namen, durch Kommas getrennt",
  noChoice: "Nichts gefunden",
  changed: (n) => `${count(n)} geändert`,
  undone: (n) => `${count(n)} zurück geändert`,
  left: (n) => plural(n, { one: "# Umbuchung oder geteilte Buchung bleibt, wie sie ist", other: "# Umbuchungen oder geteilte Buchungen bleiben, wie sie sind" }),
  transferWith: (wallet) => `Umbuchung: ${wallet}`,
  yours: (value) => `deine: ${value || "leer"}`,
  compare: "Anderswo geändert: vergleichen",
  keyMove: "In der Tabelle bewegen",
  keyEdit: "Zelle ändern, dann speichern und nach unten",
  keyNext: "Speichern und nächste Zelle ändern",
  keyLeave: "Zelle lassen, wie sie war, Auswahl beenden",
  keySelect: "Zeile auswählen",
  keyExtend: "Auch die nächste Zeile auswählen",
  keyAll: "Alle geladenen Zeilen auswählen",
  keyCategory: "Kategorie der ausgewählten Zeilen",
  keyWallet: "Konto der ausgewählten Zeilen",
  keyPayee: "Empfänger der ausgewählten Zeilen",
  keyAddTags: "Tags zu den ausgewählten Zeilen hinzufügen",
  keyRemoveTags: "Tags von den ausgewählten Zeilen entfernen",
  keyDelete: "Ausgewählte Zeilen löschen",
  keyUndo: "Letzte Änderung zurücknehmen",
};

export default de;
