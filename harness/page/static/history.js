// Undo and redo: states to go back to, and forward again, with the buttons for that.

import { element } from "./elements.js";

const MOST = 300;

export class History {
  #isInStroke = false;
  #undone = []; // what redo led to before the last change
  #back = [];
  #forward = [];

  // `name` begins the ids of the buttons. `now` returns the state; `become` takes the one to go to.
  constructor(name, now, become) {
    this.buttons = { undo: element(`${name}-undo`), redo: element(`${name}-redo`) };
    this.now = now;
    this.become = become;
    for (const way of ["undo", "redo"]) this.buttons[way].addEventListener("click", () => this[way]());
    this.#show();
  }

  // Keeps the state, which is about to be changed.
  keep() {
    this.#back.push(this.now());
    if (this.#back.length > MOST) this.#back.shift();
    [this.#undone, this.#forward] = [this.#forward, []];
    this.#show();
  }

  // Keeps the state before the first change of a stroke; returns whether this is the first.
  keepStroke() {
    const isFirst = !this.#isInStroke;
    if (isFirst) this.keep();
    this.#isInStroke = true;
    return isFirst;
  }

  endStroke(isTakenBack) {
    if (isTakenBack && this.#isInStroke) {
      this.#forward = this.#undone;
      this.#go(this.#back, []);
    }
    this.#isInStroke = false;
  }

  // The last steps that undo and redo lead to, at most so many each way.
  last(most) {
    return { back: this.#back.slice(-most), forward: this.#forward.slice(-most) };
  }

  undo() {
    this.#go(this.#back, this.#forward);
  }

  redo() {
    this.#go(this.#forward, this.#back);
  }

  #go(from, to) {
    if (!from.length) return;
    this.#isInStroke = false;
    to.push(this.now());
    this.become(from.pop());
    this.#show();
  }

  // Begins again, with states to go back and forward to.
  start(back = [], forward = []) {
    this.#back = back;
    this.#forward = forward;
    this.#show();
  }

  #show() {
    this.buttons.undo.ariaDisabled = !this.#back.length; // a button that is disabled would lose the focus
    this.buttons.redo.ariaDisabled = !this.#forward.length;
  }
}
