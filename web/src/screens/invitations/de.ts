import type en from "./en";

const de: typeof en = {
  title: "Einladungen",
  empty: "Keine Einladungen",
  emptyText: "Wenn jemand ein Budget mit dir teilt, erscheint es hier.",
};

export default de;
