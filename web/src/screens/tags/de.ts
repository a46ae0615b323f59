import { plural } from "../../i18n/i18n.svelte";
import type en from "./en";

const de: typeof en = {
  tagUse: (n) => plural(n, { one: "# Buchung", other: "# Buchungen" }),
  tagActions: (tag) => `Aktionen für ${tag}`,
  tagDeleted: (tag) => `Tag ${tag} gelöscht`,
  noTags: "Noch keine Tags",
  noTagsText: "Ein Tag an einer Buchung, etwa „Urlaub“, dient später als Filter.",
  editTag: "Tag bearbeiten",
  mergeHint: "Mit dem Namen eines anderen Tags werden beide zu einem.",
  mergeTag: "Tags zusammenführen",
  mergeTagText: (tag, other) => `Es gibt schon das Tag ${other}. Dessen Buchungen und die von ${tag} haben dann das Tag ${other}. Das lässt sich nicht rückgängig machen.`,
};

export default de;
