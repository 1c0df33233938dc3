// The choice of a sample, or of a puzzle of a set by name and number.

import { ask } from "./api.js";
import { element, made } from "./elements.js";
import { attempts, keep, kept } from "./storage.js";

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
  #place = kept().place; // of the puzzle that was picked last from a set: { link, name, number, count }

  // `bring` is that of all ways in: whatever was asked for last is shown. `open` brings a link.
  constructor(bring, open) {
    this.bring = bring;
    this.open = open;
    element("set-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#show(element("set-name").value.trim(), Math.max(1, Math.round(element("set-number").value) || 1));
    });
    for (const event of ["attempts", "storage"]) addEventListener(event, () => this.#showBegun());
    this.#showBegun();
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

  // Returns what brings the puzzle of the set or the sample after the one with a link, otherwise the first sample that
  // is not solved; undefined if all are.
  after(link) {
    const { link: picked, name, number, count } = this.#place ?? {};
    if (link === picked && number < count) return () => this.#show(name, number + 1);
    const solved = attempts().filter(({ isSolved }) => isSolved).map((attempt) => attempt.link);
    const place = this.#samples.findIndex((sample) => sample.link === link);
    const next = (place >= 0 && this.#samples[place + 1]) || this.#samples.find((sample) => ![link, ...solved].includes(sample.link));
    return next && (() => this.#bring(next));
  }

  // Shows the puzzles with attempts, unless the keyboard goes along them.
  #showBegun() {
    if (element("begun").contains(document.activeElement)) return;
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
      keep({ place: (this.#place = { link: found.link, name, number, count: found.count }) });
      return { ...found, text: found.link, count: 1, number: 1 };
    }, true);
    if (this.#isAsking === asked) this.#isAsking = "";
  }
}
