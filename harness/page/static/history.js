// States to go back to, and forward again.

const MOST = 300;

export class History {
  #back = [];
  #forward = [];

  // Keeps a state that is about to be changed.
  keep(state) {
    this.#back.push(state);
    if (this.#back.length > MOST) this.#back.shift();
    this.#forward = [];
  }

  // Returns the state before, or undefined; `now` is what can be gone forward to again.
  undo(now) {
    const state = this.#back.pop();
    if (state) this.#forward.push(now);
    return state;
  }

  redo(now) {
    const state = this.#forward.pop();
    if (state) this.#back.push(now);
    return state;
  }

  get canUndo() {
    return this.#back.length > 0;
  }

  get canRedo() {
    return this.#forward.length > 0;
  }

  clear() {
    this.#back = [];
    this.#forward = [];
  }
}
