import type en from "./en";

const de: typeof en = {
  title: "Budgets",
  empty: "Noch keine Budgets",
  emptyText: "Ein Budget begrenzt die Ausgaben einiger Kategorien in einem Zeitraum.",
};

export default de;
