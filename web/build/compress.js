import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

/** compress writes a .br and a .gz file beside each text file of the build, if it is smaller. */
export function compress() {
  let dir;
  return {
    name: "compress",
    apply: "build",
    configResolved(config) {
      dir = join(config.root, config.build.outDir);
    },
    closeBundle: {
      order: "post",
      sequential: true,
      handler() {
        for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
          if (!entry.isFile() || !/\.(js|css|html|svg|webmanifest|txt)$/.test(entry.name)) continue;
          const path = join(entry.parentPath, entry.name);
          const source = readFileSync(path);
          const packed = {
            ".br": brotliCompressSync(source, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: source.length } }),
            ".gz": gzipSync(source, { level: 9 }),
          };
          for (const [suffix, bytes] of Object.entries(packed)) {
            if (bytes.length < source.length) writeFileSync(path + suffix, bytes);
          }
        }
      },
    },
  };
}
