import { plural, i18n } from "../../i18n/i18n.svelte";
import type en from "./en";

const de: typeof en = {
  title: "Anmelden",
  register: "Konto anlegen",
  welcomeBack: "Willkommen zurück",
  start: "Ein ruhiger Ort für dein Geld",
  toRegister: "Neu hier?",
  toSignin: "Schon ein Konto?",
  lengthHint: "Mindestens 8 Zeichen. Ein paar zufällige Wörter sind leicht zu merken.",
  unverified: "Bestätige zuerst deine E-Mail: Eine Mail mit dem Link ist unterwegs.",
  forgot: "Passwort vergessen?",
  invalid: "E-Mail oder Passwort ist falsch.",
  taken: "Zu dieser E-Mail gibt es schon ein Konto.",
  ended: "Deine Sitzung ist beendet. Bitte neu anmelden.",
  kept: (n) => plural(n, { one: "# Buchung auf diesem Gerät ist noch nicht gesendet. Sie ist verschlüsselt und erscheint, sobald sich ihr Nutzer anmeldet.", other: "# Buchungen auf diesem Gerät sind noch nicht gesendet. Sie sind verschlüsselt und erscheinen, sobald sich ihr Nutzer anmeldet." }),
  passkey: "Mit Passkey anmelden",
  provider: (label) => `Mit ${label} anmelden`,
  tooLate: "Das hat zu lange gedauert. Melde dich noch einmal an.",
  pending: (at) => `Dieses Konto wird am ${new Date(at).toLocaleString(i18n.locale, { dateStyle: "long", timeStyle: "short" })} gelöscht. Bis dahin kannst du dich anmelden und es behalten.`,
  erasing: "Dieses Konto wird gerade gelöscht. Es lässt sich nicht mehr wiederherstellen.",
  keep: "Konto behalten",
  late: "Diese Anmeldung ist zu lange her, oder die Löschung hat begonnen. Melde dich noch einmal an.",
  certificate: "Bescheinigung der Löschung",
  tagline: "Jeder Beleg gelesen, jedes Budget geteilt, jede Zahl genau.",
};

export default de;
