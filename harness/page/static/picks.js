// A puzzle is picked: samples, and sets by name and number.

import { ask } from "./api.js";

const element = (id) => document.getElementById(id);

export class Picks {
  #latest;
  #sets = [];

  // `latest` is that of all ways in: whatever was asked for last is shown.
  constructor(latest, onBoard, onNothing) {
    this.#latest = latest;
    this.onBoard = onBoard;
    this.onNothing = onNothing;
    element("set-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const name = element("set-name").value.trim();
      const file = this.#sets.includes(name) ? `sets/${name}.txt` : null;
      this.#show({ name, number: Math.max(1, Math.round(element("set-number").value) || 1), file });
    });
  }

  fill({ samples, sets }) {
    this.#sets = sets;
    for (const id of ["samples", "welcome-samples"]) {
      element(id).replaceChildren(
        ...samples.map((board) => {
          const button = document.createElement("button");
          button.className = "chip";
          button.textContent = board.title;
          button.addEventListener("click", () => {
            this.#latest.cancel();
            this.onBoard({ board });
          });
          return button;
        }),
      );
    }
    element("set-names").replaceChildren(
      ...[...sets, "boardgen:25x25x1000:seed=7", "boardgen:10x10x1000:seed=1"].map((name) => new Option(name, name)),
    );
  }

  async #show(question) {
    try {
      const found = await this.#latest.run((signal) => ask("set", question, signal));
      if (!found) return;
      element("set-fault").textContent = (found.faults ?? []).map(([, what]) => what).join("; ");
      if (found.board) this.onBoard(found);
      else this.onNothing();
    } catch (error) {
      element("set-fault").textContent = error.message;
      this.onNothing();
    }
  }
}
