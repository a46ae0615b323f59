import type en from "./en";

const de: typeof en = {
  title: "Konten",
  empty: "Noch keine Konten",
  emptyText: "Ein Konto kann auch eine Karte oder Bargeld sein.",
};

export default de;
