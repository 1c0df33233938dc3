// The steps of the solver, shown forward and back.

import { ask, Latest } from "./api.js";
import { element } from "./elements.js";
import { BLACK, UNKNOWN, WHITE, givenOf, lineWords, many, placeWords, sentence } from "./words.js";

export class Stepping {
  #latest = new Latest();
  #timer = 0;
  #isAsking = false;

  constructor(onChange) {
    this.onChange = onChange;
    this.start(null);
    const click = { "step-first": () => this.go(0), "step-last": () => this.go(this.steps.length), "step-back": () => this.by(-1),
      "step-next": () => this.by(1), "step-play": () => this.play(), "step-guess": () => this.nextGuess() };
    for (const [id, act] of Object.entries(click)) element(id).addEventListener("click", act);
    element("step-place").addEventListener("input", (event) => this.go(Number(event.target.value)));
    element("step-speed").addEventListener("change", () => {
      if (this.isPlaying) this.#tick();
    });
  }

  get isPlaying() {
    return this.#timer !== 0;
  }

  // Another puzzle: its steps are asked for when they are looked at.
  start(board) {
    this.#latest.cancel();
    this.stop();
    this.board = board;
    this.steps = [];
    this.place = 0;
    this.marks = {};
    this.isLoaded = false;
    this.isCut = false;
    this.cells = givenOf(board);
    this.#isAsking = false;
    this.#show("");
  }

  async load() {
    if (this.isLoaded || this.#isAsking || !this.board) return;
    this.#isAsking = true;
    this.#show("Asking how it is solved …");
    try {
      const found = await this.#latest.run((signal) => ask("steps", { board: this.board }, signal));
      if (!found) return;
      this.steps = found.steps;
      this.isCut = found.truncated;
      this.isLoaded = true;
      this.go(0);
    } catch (error) {
      this.#isAsking = false;
      this.#show(error.message);
    }
  }

  by(number) {
    this.stop();
    this.go(this.place + number);
  }

  go(place) {
    if (!this.isLoaded) return;
    const to = Math.max(0, Math.min(this.steps.length, place));
    const from = this.place <= to ? this.place : 0;
    this.cells = from ? this.cells.slice() : givenOf(this.board);
    for (let done = from; done < to; done++) {
      const { black = [], white = [], unknown = [] } = this.steps[done];
      for (const cell of black) this.cells[cell] = BLACK;
      for (const cell of white) this.cells[cell] = WHITE;
      for (const cell of unknown) this.cells[cell] = UNKNOWN;
    }
    this.place = to;
    const step = this.steps[to - 1];
    this.marks = step ? { fresh: new Set([...(step.black ?? []), ...(step.white ?? [])]), line: step.line } : {};
    this.#show();
    this.onChange();
  }

  nextGuess() {
    if (!this.isLoaded) return;
    this.stop();
    const guess = this.steps.findIndex((step, index) => index >= this.place && step.kind === "guessed");
    if (guess >= 0) this.go(guess + 1);
    else this.#show("No guess comes after this.");
  }

  play() {
    if (this.isPlaying) return this.stop();
    if (!this.isLoaded) return;
    if (this.place === this.steps.length) this.go(0);
    this.#timer = -1;
    this.#tick();
  }

  stop() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    element("step-play").textContent = "Play";
    element("step-words").setAttribute("aria-live", "polite");
  }

  #tick() {
    clearTimeout(this.#timer);
    element("step-play").textContent = "Pause";
    element("step-words").setAttribute("aria-live", "off");
    const speed = Number(element("step-speed").value);
    const frame = 1000 / Math.min(speed, 60);
    this.#timer = setTimeout(() => {
      this.go(this.place + Math.max(1, Math.round((speed * frame) / 1000)));
      if (this.place >= this.steps.length) this.stop();
      else this.#tick();
    }, frame);
  }

  #show(text = this.#words()) {
    const slider = element("step-place");
    slider.max = this.steps.length;
    slider.value = this.place;
    slider.setAttribute("aria-valuetext", text);
    element("step-words").textContent = text;
    element("step-guess").disabled = !this.steps.some((step) => step.kind === "guessed");
  }

  #words() {
    const count = this.steps.length;
    if (!count) return "There is nothing to step through: nothing follows from the clues.";
    const cut = this.isCut ? " (the first ones)" : "";
    if (!this.place) return `${many(count, "step")}${cut}. Play, or step with the arrows.`;
    return `${this.place} of ${count}${cut}: ${sentence(this.#stepWords(this.steps[this.place - 1]))}`;
  }

  #stepWords({ kind, line, black = [], white = [], unknown = [] }) {
    const number = black.length + white.length;
    switch (kind) {
      case "painted":
        return line ? lineWords(this.board, line, black, white) : `lines give ${many(number, "cell")}`;
      case "probed":
        return `probing gives ${many(number, "cell")}`;
      case "guessed":
        return number === 1
          ? `a guess: ${placeWords(this.board, black[0] ?? white[0])} is ${black.length ? "black" : "white"}`
          : `a guess of ${many(number, "cell")}`;
      case "taken_back":
        return `a contradiction: ${many(unknown.length + number, "cell")} taken back`;
      default:
        return `a restart: ${many(unknown.length, "cell")} taken back`;
    }
  }
}
