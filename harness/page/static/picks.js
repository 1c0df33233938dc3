// A puzzle is picked: samples, and sets by name and number.

import { ask } from "./api.js";
import { element, made } from "./elements.js";

const GENERATED = ["boardgen:25x25x1000:seed=7", "boardgen:10x10x1000:seed=1"];

export class Picks {
  #sets = [];
  #isAsking = "";

  // `bring` is that of all ways in: whatever was asked for last is shown.
  constructor(bring) {
    this.bring = bring;
    element("set-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#show(element("set-name").value.trim(), Math.max(1, Math.round(element("set-number").value) || 1));
    });
  }

  fill({ samples, sets }) {
    this.#sets = sets;
    for (const id of ["samples", "welcome-samples"]) {
      element(id).replaceChildren(
        ...samples.map((sample) => {
          const button = made("button", sample.board.title, "chip");
          button.addEventListener("click", () => this.bring(() => ({ ...sample, text: sample.link }), true));
          return button;
        }),
      );
    }
    element("set-names").replaceChildren(...[...sets, ...GENERATED].map((name) => new Option(name, name)));
  }

  #fault(name) {
    if (name.startsWith("boardgen:") || this.#sets.includes(name)) return "";
    const sets = this.#sets.length ? `It has ${this.#sets.join(", ")}` : "It has no official sets";
    return `This site does not have a set named ${name}. ${sets}; sets such as ${GENERATED[0]} are made here.`;
  }

  // A set that is not there leaves what is shown as it is.
  async #show(name, number) {
    const asked = `${name} ${number}`;
    if (this.#isAsking === asked) return;
    element("set-fault").textContent = this.#fault(name);
    if (element("set-fault").textContent) return;
    this.#isAsking = asked;
    const file = this.#sets.includes(name) ? `sets/${name}.txt` : null;
    await this.bring(async (signal) => {
      const found = await ask("set", { name, number, file }, signal).catch(({ message }) => ({ faults: [[null, message]] }));
      if (signal.aborted) return undefined;
      element("set-fault").textContent = found.board ? "" : found.faults.map(([, fault]) => fault).join("; ");
      return found.board ? { ...found, text: found.link, count: 1, number: 1 } : null;
    }, true);
    if (this.#isAsking === asked) this.#isAsking = "";
  }
}
