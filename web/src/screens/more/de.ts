import type en from "./en";

const de: typeof en = { title: "Mehr" };

export default de;
