// A puzzle is picked: samples, and sets by name and number.

import { ask } from "./api.js";
import { element, made } from "./elements.js";
import { attempts } from "./storage.js";

const GENERATED = ["boardgen:25x25x1000:seed=7", "boardgen:10x10x1000:seed=1"];

function chip(text, act) {
  const button = made("button", text, "chip");
  button.addEventListener("click", act);
  return button;
}

export class Picks {
  #samples = [];
  #sets = [];
  #isAsking = "";

  // `bring` is that of all ways in: whatever was asked for last is shown. `open` brings a link.
  constructor(bring, open) {
    this.bring = bring;
    this.open = open;
    element("set-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#show(element("set-name").value.trim(), Math.max(1, Math.round(element("set-number").value) || 1));
    });
  }

  fill({ samples, sets }) {
    this.#samples = samples;
    this.#sets = sets;
    for (const id of ["samples", "welcome-samples"]) {
      element(id).replaceChildren(...samples.map((sample) => chip(sample.board.title, () => this.#bring(sample))));
    }
    element("set-names").replaceChildren(...[...sets, ...GENERATED].map((name) => new Option(name, name)));
  }

  #bring(sample) {
    this.bring(() => ({ ...sample, text: sample.link }), true);
  }

  // Returns what brings the sample after the one with a link, or the first that is not solved; undefined if all are.
  after(link) {
    const solved = attempts().filter(({ isSolved }) => isSolved).map((attempt) => attempt.link);
    const place = this.#samples.findIndex((sample) => sample.link === link);
    const next = (place >= 0 && this.#samples[place + 1]) || this.#samples.find((sample) => ![link, ...solved].includes(sample.link));
    return next && (() => this.#bring(next));
  }

  // Shows the puzzles with attempts.
  showBegun() {
    const begun = attempts().filter(({ link }) => link);
    element("begun-title").hidden = !begun.length;
    const chips = begun.map(({ name, link, isSolved }) => chip(`${name}${isSolved ? " ✓" : ""}`, () => this.open(link)));
    element("begun").replaceChildren(...chips);
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
      if (!found.board) return null;
      element("set-number").value = number;
      const next = number < found.count ? () => this.#show(name, number + 1) : null;
      return { ...found, text: found.link, count: 1, number: 1, next };
    }, true);
    if (this.#isAsking === asked) this.#isAsking = "";
  }
}
