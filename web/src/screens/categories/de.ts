import { plural } from "../../i18n/i18n.svelte";
import type en from "./en";

const de: typeof en = {
  title: "Kategorien",
  empty: "Noch keine Kategorien",
  emptyText: "Kategorien gruppieren Buchungen, zum Beispiel Lebensmittel und Miete. Wähle einige für den Anfang:",
  addStarters: (n) => plural(n, { one: "# Kategorie anlegen", other: "# Kategorien anlegen" }),
  create: "Neue Kategorie",
  createButton: "Kategorie anlegen",
  edit: "Kategorie bearbeiten",
  merge: "Zusammenführen",
  actions: (name) => `Aktionen für ${name}`,
  search: "Kategorien suchen",
  nothing: (text) => `Keine Kategorie enthält „${text}“`,
  wasDeleted: (name) => `„${name}“ ist gelöscht`,
  wasMerged: (name, target) => `„${name}“ gehört jetzt zu „${target}“`,

  nameHint: "Lebensmittel",
  kind: "Für",
  kinds: { expense: "Ausgaben", income: "Einnahmen", both: "Beides" },
  groups: { expense: "Ausgaben", income: "Einnahmen", both: "Ausgaben und Einnahmen" },
  kindHint: "Formulare bieten die Kategorie für diese Buchungen an. Vorhandene ändern sich nicht.",
  exists: "Du hast schon eine Kategorie mit diesem Namen.",
  limit: "Du hast 1000 Kategorien, das ist die Grenze. Führe welche zusammen oder lösche eine.",

  mergeTitle: (name) => `„${name}“ zusammenführen`,
  deleteTitle: (name) => `„${name}“ löschen`,
  usedBy: (name, used, budgets, n) =>
    [used && `Buchungen verwenden „${name}“.`, n === 1 && `Das Budget ${budgets} verwendet sie.`, n > 1 && `Die Budgets ${budgets} verwenden sie.`].filter(Boolean).join(" "),
  needsTarget: "Wähle die Kategorie, die sie stattdessen bekommen.",
  mergeText: (name) => `Alle Buchungen und Budgets von „${name}“ wechseln in die gewählte Kategorie.`,
  target: "Neue Kategorie",
  choose: "Kategorie wählen",
  steps: (name, target) => `Alles aus „${name}“ gehört dann zu „${target}“. Danach wird „${name}“ gelöscht.`,
  forever: "Das lässt sich nicht rückgängig machen: Die Buchungen beider Kategorien sind danach nicht mehr zu unterscheiden.",
  noTarget: "Das ist deine einzige Kategorie. Lege zuerst eine andere an.",
  mergeButton: "Zusammenführen",
  quoted: (name) => `„${name}“`,
};

export default de;
