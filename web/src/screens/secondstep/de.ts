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
    INVALID_OIDC_CODE: "Die Anmeldung beim Anbieter ist fehlgeschlagen, wurde abgebrochen oder hat zu lange gedauert. Beginne noch einmal.",
    OIDC_ACCOUNT_EXISTS: "Dieses Konto des Anbieters ist nicht mit deinem verknüpft. Melde dich anders an und verknüpfe es in den Einstellungen unter Sicherheit. Hast du hier noch kein Konto, lege zuerst eines an.",
    OIDC_ALREADY_LINKED: "Dieses Konto des Anbieters ist schon verknüpft, mit dir oder mit jemand anderem.",
    OIDC_UNAVAILABLE: "Der Anbieter ist nicht erreichbar. Melde dich anders an oder versuche es später wieder.",
    LAST_FACTOR: "Du könntest dich nicht mehr anmelden. Lege zuerst ein Passwort fest oder verknüpfe ein anderes Konto.",
    LIMIT_REACHED: "Mehr sind nicht möglich. Entferne zuerst etwas.",
  },
};

export default de;
