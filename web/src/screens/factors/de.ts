import { plural } from "../../i18n/i18n.svelte";
import type en from "./en";

const de: typeof en = {
  title: "Anmeldung in zwei Schritten",
  off: "Nach deinem Passwort fragt Coffer nach einem Code einer App auf deinem Telefon. Wer dein Passwort erfährt, kann sich damit allein nicht anmelden.",
  on: (date) => `Die Anmeldung braucht dein Passwort und einen Code deiner Authentifizierungs-App, seit ${date}.`,
  left: (n) => plural(n, { one: "Du hast noch # Wiederherstellungscode.", other: "Du hast noch # Wiederherstellungscodes." }),
  few: "Erzeuge neue Wiederherstellungscodes, damit du dich ohne dein Telefon anmelden kannst.",
  enable: "Einrichten",
  replace: "App ersetzen",
  newCodes: "Neue Wiederherstellungscodes",
  newCodesText: "Du bekommst 10 neue Codes. Die bisherigen gelten nicht mehr.",
  newCodesButton: "Codes erzeugen",
  disable: "Abschalten",
  disableText: "Die Anmeldung braucht dann nur noch dein Passwort. Deine Wiederherstellungscodes gelten nicht mehr.",
  disableButton: "Abschalten",
  disabled: "Die Anmeldung in zwei Schritten ist abgeschaltet",

  setup: "Authentifizierungs-App einrichten",
  scan: "Scanne diesen Code mit einer Authentifizierungs-App, zum Beispiel Aegis, 2FAS oder dem Passwort-Manager deines Telefons.",
  qr: "QR-Code mit dem Geheimnis der App",
  cannotScan: "Keine Kamera? Gib das Geheimnis ein",
  type: "Wähle einen zeitbasierten Code mit 6 Ziffern.",
  openApp: "In einer App auf diesem Gerät öffnen",
  code: "Code, den die App zeigt",
  codeHint: "6 Ziffern, die sich alle 30 Sekunden ändern",
  wrong: "Dieser Code ist falsch. Prüfe, ob die Uhr deines Telefons stimmt.",
  othersEnd: "Alle anderen Geräte werden abgemeldet.",
  enableButton: "Einschalten",

  codesTitle: "Deine Wiederherstellungscodes",
  codesText: "Verlierst du dein Telefon, ersetzt einer dieser Codes die App, einmal. Sie werden nicht noch einmal angezeigt: Bewahre sie dort auf, wo du sie ohne dein Telefon findest.",
  save: "Als Datei speichern",
  stored: "Ich habe sie gespeichert",
  fileName: "coffer-wiederherstellungscodes.txt",
  fileTitle: (host) => `Wiederherstellungscodes von Coffer (${host}). Jeder gilt einmal.`,
};

export default de;
