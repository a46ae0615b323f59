import { readdirSync } from "node:fs";
import { relative } from "node:path";

/**
 * shortNames returns the option cssHash of Svelte. The class of a component is its number among the
 * files of a folder, so that it is the same in each build. It is shorter than the hash of its path,
 * which no compression shortens.
 */
export function shortNames(folder) {
  const components = readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith(".svelte"))
    .sort();
  const numbers = new Map(components.map((file, i) => [file, i]));
  return ({ hash, filename }) => {
    const number = numbers.get(relative(folder, filename));
    return number === undefined ? `svelte-${hash(filename)}` : `s${number.toString(36)}`;
  };
}
