import { plural } from "../../i18n/i18n.svelte";
import type en from "./en";

const de: typeof en = {
  title: "Konten",
  empty: "Noch keine Konten",
  emptyText:
    "Ein Konto kann auch eine Karte oder Bargeld sein. Jede Buchung gehört zu einem Konto.",
  create: "Neues Konto",
  edit: "Konto bearbeiten",
  total: "Summe aller Konten",
  archived: (n) => plural(n, { one: "# archiviertes Konto", other: "# archivierte Konten" }),
  allArchived: "Alle Konten sind archiviert",
  allArchivedText: "Stelle unten eines wieder her oder lege ein neues an.",
  more: (n) => plural(n, { one: "# weitere Währung", other: "# weitere Währungen" }),
  actions: (name) => `Aktionen für ${name}`,
  archive: "Archivieren",
  restore: "Wiederherstellen",
  wasArchived: (name) => `„${name}“ ist archiviert`,
  wasRestored: (name) => `„${name}“ ist wieder in der Liste`,
  wasDeleted: (name) => `„${name}“ ist gelöscht`,

  reorder: "Reihenfolge ändern",
  done: "Fertig",
  move: (name) => `${name} verschieben`,
  moveHint: "Ziehe ein Konto, oder wähle seinen Griff und drücke die Pfeiltasten.",
  movedTo: (name, place, of) => `${name}, Platz ${place} von ${of}`,

  nameHint: "Girokonto",
  kind: "Art",
  kinds: {
    cash: "Bargeld", checking: "Girokonto", savings: "Erspartes", card: "Karte", loan: "Kredit",
    investment: "Geldanlage", asset: "Sachwert", other: "Sonstiges",
  },
  opening: "Anfangsbestand",
  openingHint:
    "Der Stand vor den Buchungen dieses Tages. Er darf negativ sein. Frühere Kontostände enthalten ihn nicht.",
  openingAlways: "Ohne einen Tag zählt der Anfangsbestand für alle Tage.",
  openingDate: "Anfangstag",
  balances: "Kontostände",
  createButton: "Konto anlegen",
  limit: "Du hast 500 Konten, das ist die Grenze. Lösche eines, das keine Buchungen hat.",
  unsupported: "Coffer kennt diese Währung nicht.",

  deleteTitle: (name) => `„${name}“ löschen?`,
  usedTitle: (name) => `„${name}“ lässt sich nicht löschen`,
  used: "Es hat Buchungen, und diese verlören ihr Konto. Archiviere es stattdessen: Listen und Formulare zeigen es nicht mehr, seine Buchungen bleiben.",
  usedArchived:
    "Es hat Buchungen, und diese verlören ihr Konto. Es ist schon archiviert: Listen und Formulare zeigen es nicht.",
  usedOnlyEmpty:
    "Zum Löschen müssen seine Buchungen zuerst gelöscht oder auf ein anderes Konto verschoben werden.",
  worth: "Vermögen",
  reconcile: "Abgleichen",
  showTransactions: "Buchungen zeigen",
  quoted: (name) => `„${name}“`,
  budgets: (names, n) =>
    n === 1
      ? `Das Budget ${names} zählt nur dieses Konto. Es bleibt, aber ohne Fortschritt.`
      : `Die Budgets ${names} zählen nur dieses Konto. Sie bleiben, aber ohne Fortschritt.`,
};

export default de;
