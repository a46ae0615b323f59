const VERSION = "3271a4d1f2b0ab9b";
const FILES = ["/","/assets/Home-C2mfSz5v.js","/assets/account-y-6PaWMC.js","/assets/base-Cuur9cCR.js","/assets/charts-CzLRy5da.js","/assets/daily-fulvxEsV.js","/assets/data-COwVvGK1.css","/assets/data-IV4AHrnu.js","/assets/data-de-B2Y2ZcKd.js","/assets/data-en-A4NTZmvi.js","/assets/de-CVRwWlYh.js","/assets/en-HyGf9QSS.js","/assets/index-B1jJ8eKN.js","/assets/rolldown-runtime-DK3Fl9T5.js","/assets/style-BMszWGXp.css","/icon-180.png","/icon-192.png","/icon-512.png","/icon-maskable-512.png","/icon.svg","/manifest.webmanifest"];
// The service worker stores the files of the build, so that the console opens without a connection.
// It never touches the API: data are stored by the pages (src/offline/store.ts). The build puts
// VERSION and FILES in front of this file.
/* global VERSION, FILES */
const cacheName = `coffer-${VERSION}`;

self.addEventListener("install", (event) => {
  // Hashed files may come from the HTTP cache; the page itself must be current.
  const requests = FILES.map((file) => new Request(file, { cache: file.startsWith("/assets/") ? "default" : "no-cache" }));
  event.waitUntil(caches.open(cacheName).then((cache) => cache.addAll(requests)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    caches.keys()
      .then((names) => Promise.all(names.filter((name) => name.startsWith("coffer-") && name !== cacheName).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin) return;
  if (request.mode === "navigate") {
    if (/^\/(api|docs|livez|readyz|version|\.well-known)(\/|$)/.test(url.pathname)) return;
    event.respondWith(page(request));
  } else if (FILES.includes(url.pathname)) {
    event.respondWith(caches.match(url.pathname).then((stored) => stored ?? fetch(request)));
  }
});

/** page answers a navigation from the network, or after two seconds from the cache. */
async function page(request) {
  const network = fetch(request);
  network.catch(() => {});
  const stored = await caches.match("/");
  if (!stored) return network;
  const late = new Promise((resolve) => setTimeout(resolve, 2000, stored));
  return Promise.race([network, late]).catch(() => stored);
}

// The browser may wake the worker when the connection returns. The pages then send their queue.
self.addEventListener("sync", (event) => {
  if (event.tag !== "coffer-queue") return;
  event.waitUntil(self.clients.matchAll().then((pages) => pages.forEach((client) => client.postMessage({ type: "send-queue" }))));
});
