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
  account: "Das ganze Benutzerkonto",
  accountText: "Ein Archiv mit allem, was Coffer über dich speichert: deine Bücher mit Anhängen und Belegen, Budgets, Benachrichtigungen, Webhooks, dein Profil und die Aktivität deines Benutzerkontos. Passwörter und Schlüssel sind nicht darin.",
  accountProblems: {
    RATE_LIMITED: "Ein anderer Export von dir läuft noch. Bitte warte, bis er fertig ist.",
    EMAIL_NOT_VERIFIED: "Bestätige zuerst deine E-Mail. Das Profil in den Einstellungen sendet den Link.",
    REAUTHENTICATION_REQUIRED: "Dafür musst du dich in den letzten 10 Minuten angemeldet haben. Bitte melde dich noch einmal an.",
  },
  archive: "Archiv herunterladen",
  leave: "Konto löschen",
  leaveText: "Löscht alles, was Coffer über dich speichert. Lade vorher das Archiv herunter, wenn du deine Daten behalten möchtest.",
  leaveFacts: [
    "Alle Konten, Buchungen, Belege, Anhänge, Budgets und Einstellungen werden gelöscht.",
    "Budgets, die du teilst, enden für ihre Mitglieder. Du verlässt die Budgets anderer.",
    "Alle Geräte werden sofort abgemeldet. Bis die Löschung beginnt, kannst du dich anmelden und das Konto behalten; der nächste Bildschirm nennt die Zeit.",
    "Danach kann es niemand wiederherstellen.",
  ],
  leaveConfirm: "Deine E-Mail, zur Bestätigung",
  leavePassword: "Das Passwort ist falsch.",
};

export default de;
