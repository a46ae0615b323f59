import type en from "./en";

const de: typeof en = {
  title: "Zugriffstoken",
  text: "Mit einem Token nutzt ein Skript oder ein anderes Programm dein Konto ohne dein Passwort. Es darf nur, was du auswählst, und du kannst es jederzeit löschen.",
  empty: "Noch keine Token",
  create: "Neues Token",
  createButton: "Token anlegen",
  limit: "Du hast 20 Token, mehr sind nicht möglich. Lösche zuerst eines.",
  name: "Name",
  nameHint: "Wofür das Token ist",
  may: "Das Token darf",
  choose: "Wähle mindestens eine Berechtigung.",
  never: "Kein Token kann dein Passwort ändern, deine Budgets teilen oder andere Token anlegen.",
  scopes: {
    read: "Alles lesen: Buchungen, Konten, Budgets, Belege und Einstellungen",
    "transactions:write": "Buchungen, Umbuchungen und Anhänge anlegen, ändern und löschen, und Regeln anwenden",
    "wallets:write": "Konten, Kategorien, Tags und Regeln ändern",
    "budgets:write": "Budgets anlegen, ändern und löschen",
    "receipts:write": "Belege hochladen, was ihre Buchungen anlegt, und Belege löschen",
    "imports:write": "Dateien importieren und Importe rückgängig machen",
    "webhooks:write": "Webhooks ändern, die deine Daten an andere Server senden",
  },
  expires: "Gültig für",
  days: { 7: "7 Tage", 30: "30 Tage", 90: "90 Tage", 365: "1 Jahr" },
  until: (date) => `gültig bis ${date}`,
  expired: (date) => `abgelaufen ${date}`,
  unused: "noch nicht benutzt",
  used: (ago, address) => `zuletzt benutzt ${ago}${address ? ` von ${address}` : ""}`,
  remove: "Löschen",
  removeOf: (name) => `${name} löschen`,
  removeText: (name) => `Programme, die „${name}“ benutzen, funktionieren innerhalb einer Minute nicht mehr.`,
  removed: (name) => `${name} ist gelöscht`,
  secretTitle: "Dein neues Token",
  secretText: "Kopiere es jetzt: Es wird nicht noch einmal angezeigt. Behandle es wie ein Passwort.",
  done: "Ich habe es gespeichert",
};

export default de;
