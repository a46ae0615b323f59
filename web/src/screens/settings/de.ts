import type en from "./en";

const de: typeof en = {
  title: "Einstellungen",
  language: "Sprache",
  appearance: "Erscheinungsbild",
  system: "System",
  light: "Hell",
  dark: "Dunkel",
  signOut: "Abmelden",
};

export default de;
