// What the page asks its server, and nobody else.

const tab = Math.random().toString(36).slice(2) + Date.now().toString(36);

async function answered(response) {
  const type = response.headers.get("content-type") || "";
  const found = type.startsWith("application/json") ? await response.json() : await response.blob();
  if (!response.ok) throw new Error(found.error || `the server says ${response.status}`);
  return found;
}

async function asked(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the server does not answer; is `nonojudge page` still running?");
  }
  return answered(response);
}

export const get = (path, signal) => asked(path, { signal });

export const send = (path, data, signal) => asked(path, { method: "POST", body: data, signal });

export const ask = (what, question, signal) =>
  asked(`/api/${what}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ tab, ...question }),
    signal,
  });

// The latest of several questions of a kind: a new one takes the place of the one before, whose answer nobody sees.
export class Latest {
  #controller = null;

  cancel() {
    this.#controller?.abort();
    this.#controller = null;
  }

  // Returns what `work` returns, or undefined if another began meanwhile.
  async run(work) {
    this.cancel();
    const own = (this.#controller = new AbortController());
    try {
      const found = await work(own.signal);
      return own.signal.aborted ? undefined : found;
    } catch (error) {
      if (own.signal.aborted) return undefined;
      throw error;
    }
  }
}
