import type en from "./en";

const de: typeof en = {
  text: "Diese Einstellungen gelten auf allen Geräten.",
  fields: { timeZone: "Zeitzone", weekStart: "Erster Tag der Woche", locale: "Regionales Format", baseCurrency: "Hauptwährung", defaultWalletId: "Übliches Konto", defaultCategoryId: "Übliche Kategorie" },
  weekStarts: { monday: "Montag", sunday: "Sonntag", saturday: "Samstag" },
};

export default de;
