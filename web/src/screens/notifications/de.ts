import type en from "./en";

const de: typeof en = {
  title: "Mitteilungen",
  empty: "Nichts Neues",
  emptyText: "Hinweise zu Budgets und Einladungen erscheinen hier.",
};

export default de;
