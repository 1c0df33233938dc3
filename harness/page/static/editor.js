// The mode in which the player draws a board, from which the page makes the clues.

import { cluesOf, onelineOf } from "./clues.js";
import { element } from "./elements.js";
import { History } from "./history.js";
import { keep, kept } from "./storage.js";
import { BLACK, WHITE, cellsFrom, textFrom } from "./words.js";

export class Editor {
  // onChange: called with the board whenever a cell or the size has changed.
  constructor(onChange) {
    this.onChange = onChange;
    this.longestSide = Infinity; // until the server has told it
    const { width, height, cells } = kept().drawing ?? { width: 15, height: 15, cells: "0".repeat(225) };
    this.state = { width, height, cells: cellsFrom(cells) };
    this.history = new History("draw", () => this.state, (state) => this.#become(state));
    this.#show();
    element("draw-invert").addEventListener("click", () => this.#change((cells) => cells.map((cell) => 1 - cell)));
    element("draw-clear").addEventListener("click", () => this.#change((cells) => cells.map(() => WHITE)));
    for (const id of ["draw-width", "draw-height"]) {
      element(id).addEventListener("change", () =>
        this.resize(Number(element("draw-width").value), Number(element("draw-height").value)),
      );
    }
  }

  // The puzzle that is drawn.
  get puzzle() {
    const board = cluesOf(this.state.cells, this.state.width, this.state.height);
    return { board, link: onelineOf(board), faults: [], warnings: [] };
  }

  // Draws on from a board that was there.
  take(width, height, cells) {
    this.history.keep();
    this.#become({ width, height, cells: cells.map((cell) => (cell === BLACK ? BLACK : WHITE)) });
  }

  paint(index, value) {
    const colour = value === BLACK ? BLACK : WHITE;
    if (this.state.cells[index] === colour) return;
    const cells = this.history.keepStroke() ? this.state.cells.slice() : this.state.cells;
    cells[index] = colour;
    this.state = { ...this.state, cells };
    this.onChange();
  }

  endStroke(isTakenBack) {
    this.history.endStroke(isTakenBack);
    this.#keep();
  }

  resize(width, height) {
    const within = (size, now) => Math.min(this.longestSide, Math.max(1, Math.round(size) || now)); // empty: as it is
    const [w, h] = [within(width, this.state.width), within(height, this.state.height)];
    if (w === this.state.width && h === this.state.height) return this.#show();
    const cells = new Int8Array(w * h).fill(WHITE);
    for (let y = 0; y < Math.min(h, this.state.height); y++) {
      for (let x = 0; x < Math.min(w, this.state.width); x++) cells[y * w + x] = this.state.cells[y * this.state.width + x];
    }
    this.history.keep();
    this.#become({ width: w, height: h, cells });
  }

  #change(made) {
    this.history.keep();
    this.#become({ ...this.state, cells: made(this.state.cells) });
  }

  #become(state) {
    this.state = state;
    this.#keep();
    this.#show();
    this.onChange();
  }

  #keep() {
    keep({ drawing: { ...this.state, cells: textFrom(this.state.cells) } });
  }

  #show() {
    element("draw-width").value = this.state.width;
    element("draw-height").value = this.state.height;
  }
}
