import type en from "./en";

const de: typeof en = {
  title: "Noch ein Schritt",
  code: "Code deiner Authentifizierungs-App",
  codeHint: "6 Ziffern, die sich alle 30 Sekunden ändern",
  wrongCode: "Dieser Code ist falsch oder schon benutzt. Warte auf den nächsten.",
  useRecovery: "Kein Zugriff auf die App? Wiederherstellungscode benutzen",
  recoveryCode: "Wiederherstellungscode",
  recoveryHint: "10 Buchstaben und Ziffern, aus der Liste, die du beim Einrichten der App gespeichert hast",
  wrongRecovery: "Dieser Code ist falsch oder schon benutzt.",
  useCode: "Code der App benutzen",
  lostBoth: "Kein Wiederherstellungscode mehr? Wer dieses Coffer betreibt, kann den zweiten Schritt für dich abschalten.",
  submit: "Anmelden",
};

export default de;
