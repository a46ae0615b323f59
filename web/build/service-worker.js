import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * serviceWorker writes sw.js: src/offline/sw.js preceded by the list of files to store and by a
 * version, the hash of their contents.
 */
export function serviceWorker() {
  let root;
  return {
    name: "service-worker",
    apply: "build",
    enforce: "post",
    configResolved(config) {
      root = config.root;
    },
    generateBundle(_, bundle) {
      const hash = createHash("sha256");
      const files = [];
      for (const file of Object.keys(bundle).sort()) {
        if (file.endsWith(".map")) continue;
        hash.update(file).update(bundle[file].code ?? bundle[file].source);
        if (file !== "index.html") files.push(`/${file}`);
      }
      for (const file of readdirSync(join(root, "public")).sort()) {
        hash.update(file).update(readFileSync(join(root, "public", file)));
        files.push(`/${file}`);
      }
      const worker = readFileSync(join(root, "src/offline/sw.js"));
      hash.update(worker);
      const header = `const VERSION = "${hash.digest("hex").slice(0, 16)}";\nconst FILES = ${JSON.stringify(["/", ...files])};\n`;
      this.emitFile({ type: "asset", fileName: "sw.js", source: header + worker });
    },
  };
}
