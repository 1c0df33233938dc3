// The player's attempt: the cells set so far, whether they are still right, hints, and the moment when it is solved.

import { ask, Latest } from "./api.js";
import { finishedOf, isSolved, onelineOf } from "./clues.js";
import { element } from "./elements.js";
import { History } from "./history.js";
import { attemptAt, keep, keepAttempt, keepAttempts, kept } from "./storage.js";
import { BLACK, UNKNOWN, WHITE, cellsFrom, clockTime, givenOf, linesInWords, lineWords, many, placeWords, sentence, textFrom } from "./words.js";

const UNDO_CHARACTERS = 50_000; // that are kept of the boards to which undo leads, and of those of redo

export class Attempt {
  #latest = new Latest();
  #told = null;
  #asking = "";
  #marks = {};
  #key = null; // of the puzzle under which the attempt is kept

  // onChange: called when what is to be shown has changed, with the cell or line to scroll to, if any. `answer`
  // returns what is known of the puzzle. `isPlaying`: whether the attempt is what one looks at.
  constructor(onChange, answer, isPlaying) {
    this.onChange = onChange;
    this.answer = answer;
    this.history = new History("mine", () => this.cells, (cells) => this.#become(cells));
    this.start(null);
    const click = { check: () => this.check(), hint: () => this.hint(), take: () => this.#takeHint(),
      clear: () => this.clear(), forget: () => this.#forget() };
    for (const [name, act] of Object.entries(click)) element(`mine-${name}`).addEventListener("click", act);
    const mistakes = element("mine-mistakes");
    mistakes.checked = kept().mistakes ?? false;
    mistakes.addEventListener("change", () => {
      keep({ mistakes: mistakes.checked });
      this.onChange();
    });
    setInterval(() => {
      if (document.hidden || !isPlaying() || !this.hasBegun || this.isSolved) return;
      this.seconds++;
      this.#showClock();
    }, 1000);
    addEventListener("pagehide", () => this.#keepSeconds());
    addEventListener("storage", () => this.#takeOver());
  }

  // Begins with a puzzle: from what is kept of an attempt at it, otherwise from the cells that it gives. The attempt
  // stays where only the title has changed.
  start(board, link = "") {
    const key = board && `${onelineOf(board)} ${board.cells ?? ""}`;
    const isSame = key === this.#key && board;
    if (!isSame) this.#keepSeconds();
    this.board = board;
    this.link = link;
    if (isSame) return;
    this.#latest.cancel();
    this.#key = key;
    this.given = givenOf(board);
    const before = board && attemptAt(key);
    this.cells = before?.cells.length === this.given.length ? cellsFrom(before.cells) : this.given.slice();
    this.seconds = before?.seconds ?? 0;
    this.history.start(before?.back?.map(cellsFrom), before?.forward?.map(cellsFrom));
    this.#changed();
  }

  get hasBegun() {
    return this.cells.some((cell, index) => cell !== this.given[index]);
  }

  paint(index, value) {
    if (this.cells[index] === value) return;
    if (this.history.keepStroke()) this.cells = this.cells.slice();
    this.cells[index] = value;
    this.#changed();
    this.onChange();
  }

  endStroke(isTakenBack) {
    this.history.endStroke(isTakenBack);
    this.#keep();
    if (this.isSolved) this.#bringIntoView();
  }

  clear() {
    if (!this.hasBegun) return;
    this.history.keep();
    this.#become(this.given.slice());
  }

  #become(cells) {
    this.cells = cells;
    this.#changed();
    this.#keep();
    this.onChange();
    if (this.isSolved) this.#bringIntoView();
  }

  // The cells are others: what was said of those before holds no more.
  #changed() {
    this.#latest.cancel();
    this.isSolved = Boolean(this.board) && isSolved(this.board, this.cells);
    const { title } = this.board ?? {};
    this.#say(this.isSolved ? `Solved${this.seconds ? ` in ${clockTime(this.seconds)}` : ""}.${title ? ` ${title}` : ""}` : "");
    this.#showClock();
  }

  #showClock() {
    element("mine-clock").textContent = clockTime(this.seconds);
  }

  #keep() {
    if (!this.#key || !(this.hasBegun || attemptAt(this.#key))) return;
    const { isSolved, link, seconds, board: { title, rows, columns } } = this;
    const name = title || `${columns.length}x${rows.length}`;
    const { back, forward } = this.history.last(Math.ceil(UNDO_CHARACTERS / this.cells.length));
    keepAttempt({ puzzle: this.#key, cells: textFrom(this.cells), back: back.map(textFrom), forward: forward.map(textFrom),
      seconds, link, name, isSolved });
  }

  // Keeps the time alone: other cells than those here were kept by another tab, or deleted.
  #keepSeconds() {
    if (this.#key && attemptAt(this.#key)?.cells === textFrom(this.cells)) this.#keep();
  }

  // Takes over what another tab has kept of this puzzle; undo leads back to the cells here.
  #takeOver() {
    const { cells, seconds } = attemptAt(this.#key) ?? {};
    if (!cells || cells === textFrom(this.cells)) return;
    this.history.keep();
    this.seconds = seconds;
    this.cells = cellsFrom(cells);
    this.#changed();
    this.onChange();
  }

  #forget() {
    if (!confirm("Delete your attempts at all puzzles from this browser? Undo cannot bring them back.")) return;
    keepAttempts([]);
    this.#say("The attempts at all puzzles are deleted; what you see is kept again with the next cell that you set.");
  }

