import { plural } from "../../i18n/i18n.svelte";

export default {
  tagUse: (n: number) => plural(n, { one: "# transaction", other: "# transactions" }),
  tagActions: (tag: string) => `Actions for ${tag}`,
  tagDeleted: (tag: string) => `Tag ${tag} deleted`,
  noTags: "No tags yet",
  noTagsText: "Add a tag to a transaction, such as “holiday”. You can filter by it later.",
  editTag: "Edit tag",
  mergeHint: "With the name of another tag, both become one.",
  mergeTag: "Merge the tags",
  mergeTagText: (tag: string, other: string) => `There is already a tag ${other}. Its transactions and those of ${tag} then have the tag ${other}. This cannot be undone.`,
};
