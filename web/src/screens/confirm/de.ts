import type en from "./en";

const de: typeof en = {
  title: "Bestätige, dass du es bist",
  text: "Du hast dich vor einer Weile angemeldet. Dein Passwort schützt diese Änderung.",
  confirm: "Weiter",
  wrong: "Das ist nicht dein Passwort.",
};

export default de;
