import type en from "./en";

const de: typeof en = {
  title: "Anmelden",
  register: "Konto anlegen",
  welcomeBack: "Willkommen zurück",
  start: "Ein ruhiger Ort für dein Geld",
  toRegister: "Neu hier?",
  toSignin: "Schon ein Konto?",
  lengthHint: "Mindestens 8 Zeichen. Ein paar zufällige Wörter sind leicht zu merken.",
  invalid: "E-Mail oder Passwort ist falsch.",
  taken: "Zu dieser E-Mail gibt es schon ein Konto.",
  tagline: "Jeder Beleg gelesen, jedes Budget geteilt, jede Zahl genau.",
};

export default de;
