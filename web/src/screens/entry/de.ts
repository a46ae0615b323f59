import type en from "./en";

const de: typeof en = {
  new: "Neue Buchung",
  edit: "Buchung bearbeiten",
  kind: "Art",
  description: "Wofür?",
  descriptionHint: "Bäcker, Miete, Gehalt …",
  today: "Heute",
  yesterday: "Gestern",
  otherDay: "Anderer Tag",
  newCategory: "Neue Kategorie",
  categoryName: "Name der Kategorie",
  addCategory: "Anlegen",
  moreCategories: (n) => `${n} weitere`,
  chooseCategory: "Eine Kategorie wählen",
  chooseWallet: "Ein Konto wählen",
  noWallet: "Zuerst braucht es ein Konto: auch eine Karte oder Bargeld.",
  createWallet: "Konto anlegen",
  saveAndNext: "Speichern, nächste",
  saved: "Gespeichert",
  savedAmount: (amount, description) => (description ? `${amount} · ${description}` : amount),
  queued: "Auf diesem Gerät gespeichert. Gesendet wird, sobald die Verbindung zurück ist.",
  deleted: "Buchung gelöscht",
  positive: "Einen Betrag über 0 eingeben",
  receipt: "Von einem Beleg",
  gone: "Diese Buchung gibt es nicht mehr.",
  kept: "Die andere Fassung bleibt",
};

export default de;
