/** Keeps the page, the runtime and the bundled model for reading offline. The build fills in the files and their digest. */
const FILES = __FILES__;
const CACHE = "thinstack-__DIGEST__";

addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)).then(() => skipWaiting()));
});

addEventListener("activate", (event) => {
  const old = async () => {
    const names = (await caches.keys()).filter((name) => name.startsWith("thinstack-") && name !== CACHE);
    await Promise.all(names.map((name) => caches.delete(name)));
    await clients.claim();
  };
  event.waitUntil(old());
});

addEventListener("fetch", (event) => {
  const known = caches.open(CACHE).then((cache) => cache.match(event.request, { ignoreSearch: event.request.mode === "navigate" }));
  event.respondWith(known.then((found) => found ?? fetch(event.request)));
});
