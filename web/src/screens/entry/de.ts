import type en from "./en";

const de: typeof en = { title: "Willkommen" };

export default de;
