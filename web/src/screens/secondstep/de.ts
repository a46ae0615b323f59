import type en from "./en";

const de: typeof en = {
  title: "Noch ein Schritt",
  code: "Code deiner Authentifizierungs-App",
  codeHint: "6 Ziffern, die sich alle 30 Sekunden ändern",
  wrongCode: "Dieser Code ist falsch oder schon benutzt. Warte auf den nächsten.",
  useRecovery: "Kein Zugriff auf die App? Wiederherstellungscode benutzen",
  recoveryCode: "Wiederherstellungscode",
  recoveryHint: "10 Buchstaben und Ziffern, aus der Liste, die du mit der App oder dem Passkey gespeichert hast",
  wrongRecovery: "Dieser Code ist falsch oder schon benutzt.",
  useOther: "Anderen Weg benutzen",
  passkey: "Mit Passkey anmelden",
  losePasskey: "Kein Zugriff auf den Passkey? Wiederherstellungscode benutzen",
  lostBoth: "Kein Wiederherstellungscode mehr? Wer dieses Coffer betreibt, kann den zweiten Schritt für dich abschalten.",
  submit: "Anmelden",
  problems: {
    INVALID_PASSKEY_RESPONSE: "Dieser Passkey wurde nicht angenommen. Vielleicht wurde er in Coffer gelöscht.",
    PASSKEY_CLONED: "Von diesem Passkey kann es eine Kopie geben, darum hat Coffer ihn gesperrt. Nimm einen anderen Weg, lösche den Passkey in den Einstellungen und füge einen neuen hinzu.",
    PASSKEY_EXISTS: "Dieses Gerät hat schon einen Passkey deines Kontos.",
    PASSKEYS_UNAVAILABLE: "Passkeys funktionieren unter dieser Adresse nicht. Wer dieses Coffer betreibt, kann das ändern.",
  },
};

export default de;
