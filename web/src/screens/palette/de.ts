import type en from "./en";

const de: typeof en = {
  title: "Gehe zu",
  hint: "Seite, Aktion, Konto, Kategorie, Empfänger …",
  searchFor: (text) => `Buchungen nach „${text}“ durchsuchen`,
  groups: {
    actions: "Aktion",
    views: "Ansicht",
    screens: "Seite",
    wallets: "Konto",
    categories: "Kategorie",
    payees: "Empfänger",
    search: "Suche",
  },
  actions: [
    ["/receipt", "Beleg lesen"],
    ["/imports", "Datei importieren"],
    ["/export", "Exportieren"],
    ["/transactions?type=transfer", "Umbuchungen"],
  ],
  screens: [
    ["/settings/security", "Sicherheit"],
    ["/settings/data", "Daten"],
    ["/tokens", "Zugriffstoken"],
    ["/webhooks", "Webhooks"],
  ],
};

export default de;
