import { gzipSync } from "node:zlib";

/**
 * sizeLimit fails the build if the gzipped JavaScript and CSS exceed the limits in bytes (ADR 110).
 * The first paint is the entry, everything that it imports statically, the styles, one language,
 * and the home screen. The app are all files with one language, because no user loads two. The
 * larger language counts. The data part, which has no limit of its own, is the chunk of that name
 * with its styles and one language.
 */
export function sizeLimit({ firstPaint, app }) {
  return {
    name: "size-limit",
    apply: "build",
    enforce: "post",
    generateBundle(_, bundle) {
      const gzipped = (file) => {
        const source = bundle[file].code ?? bundle[file].source;
        return gzipSync(source, { level: 9 }).length;
      };
      const sized = Object.keys(bundle).filter((file) => /\.(js|css)$/.test(file));
      const chunks = Object.values(bundle).filter((output) => output.type === "chunk");
      const stylesOf = (chunk) => [...(chunk.viteMetadata?.importedCss ?? [])];
      /** largest returns the files of the chunks whose name matches, the largest first. */
      const largest = (pattern) => {
        const files = chunks
          .filter(({ name }) => pattern.test(name))
          .map(({ fileName }) => fileName);
        return files.sort((a, b) => gzipped(b) - gzipped(a));
      };
      const languages = largest(/^(en|de)$/);
      const dataLanguages = largest(/^data-(en|de)$/);
      const dataChunk = chunks.find(({ name }) => name === "data");
      const dataFiles = [dataChunk.fileName, ...stylesOf(dataChunk), dataLanguages[0]];

      const first = new Set();
      const add = (file) => {
        if (!bundle[file] || first.has(file)) return;
        first.add(file);
        bundle[file].imports?.forEach(add);
        stylesOf(bundle[file]).forEach(add);
      };
      chunks.filter((chunk) => chunk.isEntry).forEach((chunk) => add(chunk.fileName));
      chunks
        .filter((chunk) => /\/screens\/home\/Home\.svelte$/.test(chunk.facadeModuleId ?? ""))
        .forEach((chunk) => add(chunk.fileName));
      sized.filter((file) => file.endsWith(".css") && !dataFiles.includes(file)).forEach(add);
      add(languages[0]);
      const appFiles = sized.filter(
        (file) => ![...languages.slice(1), ...dataLanguages, ...dataFiles].includes(file),
      );

      const sum = (files) => [...files].reduce((total, file) => total + gzipped(file), 0);
      const part = (file) =>
        first.has(file) ? "first paint" : dataFiles.includes(file) ? "data" : "";
      const rows = sized
        .map((file) => [gzipped(file), part(file), file])
        .sort((a, b) => b[0] - a[0]);
      const lines = rows.map(
        ([bytes, when, file]) => `${String(bytes).padStart(8)}  ${when.padEnd(11)}  ${file}`,
      );
      const everyday = sum(appFiles);
      const rarely = sum(dataFiles);
      const totals = [
        ["first paint", sum(first), firstPaint],
        ["whole app", everyday + rarely, app],
      ];
      for (const [name, bytes, limit] of totals) {
        lines.push(`${String(bytes).padStart(8)}  of ${limit}  ${name}`);
      }
      lines[lines.length - 1] += `: ${everyday} everyday app, ${rarely} rarely used screens`;
      console.log(lines.join("\n"));
      for (const [name, bytes, limit] of totals) {
        if (bytes > limit)
          this.error(
            `${name}: ${bytes} bytes of gzipped JavaScript and CSS, the limit is ${limit}`,
          );
      }
      const loaded = [...first].filter(
        (file) => dataFiles.includes(file) || dataLanguages.includes(file),
      );
      if (loaded.length)
        this.error(`the first paint loads files of the data part: ${loaded.join(", ")}`);
    },
  };
}
