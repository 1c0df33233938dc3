// A puzzle is picked: samples, and sets by name and number.

import { get } from "./api.js";

const element = (id) => document.getElementById(id);

export class Picks {
  #latest;

  // `latest` is that of all ways in: whatever was asked for last is shown.
  constructor(latest, onBoard) {
    this.#latest = latest;
    this.onBoard = onBoard;
    element("set-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const query = new URLSearchParams({ name: element("set-name").value.trim(), number: element("set-number").value || 1 });
      this.#show(`/api/set?${query}`);
    });
  }

  fill({ samples, sets }) {
    for (const id of ["samples", "welcome-samples"]) {
      element(id).replaceChildren(
        ...samples.map((name, at) => {
          const button = document.createElement("button");
          button.className = "chip";
          button.textContent = name;
          button.addEventListener("click", () => this.#show(`/api/sample?number=${at + 1}`));
          return button;
        }),
      );
    }
    element("set-names").replaceChildren(
      ...[...sets, "boardgen:25x25x1000:seed=7", "boardgen:10x10x1000:seed=1"].map((name) => new Option(name, name)),
    );
  }

  async #show(path) {
    try {
      const found = await this.#latest.run((signal) => get(path, signal));
      if (!found) return;
      element("set-fault").textContent = (found.faults ?? []).map(([, what]) => what).join("; ");
      if (found.board) this.onBoard(found);
    } catch (error) {
      element("set-fault").textContent = error.message;
    }
  }
}
