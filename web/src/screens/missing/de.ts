import type en from "./en";

const de: typeof en = { title: "Seite nicht gefunden", text: "Unter dieser Adresse gibt es nichts.", home: "Zur Übersicht" };

export default de;
