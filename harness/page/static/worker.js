// The page's Python: Pyodide with this project's own modules. It answers questions in the order in which they come.

import { brightness, decoded } from "./picture.js";

const ROOT = new URL("..", import.meta.url);
const CORE = new URL("pyodide/", ROOT).href;
const ARCHIVE = new URL("nonobot.zip", ROOT).href;

// --- loading: all files at once, with a count of their bytes -------------------------------------------------------

let loaded = 0;
let kept = []; // pieces of the largest file, until it is known whether the service worker needs it

async function countAll(response) {
  const keep = response.url.endsWith(".wasm") ? (piece) => kept.push(piece) : () => {};
  const reader = response.body.getReader();
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    keep(value);
    loaded += value.length;
    postMessage({ loaded });
  }
}

// Keeps the largest file where the service worker looks first: browsers keep no file of that size in their memory.
async function keepLargest() {
  const cache = await caches.open(`nonobot ${ROOT.href} loaded`);
  const response = new Response(new Blob(kept), { headers: { "content-type": "application/wasm" } });
  kept = [];
  await cache.put(`${CORE}pyodide.asm.wasm`, response);
}

const usual = self.fetch;
let breakOff;
const brokenOff = new Promise((_, reject) => (breakOff = reject)); // Pyodide waits for ever for a file that does not come

async function fetched(address) {
  const response = await usual(address);
  if (!response.ok) throw new Error(`${new URL(address).pathname} is missing (${response.status}); export the page again`);
  countAll(response.clone()).catch(({ message }) => breakOff(new Error(`${message}; reload the page`)));
  return response;
}

const early = new Map();
const FILES = [ARCHIVE, ...["pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"].map((name) => CORE + name)];
for (const address of FILES) early.set(address, fetched(address));
for (const response of early.values()) response.catch(breakOff);

self.fetch = (address, ...rest) => {
  const url = String(address?.url ?? address);
  const response = early.get(url);
  early.delete(url);
  return response ?? usual(address, ...rest);
};

async function load() {
  const archive = early.get(ARCHIVE).then((response) => response.arrayBuffer());
  archive.catch(() => {}); // it is reported where it is awaited
  const [{ loadPyodide }, { default: createPyodideModule }] = await Promise.all([
    import(`${CORE}pyodide.mjs`),
    import(`${CORE}pyodide.asm.mjs`),
  ]);
  const py = await loadPyodide({ indexURL: CORE, createPyodideModule, env: { HOME: "/home", NONOBOT_DATA: "/sets" } });
  py.FS.mkdirTree("/sets");
  py.unpackArchive(await archive, "zip", { extractDir: "/nonobot" });
  py.runPython("import sys; sys.path.insert(0, '/nonobot')");
  const calls = py.pyimport("nonobot.harness.page.worker_calls");
  calls.check_kernels();
  return { py, answered: calls.answered, loadKernels: calls.load_kernels };
}

// --- answering -----------------------------------------------------------------------------------------------------

const KERNELS_AFTER_MS = 300;

const loading = Promise.race([load(), brokenOff]);
let turn = Promise.resolve();

async function answer({ call, question, data }) {
  const { py, answered } = await loading;
  const told = (call, question, bytes) => answered(call, JSON.stringify(question), py.toPy(bytes ?? new Uint8Array()));
  if (call === "set" && question.file) await keepSet(py, question);
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : new Uint8Array(data ?? 0);
  const found = told(call, question, bytes);
  if (call !== "read" || JSON.parse(found).format !== "picture") return found;
  const image = await decoded(bytes);
  const size = JSON.parse(told("size", { width: image.width, height: image.height, columns: question.columns }));
  return size.error ? JSON.stringify(size) : told("picture", { ...size, title: question.title }, brightness(image, size, question.isInverted));
}

// Puts the file of an official set where Python looks for it.
async function keepSet(py, { file }) {
  const place = `/${file}`;
  if (py.FS.analyzePath(place).exists) return;
  const response = await usual(new URL(file, ROOT));
  if (!response.ok) throw new Error(`${file} is missing (${response.status})`);
  py.FS.writeFile(place, new Uint8Array(await response.arrayBuffer()));
}

const lastLine = (error) => String(error?.message ?? error).trim().split("\n").at(-1).replace(/^ValueError: /, "");

// The kernels of the usual boards are loaded after the first question, which may do without.
async function start({ loadKernels }) {
  postMessage({ ready: true });
  await new Promise((done) => setTimeout(done, KERNELS_AFTER_MS));
  turn = turn.then(() => loadKernels()).catch(() => {}); // a board that needs them reports it
}

loading.then(
  start,
  (error) => postMessage({ failed: `The page's Python does not start: ${lastLine(error)}` }),
);

onmessage = ({ data: asked }) => {
  if (asked.keep) {
    const done = () => postMessage({ kept: true });
    return keepLargest().then(done, done);
  }
  turn = turn.then(async () => {
    const { number } = asked;
    try {
      postMessage({ number, answer: await answer(asked) });
    } catch (error) {
      if (error?.name === "Picture") postMessage({ number, answer: JSON.stringify({ error: error.message }) });
      else postMessage({ number, broken: `an error in the page's Python: ${lastLine(error)}` });
    }
  });
};
