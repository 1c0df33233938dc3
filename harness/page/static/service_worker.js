// Later visits, without a network: all files of the site, kept under the version that they belong to.

const VERSION = "VERSION"; // a digest of all files: with another one, browsers install this worker anew
const NAME = `nonobot ${self.registration.scope} `;
const ROOT = self.registration.scope;
const LISTING = new URL("files.json", ROOT).href;
const IS_FETCHED_ON_DEMAND = /^sets\//;
const POLICY = "POLICY"; // of the worker, too: as in index.html
const IS_LIVE = /^(live|api)\b/;

const toHex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");

// Returns a file of the site: from an earlier version or the browser's own cache, where it is there and the same.
async function fetched(name, digest) {
  const address = new URL(name, ROOT).href;
  const ways = [() => caches.match(address), () => fetch(address, { cache: "force-cache" }), () => fetch(address, { cache: "reload" })];
  for (const way of ways) {
    const response = await way();
    if (!response?.ok) continue;
    const content = await response.arrayBuffer();
    if (toHex(await crypto.subtle.digest("SHA-256", content)) !== digest) continue;
    const type = response.headers.get("content-type") ?? "application/octet-stream";
    return new Response(content, { headers: { "content-type": type, "content-security-policy": POLICY } });
  }
  throw new Error(`${name} is not the file of this version`);
}

async function keepAll() {
  const { version, files } = await (await fetch(LISTING, { cache: "no-cache" })).json();
  if (version !== VERSION) throw new Error("the site is being replaced");
  const cache = await caches.open(NAME + VERSION);
  for (const [name, { sha256 }] of Object.entries(files)) {
    if (IS_FETCHED_ON_DEMAND.test(name) || name === "service_worker.js") continue;
    await cache.put(new URL(name, ROOT).href, await fetched(name, sha256));
  }
}

async function removeEarlier() {
  for (const name of await caches.keys()) {
    if (name.startsWith(NAME) && name !== NAME + VERSION) await caches.delete(name);
  }
}

// Returns the file of an address; a set is kept once it was fetched.
async function answered(request) {
  const address = new URL(request.url);
  const name = address.pathname.slice(new URL(ROOT).pathname.length);
  const cache = await caches.open(NAME + VERSION);
  const found = await cache.match(name ? address.origin + address.pathname : new URL("index.html", ROOT).href);
  if (found) return found;
  const response = await fetch(request);
  if (response.ok && IS_FETCHED_ON_DEMAND.test(name)) await cache.put(request, response.clone());
  return response;
}

addEventListener("install", (event) => event.waitUntil(keepAll()));
addEventListener("activate", (event) => event.waitUntil(removeEarlier().then(() => clients.claim())));
addEventListener("fetch", (event) => {
  const { request } = event;
  const isOwn = request.method === "GET" && request.url.startsWith(ROOT);
  if (isOwn && !IS_LIVE.test(request.url.slice(ROOT.length))) event.respondWith(answered(request));
});

// The page asks for the new version when it opens; other tabs go on with theirs until they are closed.
addEventListener("message", (event) => {
  const takeOver = async () => {
    const open = await clients.matchAll({ includeUncontrolled: true, type: "window" });
    if (open.length < 2) await self.skipWaiting();
  };
  if (event.data === "take over") event.waitUntil(takeOver());
});
