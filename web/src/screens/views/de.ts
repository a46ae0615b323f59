import type en from "./en";

const de: typeof en = {
  title: "Ansichten",
  name: "Diese Filter speichern als",
  hint: "Filtere zuerst die Buchungen. Dann kannst du die Filter hier unter einem Namen speichern.",
  hintReport: "Wähle zuerst Filter des Berichts. Dann kannst du sie hier unter einem Namen speichern.",
  saved: (name) => `Gespeichert: ${name}`,
  rename: (name) => `${name} umbenennen`,
  remove: (name) => `${name} löschen`,
  deleted: (name) => `${name} gelöscht`,
  empty: "Noch keine Ansichten",
  unknown: "Sie hat Filter, die es hier nicht gibt",
};

export default de;
