// The page's Python, in a worker of its own: started with the page, asked one question at a time, ended and started
// again where an answer would come too late.

export const CANCELLED = "Cancelled.";

const PATIENCE_MS = 1000; // for the answer to a question that nobody has any more, while another one waits
const BUSY_MS = 300; // before a question can be cancelled
const SPARE_SECONDS = 30; // for all that is no search: lines, steps, large files

// A worker from an address has the policy that comes with it: the service worker sends one, most servers do not. Then
// the worker begins as a part of the page, and has the page's. (Firefox loads nothing into such a one without network.)
function startWorker() {
  const place = new URL("worker.js", import.meta.url).href;
  if (navigator.serviceWorker?.controller) return new Worker(place, { type: "module" });
  const script = `import ${JSON.stringify(place)};`;
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  return new Worker(address, { type: "module" });
}

export class Python {
  #worker = null;
  #isReady = false;
  #loading = "loading";
  #running = null;
  #waiting = [];
  #busyTimer = 0;
  #hurryTimer = 0;
  #number = 0;
  #onKept = null;
  seconds = 10; // of a search, until the facts have come

  // onState: called with "loading" or "restarting" and the bytes so far, "ready", or "failed" and why. onBusy: whether it has worked
  // long enough at something to be cancelled.
  onState = () => {};
  state = [];
  onBusy = () => {};

  start() {
    if (typeof WebAssembly !== "object" || typeof Worker !== "function") {
      return this.#fail("This browser cannot run the solver: it has no WebAssembly, or no workers. Use a newer one.");
    }
    this.#isReady = false;
    this.#tell(this.#loading, 0);
    const worker = (this.#worker = startWorker());
    const ifOwn = (act) => (event) => worker === this.#worker && act(event);
    worker.onmessage = ifOwn(({ data }) => this.#hear(data));
    worker.onerror = ifOwn((event) => {
      event.preventDefault();
      this.#fail(event.message || "The page's Python cannot be loaded: a file is missing. Export the page again.");
    });
  }

  // Returns the answer to a question; `data` are the bytes that belong to it. The signal withdraws it.
  ask(call, question, signal, data) {
    return new Promise((resolve, reject) => {
      const asked = { number: ++this.#number, call, question: { seconds: this.seconds, ...question }, data, resolve, reject };
      signal?.addEventListener("abort", () => this.#withdraw(asked, signal.reason), { once: true });
      if (signal?.aborted) return reject(signal.reason);
      this.#waiting.push(asked);
      if (!this.#worker) this.start();
      this.#next();
      this.#hurry();
    });
  }

  // Waits until it is started and nothing is asked.
  async whenIdle() {
    while (!this.#isReady || this.#running || this.#waiting.length) await new Promise((done) => setTimeout(done, 200));
  }

  // Keeps the largest file for the service worker, which would fetch it again.
  keepFiles() {
    return new Promise((done) => {
      this.#onKept = done;
      if (this.#worker) this.#worker.postMessage({ keep: true });
      else done();
    });
  }

  // Gives up what is worked at.
  cancel() {
    if (this.#running) this.#restart(new Error(CANCELLED));
  }

  #tell(...state) {
    this.state = state;
    this.onState(...state);
  }

  #hear({ number, answer, loaded, ready, kept, failed, broken }) {
    if (kept) return this.#onKept?.();
    if (loaded !== undefined) return this.#isReady || this.#tell(this.#loading, loaded); // some are counted late
    if (failed) return this.#fail(failed);
    if (ready) {
      this.#isReady = true;
      this.#loading = "restarting";
      this.#tell("ready");
      return this.#next();
    }
    const asked = this.#running;
    if (asked?.number !== number) return;
    if (broken) return this.#restart(new Error(broken));
    this.#rest();
    const found = JSON.parse(answer);
    if (found.error) asked.reject(new Error(found.error));
    else asked.resolve(found);
    this.#next();
  }

  #next() {
    if (!this.#isReady || this.#running || !this.#waiting.length) return;
    const asked = (this.#running = this.#waiting.shift());
    const { number, call, question, data } = asked;
    this.#worker.postMessage({ number, call, question, data });
    this.#busyTimer = setTimeout(() => this.onBusy(true), BUSY_MS);
    const most = 3 * question.seconds + SPARE_SECONDS;
    asked.timer = setTimeout(() => this.#restart(new Error(`no answer within ${most} s; it was given up`)), 1000 * most);
  }

  // Nothing is worked at any more.
  #rest() {
    clearTimeout(this.#busyTimer);
    clearTimeout(this.#hurryTimer);
    clearTimeout(this.#running?.timer);
    this.#hurryTimer = 0;
    this.#running = null;
    this.onBusy(false);
  }

  #withdraw(asked, why) {
    asked.reject(why);
    this.#waiting = this.#waiting.filter((question) => question !== asked);
    if (asked !== this.#running) return;
    asked.withdrawn = performance.now();
    this.#hurry();
  }

  // Ends what nobody asks for any more, once something else has waited long enough.
  #hurry() {
    const { withdrawn } = this.#running ?? {};
    if (withdrawn === undefined || !this.#waiting.length || this.#hurryTimer) return;
    const left = withdrawn + PATIENCE_MS - performance.now();
    this.#hurryTimer = setTimeout(() => {
      this.#hurryTimer = 0;
      if (this.#running?.withdrawn !== undefined && this.#waiting.length) this.#restart();
    }, Math.max(0, left));
  }

  #restart(why) {
    this.#onKept?.(); // the service worker fetches it
    this.#worker.terminate();
    const asked = this.#running;
    this.#rest();
    asked?.reject(why);
    this.start();
  }

  #fail(why) {
    this.#onKept?.();
    this.#worker?.terminate();
    this.#worker = null;
    const asked = [this.#running, ...this.#waiting].filter(Boolean);
    this.#rest();
    this.#waiting = [];
    for (const question of asked) question.reject(new Error(why));
    this.#tell("failed", why);
  }
}