  // What the board marks: finished clues, mistakes where the player wants to see them, and what was said last.
  get marks() {
    if (!this.board) return {};
    const right = element("mine-mistakes").checked && this.#onlySolution();
    const wrong = right && new Set(this.#wrongAgainst(right));
    return { finished: finishedOf(this.board, this.cells), wrong, isPicture: this.isSolved, ...this.#marks };
  }

  #wrongAgainst(right) {
    return Array.from(this.cells.keys()).filter((index) => this.cells[index] !== UNKNOWN && this.cells[index] !== right[index]);
  }

  check() {
    const right = this.#onlySolution();
    const wrong = right && this.#wrongAgainst(right);
    return this.#ask("check", (found) => this.#tellCheck(found), right && { right: !wrong.length, wrong, only: true });
  }

  #tellCheck({ right, wrong, only }) {
    const number = this.cells.filter((cell) => cell !== UNKNOWN).length;
    if (this.answer()?.verdict === "unsolvable") return this.#say("The puzzle has no solution.");
    if (!number) return this.#say("No cell is set yet.");
    if (right === null) return this.#say("It cannot be told: no solution is known.");
    if (right) return this.#say(`Still right: ${many(number, "cell")} set, and the board can be finished from there.`);
    const places = wrong.slice(0, 3).map((cell) => placeWords(this.board, cell)).join("; ");
    const than = only ? "" : ", held against the nearest solution";
    this.#say(`${sentence(many(wrong.length, "cell"))} wrong${than}: ${places}${wrong.length > 3 ? " …" : ""}`, { wrong: new Set(wrong) });
  }

  // The cells of the only solution; null if it is not known to be the only one.
  #onlySolution() {
    const { verdict, solutions } = this.answer() ?? {};
    return verdict === "unique" ? cellsFrom(solutions[0]) : null;
  }

  async hint() {
    if (this.isSolved) return;
    await this.#ask("hint", ({ wrong, hint }) => {
      if (wrong.length) {
        return this.#say(`Nothing fits ${linesInWords(wrong)} any more: some cell there is wrong.`, { wrongLines: wrong });
      }
      if (hint) {
        const from = this.#isSetIn(hint.line) ? "its clue and the cells that are set there" : "its clue alone";
        return this.#sayHint(`${sentence(lineWords(this.board, hint.line, hint.black, hint.white))}. This follows from ${from}.`, hint);
      }
      const none = "No single row or column shows another cell.";
      const right = this.#onlySolution();
      if (!right || this.#wrongAgainst(right).length) return this.#say(`${none} Try a colour for a cell, and see whether it fits.`);
      const cell = this.cells.indexOf(UNKNOWN);
      const isBlack = right[cell] === BLACK;
      this.#sayHint(`${none} From the solution: ${placeWords(this.board, cell)} is ${isBlack ? "black" : "white"}.`,
        { black: isBlack ? [cell] : [], white: isBlack ? [] : [cell] });
    });
  }

  #isSetIn([kind, number]) {
    const width = this.board.columns.length;
    return this.cells.some((colour, cell) => colour !== UNKNOWN && (kind === "row" ? Math.floor(cell / width) : cell % width) === number - 1);
  }

  #sayHint(text, hint) {
    this.#say(text, { line: hint.line, hinted: new Set([...hint.black, ...hint.white]) });
    this.#told = hint;
    element("mine-take").hidden = false;
  }

  #takeHint() {
    if (!this.#told) return;
    this.history.keep();
    const cells = this.cells.slice();
    for (const cell of this.#told.black) cells[cell] = BLACK;
    for (const cell of this.#told.white) cells[cell] = WHITE;
    this.#become(cells);
    element("mine-hint").focus();
  }

  // Asks a question once: a second click while it runs asks nothing. `known`: the answer, where it is known.
  async #ask(call, told, known = null) {
    if (!this.board || this.#asking === call) return;
    const before = element("hint").textContent;
    this.#say("Asking …");
    this.#asking = call;
    try {
      const question = { board: this.board, cells: textFrom(this.cells) };
      const found = await this.#latest.run((signal) => known ?? ask(call, question, signal));
      if (!found) return;
      told(found);
      if (element("hint").textContent === before) element("hint").append(" Nothing has changed since.");
    } catch (error) {
      this.#say(error.message);
    }
    const { line, wrongLines } = this.#marks;
    const [kind, number] = line ?? wrongLines?.[0] ?? [];
    this.onChange({ [kind === "row" ? "y" : "x"]: kind && number - 1 });
    this.#bringIntoView();
  }

  // What was said last, and the button for it.
  #bringIntoView() {
    for (const id of ["hint", "mine-take", "mine-next"]) element(id).scrollIntoView({ block: "nearest" });
  }

  #say(text, marks = {}) {
    this.#marks = marks;
    this.#told = null;
    this.#asking = "";
    element("hint").textContent = text;
    element("hint").classList.toggle("solved", this.isSolved);
    element("mine-take").hidden = true;
  }
}
