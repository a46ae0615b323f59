import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { compress } from "./build/compress.js";
import { serviceWorker } from "./build/service-worker.js";
import { shortNames } from "./build/short-names.js";
import { sizeLimit } from "./build/size-limit.js";

// The development server forwards the API of a running Coffer, so that the console and the API have
// the same origin.
const coffer = process.env.COFFER_URL ?? "http://localhost:8080";
const forwarded = { target: coffer, changeOrigin: false };
const proxy = { "/api": forwarded, "/docs": forwarded, "/version": forwarded, "/readyz": forwarded };

/** data matches the files of the screens and parts that are used rarely (ADR 110). */
const data =
  /src\/(blocks|screens\/(imports|export|reports|goals|rules|webhooks|tokens|tags|preferences|activity|attachments|unsent|links|table|wallet|secondstep|factors|confirm|views|palette|shortcuts))\//;

/** messages returns the chunk of a file with messages, such as evidence.de.ts, or null. */
function messages(id: string): string | null {
  const language = /src\/(?:i18n|screens\/\w+)\/(?:\w+\.)?(en|de)\.ts$/.exec(id)?.[1];
  // The members of a budget are not part of the first paint, but of the everyday code.
  const later = data.test(id) || id.includes("src/screens/sharing/");
  return language ? (later ? `data-${language}` : language) : null;
}

export default defineConfig({
  plugins: [
    svelte({ compilerOptions: { cssHash: shortNames(`${import.meta.dirname}/src`) } }),
    serviceWorker(),
    sizeLimit({ firstPaint: 86_000, app: 268_000 }),
    compress(),
  ],
  build: {
    target: ["chrome123", "firefox120", "safari17.5"],
    modulePreload: { polyfill: false },
    // Inlined files would need data: URLs, which the Content Security Policy allows for images
    // only.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // Few chunks compress better than many. The base has the code that most screens share. The
        // charts, each language, the daily screens and the screens of the account have a chunk
        // each. The home screen has one too, so that the first paint is small. The screens that
        // data matches are used rarely. They have separate messages and styles (ADR 110). All other
        // styles are 15 kB in one file, and 24 kB in one file per screen.
        codeSplitting: {
          groups: [
            { name: "style", test: (id) => /\.css$/.test(id) && !data.test(id), priority: 3 },
            { name: "base", test: /node_modules|preload-helper|src\/(components|money|dates|api|offline|shell|i18n\/i18n)/, priority: 2 },
            { name: "charts", test: /src\/charts/, priority: 1 },
            { name: messages, priority: 1 },
            { name: "account", test: /src\/screens\/(signin|welcome|wallets|categories|settings|more|missing)\/(?!(en|de)\.ts)/, priority: 1 },
            { name: "daily", test: (id) => /src\/screens\/(?!home)\w+\/(?!(en|de)\.ts)/.test(id) && !data.test(id), priority: 1 },
            // After the daily screens: a group takes what its modules import, and the table uses
            // parts of the list.
            { name: "data", test: data, priority: 1 },
          ],
        },
      },
    },
  },
  server: { port: 5173, strictPort: true, proxy },
  preview: { port: 4173, strictPort: true, proxy },
});
