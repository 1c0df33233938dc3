// The page's calls to its Python, and the files that it reads: nothing leaves the browser.

import { CANCELLED, Python } from "./python.js";

export { CANCELLED };
export const python = new Python();
python.start(); // before the rest of the page has been loaded

export const ask = (call, question, signal, data) => python.ask(call, question, signal, data);

// Returns what is known of this site: limits, formats, samples, sets.
export async function facts() {
  const response = await fetch(new URL("../facts.json", import.meta.url));
  if (!response.ok) throw new Error(`facts.json is missing (${response.status}); export the page again`);
  return response.json();
}

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
