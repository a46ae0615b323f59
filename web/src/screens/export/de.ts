import type en from "./en";

const de: typeof en = {
  title: "Export",
  text: "Lade deine Buchungen als Datei herunter. Die Datei entsteht auf diesem Server und enthält einen einheitlichen Stand.",
  format: "Format",
  formats: {
    csv: ["CSV", "Eine Tabelle für Tabellenprogramme. Eine aufgeteilte Buchung steht mit ihren Teilen darin."],
    json: ["Coffer", "Alles als JSON-Zeilen, mit Konten und Kategorien. Coffer kann die Datei wieder importieren."],
    hledger: ["hledger", "Ein Journal für hledger und ledger."],
    beancount: ["Beancount", "Ein Hauptbuch für Beancount und Fava."],
  },
  bom: "Für Excel",
  bomText: "Beginnt die Datei mit einer Kennung, damit Excel Umlaute richtig liest.",
  what: "Buchungen",
  from: "Von",
  to: "Bis",
  tag: "Tag",
  allWallets: "Alle Konten",
  allCategories: "Alle Kategorien",
  allTags: "Alle Tags",
  order: "Der erste Tag darf nicht nach dem letzten liegen.",
  download: "Herunterladen",
  preparing: "Die Datei wird erstellt",
  done: (name) => `${name} ist heruntergeladen`,
  busy: "Ein anderer Export von dir läuft noch. Bitte warte, bis er fertig ist.",
};

export default de;
