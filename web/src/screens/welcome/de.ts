import type en from "./en";

const de: typeof en = {
  hello: (name) => `Willkommen, ${name}`,
  intro: "Drei kurze Schritte bis zur ersten Buchung.",
  walletStep: "Das erste Konto",
  walletText: "Auch eine Karte oder Bargeld. Weitere kommen später dazu.",
  walletDefault: "Girokonto",
  balance: "Kontostand heute",
  balanceHint: "Darf 0 oder negativ sein. Jede Buchung kommt dazu.",
  categoryStep: "Deine Kategorien",
  categoryText: "Wähle, was passt. Namen lassen sich jederzeit ändern.",
  importStep: "Bring deine Daten mit",
  importText: "Coffer liest die Dateien deiner Bank, von YNAB und von Firefly III, und legt die Konten und Kategorien darin an.",
  importFile: "Datei importieren",
  start: "Loslegen",
  skip: "Später",
  starters: {
    groceries: "Lebensmittel", eating: "Essen gehen", home: "Wohnen", transport: "Mobilität", health: "Gesundheit", leisure: "Freizeit",
    clothes: "Kleidung", subscriptions: "Abos", travel: "Reisen", gifts: "Geschenke", salary: "Gehalt", otherIncome: "Weitere Einnahmen",
  },
};

export default de;
