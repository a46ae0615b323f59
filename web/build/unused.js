// Fails if nothing uses an exported name, a text, a class, or a variable of the styles. It searches
// for words, so a name that something else has too counts as used.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const web = join(import.meta.dirname, "..");
const found = new Set();

/** read returns the files of a folder with their contents and the words in them. */
function read(folder) {
  const names = readdirSync(join(web, folder), { recursive: true });
  return names.filter((name) => /(?<!\.d)\.(ts|js|svelte|css)$/.test(name)).map((name) => {
    const text = readFileSync(join(web, folder, name), "utf8");
    return { name: join(folder, name), text, words: new Set(text.match(/[\w$-]+/g)) };
  });
}

const source = read("src");
const tests = read("test");
const markup = source.filter(({ name }) => name.endsWith(".svelte"));
const styles = source.filter(({ name }) => name.endsWith(".css"));

/** check reports the words of a file that a pattern finds and that none of the users has. */
function check({ name, text }, pattern, users, message) {
  for (const [, word] of text.matchAll(pattern)) {
    if (!users.some((file) => file.name !== name && file.words.has(word)))
      found.add(`${name}: ${message} ${word}`);
  }
}

const exported = /^export (?:async )?(?:const|let|function|class|interface|type) (\w+)/gm;
for (const file of source) check(file, exported, [...source, ...tests], "no other file imports");
for (const file of source.filter(({ name }) => name.endsWith("/en.ts"))) {
  const folder = file.name.replace(/(i18n|screens)\/.*/, (path, kind) =>
    kind === "i18n" ? "" : path.slice(0, -5),
  );
  const readers = source.filter(
    ({ name }) => name.startsWith(folder) && !/\/(en|de)\.ts$/.test(name),
  );
  for (const [, key] of file.text.matchAll(/^ {2}(\w+):/gm)) {
    const shown = readers.some(({ text }) => text.includes(`.${key}`) || text.includes(`"${key}"`));
    if (!shown) found.add(`${file.name}: nothing shows ${key}`);
  }
}
for (const file of styles) {
  check(file, /\.([a-z][\w-]*)/g, markup, "no component has the class");
  check(file, /^ {2}(--(?!hue-)[\w-]+):/gm, [...markup, ...styles, ...source], "nothing reads");
}
const scoped = markup.map(({ text }) => text.slice(text.indexOf("<style>")));
const css = [...scoped, ...styles.map(({ text }) => text), ...tests.map(({ text }) => text)].join();
const selectors = new Set(css.match(/(?<=\.)[a-z][\w-]*/g));
for (const { name, text } of markup) {
  for (const [, classes] of text.matchAll(/ class="([^"]*)"/g)) {
    for (const word of classes.replace(/\{[^}]*\}/g, "").split(/\s+/).filter(Boolean)) {
      if (!selectors.has(word)) found.add(`${name}: no rule has the class ${word}`);
    }
  }
}

if (found.size) {
  console.error([...found].join("\n"));
  process.exit(1);
}
