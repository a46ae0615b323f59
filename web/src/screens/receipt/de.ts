import type en from "./en";

const de: typeof en = {
  title: "Beleg",
  empty: "Kein Beleg gewählt",
  emptyText: "Die Buchung von Hand eingeben oder den Beleg über die API hochladen.",
  byHand: "Von Hand eingeben",
};

export default de;
