import type en from "./en";

const de: typeof en = { title: "Mehr", signOut: "Abmelden" };

export default de;
