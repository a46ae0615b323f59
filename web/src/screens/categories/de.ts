import type en from "./en";

const de: typeof en = {
  title: "Kategorien",
  empty: "Noch keine Kategorien",
  emptyText: "Kategorien gruppieren Buchungen, zum Beispiel Lebensmittel und Miete.",
};

export default de;
