import { gzipSync } from "node:zlib";

/**
 * sizeLimit fails the build if the gzipped JavaScript and CSS exceed the limits in bytes. The first paint is the entry, everything that
 * it imports statically, the styles, one language, and the home screen. The app is the sum of all files, with one language too, because
 * no user loads two. The larger language counts.
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
      const first = new Set();
      const add = (file) => {
        if (!bundle[file] || first.has(file)) return;
        first.add(file);
        bundle[file].imports?.forEach(add);
        bundle[file].viteMetadata?.importedCss.forEach(add);
      };
      const chunks = Object.values(bundle).filter((output) => output.type === "chunk");
      chunks.filter((chunk) => chunk.isEntry).forEach((chunk) => add(chunk.fileName));
      chunks.filter((chunk) => /\/screens\/home\/Home\.svelte$/.test(chunk.facadeModuleId ?? "")).forEach((chunk) => add(chunk.fileName));
      sized.filter((file) => file.endsWith(".css")).forEach(add);
      const languages = chunks.filter((chunk) => /^(en|de)$/.test(chunk.name)).map((chunk) => chunk.fileName).sort((a, b) => gzipped(b) - gzipped(a));
      languages.slice(0, 1).forEach(add);
      const counted = sized.filter((file) => !languages.slice(1).includes(file));

      const sum = (files) => [...files].reduce((total, file) => total + gzipped(file), 0);
      const rows = sized.map((file) => [gzipped(file), first.has(file) ? "first paint" : "", file]).sort((a, b) => b[0] - a[0]);
      const lines = rows.map(([bytes, when, file]) => `${String(bytes).padStart(8)}  ${when.padEnd(11)}  ${file}`);
      const totals = [["first paint", sum(first), firstPaint], ["whole app", sum(counted), app]];
      for (const [name, bytes, limit] of totals) {
        lines.push(`${String(bytes).padStart(8)}  of ${limit}  ${name}`);
      }
      console.log(lines.join("\n"));
      for (const [name, bytes, limit] of totals) {
        if (bytes > limit) this.error(`${name}: ${bytes} bytes of gzipped JavaScript and CSS, the limit is ${limit}`);
      }
    },
  };
}
