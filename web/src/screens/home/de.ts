import type en from "./en";

const de: typeof en = { title: "Übersicht", latest: "Neueste", empty: "Noch keine Buchungen" };

export default de;
