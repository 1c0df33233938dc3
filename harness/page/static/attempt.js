// One's own attempt: cells that one sets, whether they are still right, and hints.

import { ask, Latest } from "./api.js";
import { History } from "./history.js";
import { BLACK, UNKNOWN, WHITE, cellsFrom, linesInWords, lineWords, many, placeWords, sentence, textFrom } from "./words.js";

const element = (id) => document.getElementById(id);

export class Attempt {
  #history = new History();
  #latest = new Latest();
  #isInStroke = false;
  #told = null;

  // onChange: called when what is to be shown has changed. `solutions` returns those that are known.
  constructor(onChange, solutions) {
    this.onChange = onChange;
    this.solutions = solutions;
    this.start(null);
    element("mine-check").addEventListener("click", () => this.check());
    element("mine-hint").addEventListener("click", () => this.hint());
    element("mine-take").addEventListener("click", () => this.#takeHint());
    element("mine-undo").addEventListener("click", () => this.undo());
    element("mine-clear").addEventListener("click", () => this.clear());
  }

  // Begins with a puzzle, from the cells that it gives.
  start(board) {
    this.#latest.cancel();
    this.board = board;
    const count = board ? board.rows.length * board.columns.length : 0;
    this.given = board?.cells ? cellsFrom(board.cells) : new Int8Array(count).fill(UNKNOWN);
    this.cells = this.given.slice();
    this.#history.clear();
    this.#say("");
  }

  paint(index, value) {
    if (this.cells[index] === value) return;
    if (!this.#isInStroke) {
      this.#history.keep(this.cells);
      this.cells = this.cells.slice();
    }
    this.#isInStroke = true;
    this.cells[index] = value;
    this.#latest.cancel();
    this.#say("");
    this.sayIfDone();
    this.onChange();
  }

  endStroke() {
    this.#isInStroke = false;
  }

  undo() {
    this.#become(this.#history.undo(this.cells));
  }

  redo() {
    this.#become(this.#history.redo(this.cells));
  }

  clear() {
    this.#history.keep(this.cells);
    this.#become(this.given.slice());
  }

  #become(cells) {
    if (!cells) return;
    this.#latest.cancel();
    this.cells = cells;
    this.#say("");
    this.onChange();
  }

  async check() {
    this.#latest.cancel();
    const number = this.cells.filter((one) => one !== UNKNOWN).length;
    if (!number) return this.#say("No cell is set yet.", {});
    const told = (found) => {
      if (found.right) return this.#say(`Still right: ${many(number, "cell")} set, and the board can be finished from there.`, {});
      if (found.right === null) return this.#say("It cannot be told: no solution is known.", {});
      const places = found.wrong.slice(0, 3).map((cell) => placeWords(this.board, cell)).join("; ");
      const more = found.wrong.length > 3 ? " …" : "";
      const than = found.only ? "" : ", held against the nearest solution";
      this.#say(`${sentence(many(found.wrong.length, "cell"))} wrong${than}: ${places}${more}`, { wrong: new Set(found.wrong) });
    };
    const right = this.#onlySolution();
    if (!right) return this.#asked("check", told);
    const wrong = Array.from(this.cells.keys()).filter((at) => this.cells[at] !== UNKNOWN && this.cells[at] !== right[at]);
    told({ right: !wrong.length, wrong, only: true });
    this.onChange();
  }

  // The cells of the only solution; null if it is not known to be the only one.
  #onlySolution() {
    const { verdict, solutions } = this.solutions();
    return verdict === "unique" ? cellsFrom(solutions[0]) : null;
  }

  async hint() {
    await this.#asked("hint", ({ wrong, hint }) => {
      if (wrong.length) {
        return this.#say(`Nothing fits ${linesInWords(wrong)} any more: some cell there is wrong.`, { wrongLines: wrong });
      }
      if (hint) {
        this.#say(`${sentence(lineWords(this.board, hint.line, hint.black, hint.white))}.`, { line: hint.line });
        this.#told = hint;
      } else if (this.cells.every((one) => one !== UNKNOWN)) {
        return this.#say("The board is full, and every line is right.", {});
      } else if (!this.#hintFromSolution()) {
        return this.#say("No single line tells anything more; one has to try a cell and see.", {});
      }
      element("mine-take").hidden = false;
    });
  }

  // Where no line tells anything: a cell of the only solution.
  #hintFromSolution() {
    const right = this.#onlySolution();
    if (!right || this.cells.some((one, at) => one !== UNKNOWN && one !== right[at])) return false;
    const cell = this.cells.findIndex((one) => one === UNKNOWN);
    const colour = right[cell] === BLACK ? "black" : "white";
    this.#say(`No single line tells anything more. From the solution: ${placeWords(this.board, cell)} is ${colour}.`, {});
    this.#told = { black: colour === "black" ? [cell] : [], white: colour === "white" ? [cell] : [] };
    return true;
  }

  #takeHint() {
    if (!this.#told) return;
    this.#latest.cancel();
    this.#history.keep(this.cells);
    const cells = this.cells.slice();
    for (const cell of this.#told.black) cells[cell] = BLACK;
    for (const cell of this.#told.white) cells[cell] = WHITE;
    this.cells = cells;
    this.#say("");
    this.sayIfDone();
    this.onChange();
    element("mine-hint").focus();
  }

  sayIfDone() {
    const { solutions } = this.solutions();
    const isDone = solutions?.some((solution) =>
      this.cells.every((one, at) => (one === BLACK) === (solution[at] === "1")),
    );
    if (isDone) this.#say("Solved.");
  }

  async #asked(what, told) {
    if (!this.board) return;
    const question = { board: this.board, cells: textFrom(this.cells) };
    this.#say("Asking …");
    try {
      const found = await this.#latest.run((signal) => ask(what, question, signal));
      if (found) told(found);
    } catch (error) {
      this.#say(error.message, {});
    }
    this.onChange();
  }

  #say(words, marks = {}) {
    this.marks = marks;
    this.#told = null;
    element("hint").textContent = words;
    element("mine-take").hidden = true;
  }
}
