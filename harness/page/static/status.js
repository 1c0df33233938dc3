// The page's messages about itself: how far Python has been loaded, what can be cancelled, whether it works offline.

import { python } from "./api.js";
import { element } from "./elements.js";

const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

let total = 0;
let loaded = 0;

function showLoading(state) {
  const stage = total && loaded >= total ? "Starting the solver" : "Loading the solver";
  if (total) Object.assign(element("loading-bar"), { max: total, value: Math.min(loaded, total) });
  const part = total ? ` · ${megabytes(Math.min(loaded, total))} of ${megabytes(total)} MB` : "";
  element("loading-words").textContent = state === "restarting" ? "Restarting the solver" : `${stage}${part}`;
}

python.onState = (state, detail) => {
  document.documentElement.dataset.python = state;
  element("loading").hidden = state !== "loading" && state !== "restarting";
  element("failure").hidden = state !== "failed";
  if (state === "failed") element("failure").textContent = detail;
  if (element("loading").hidden) return;
  loaded = detail;
  showLoading(state);
};

python.onState(...python.state);

python.onBusy = (isBusy) => {
  const isLeft = !isBusy && document.activeElement === element("cancel");
  element("cancel").hidden = !isBusy;
  if (isLeft) element("stage").focus(); // a hidden button would lose the focus to the beginning of the page
};
element("cancel").addEventListener("click", () => python.cancel());

// The bytes to be loaded are known.
export function setTotal(bytes) {
  total = bytes;
  if (document.documentElement.dataset.python === "loading") showLoading("loading");
}

// A new version of the site that has come since the last visit takes the place of this one, before anybody types.
export async function takeNewVersion() {
  const workers = navigator.serviceWorker;
  const registration = await workers?.getRegistration();
  if (!registration?.waiting || !workers.controller) return; // without one, nothing of an earlier version is shown
  workers.addEventListener("controllerchange", () => location.reload(), { once: true });
  registration.waiting.postMessage("take over");
}

// Keeps the site for later visits.
export async function keepOffline() {
  const workers = navigator.serviceWorker;
  if (!workers) return;
  await python.whenIdle();
  if (!workers.controller) await python.keepFiles();
  await workers.register("service_worker.js");
}
