import type en from "./en";

const de: typeof en = { title: "Buchungen", empty: "Noch keine Buchungen" };

export default de;
