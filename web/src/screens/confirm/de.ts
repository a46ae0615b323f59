import type en from "./en";

const de: typeof en = {
  title: "Bestätige, dass du es bist",
  text: "Du hast dich vor einer Weile angemeldet. Diese Änderung braucht eine neue Bestätigung.",
  confirm: "Weiter",
  again: "Melde dich noch einmal an und wiederhole dann die Änderung.",
  provider: (label) => `Mit ${label} anmelden`,
  passkey: "Passkey benutzen",
  ways: { password: "Passwort benutzen", code: "Code der App benutzen", recoveryCode: "Wiederherstellungscode benutzen" },
  wrong: "Das ist nicht dein Passwort.",
};

export default de;
