// Colors and signs of wallets and categories. Those without a color get one of eight hues that
// follows from the name.

/** hue returns one of the hues of tokens.css for a text, always the same one. */
export function hue(text: string): string {
  let hash = 7;
  for (const character of text) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  return `var(--hue-${(hash % 8) + 1})`;
}

/** palette are the colors to choose from. common().colors has their names in the same order. */
export const palette: readonly string[] = [
  "#2f8f63", "#7d8a3a", "#b9772e", "#c2603f", "#c05a52", "#b25487",
  "#8a63ad", "#4a76b5", "#3f87b8", "#2c93a0", "#8a6f57", "#5f6f7a",
];

interface Colored {
  name: string;
  color?: string;
}

/** colorOf returns the color of a wallet or category as a CSS value. */
export function colorOf(item: Colored | undefined): string {
  return item ? item.color || hue(item.name) : "var(--hue-rest)";
}

/** signOf returns the emoji of a category or wallet, or its first letter. */
export function signOf(item: { name: string; icon?: string } | undefined): string {
  return item?.icon || [...(item?.name.trim() ?? "?")][0]?.toLocaleUpperCase() || "?";
}
