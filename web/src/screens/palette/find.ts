// Entries by a typed text. All functions are pure.

/** Entry is something that the palette opens. */
export interface Entry {
  /** id is unique in the group. */
  readonly id: string;
  readonly group: Group;
  readonly text: string;
  readonly run: () => void;
  /** color is that of a wallet or category, as a CSS value. */
  readonly color?: string;
}

export type Group = "actions" | "views" | "screens" | "wallets" | "categories" | "payees" | "search";

const groups: readonly Group[] = ["views", "actions", "screens", "wallets", "categories", "payees", "search"];

/** most is the number of entries of a group that are shown for a text. */
const most = 6;
/** initial are the groups that are shown without a text. */
const initial: readonly Group[] = ["views", "actions", "screens"];

const folded = (text: string) => text.toLocaleLowerCase().normalize("NFD").replace(/\p{Diacritic}/gu, "");

/** rank returns how well a text fits to the words: the lower, the better; undefined if a word is missing. */
function rank(text: string, words: readonly string[]): number | undefined {
  const name = folded(text);
  if (!words.every((word) => name.includes(word))) return undefined;
  const [first = ""] = words;
  return name.startsWith(first) ? 0 : name.includes(` ${first}`) ? 1 : 2;
}

/** find returns the entries whose texts contain all words of a text, those that begin with it first, by group. Accents and case do not matter. */
export function find(entries: readonly Entry[], text: string): Entry[] {
  const words = folded(text).split(/\s+/).filter(Boolean);
  if (!words.length) return groups.filter((group) => initial.includes(group)).flatMap((group) => entries.filter((entry) => entry.group === group));
  const ranked = entries.flatMap((entry) => {
    const found = entry.group === "search" ? 0 : rank(entry.text, words);
    return found === undefined ? [] : { entry, found };
  });
  return groups.flatMap((group) =>
    ranked
      .filter(({ entry }) => entry.group === group)
      .sort((a, b) => a.found - b.found)
      .slice(0, most)
      .map(({ entry }) => entry),
  );
}
