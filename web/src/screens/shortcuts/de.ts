import type en from "./en";

const de: typeof en = {
  hint: "Tastenkürzel wirken, solange kein Feld den Fokus hat. „?“ zeigt diese Liste überall.",
  add: "Neue Buchung",
  search: "Suchen",
  palette: "Zu einer Seite, einem Konto, einer Kategorie oder Ansicht",
  home: "Zur Übersicht",
  transactions: "Zu den Buchungen",
  budgets: "Zu den Budgets",
  rows: "Nächste und vorige Zeile",
  edit: "Zeile bearbeiten",
  select: "Zeile auswählen",
  help: "Diese Liste",
};

export default de;
