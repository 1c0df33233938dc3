// The puzzle comes in: text that is read while one types, files, pictures, several puzzles of one file.

import { ask } from "./api.js";

const TYPING_MS = 160;
const element = (id) => document.getElementById(id);

export class PuzzleInput {
  #latest;
  #file = null; // what was opened, where it is no text
  #number = 1;
  #count = 0;
  #titles = "";
  #timer = 0;
  mostBytes = Infinity; // of a file, until the facts have come

  // `latest` is that of all ways in. onBoard: called with the findings that contain a board; onNothing: when there is
  // none; onBlank: when nothing is to be read.
  constructor(latest, onBoard, onNothing, onBlank) {
    this.#latest = latest;
    this.onBoard = onBoard;
    this.onNothing = onNothing;
    this.onBlank = onBlank;
    this.text = element("text");
    this.gutter = element("gutter");
    this.text.addEventListener("input", (event) => {
      this.cancel();
      this.#file = null;
      this.#number = 1;
      element("picture-options").hidden = true;
      this.#markLines([]);
      const isWhole = /^insertFrom|^deleteByCut/.test(event.inputType ?? "");
      this.#timer = setTimeout(() => this.read(), isWhole ? 0 : TYPING_MS);
    });
    this.text.addEventListener("scroll", () => (this.gutter.scrollTop = this.text.scrollTop), { passive: true });
    element("open").addEventListener("click", () => element("file").click());
    element("file").addEventListener("change", () => {
      const [file] = element("file").files;
      if (file) this.open(file);
      element("file").value = "";
    });
    for (const id of ["picture-width", "picture-invert"]) element(id).addEventListener("change", () => this.read());
    element("chooser-number").addEventListener("change", (event) => this.#choose(Number(event.target.value)));
    element("chooser-back").addEventListener("click", () => this.#choose(this.#number - 1));
    element("chooser-next").addEventListener("click", () => this.#choose(this.#number + 1));
    this.#listenForDrops();
    this.#markLines([]);
  }

  // Gives up what is still to be read.
  cancel() {
    clearTimeout(this.#timer);
    this.#latest.cancel();
  }

  // Puts a text there as if it had been typed; nothing is read.
  put(text) {
    this.cancel();
    this.#file = null;
    this.text.value = text;
    this.#showFaults([], []);
    this.#showChooser({ count: 0 });
    element("picture-options").hidden = true;
  }

  async open(file) {
    clearTimeout(this.#timer);
    this.#number = 1;
    element("picture-options").hidden = true; // those of a picture before
    element("picture-invert").checked = false;
    let data;
    try {
      if (file.size > this.mostBytes) throw new Error(`more than ${this.mostBytes >> 20} MiB; puzzles are smaller`);
      data = await this.#latest.run(() => file.arrayBuffer());
      if (data?.byteLength === 0) throw new Error("it is empty");
    } catch (error) {
      return this.#refuse(`${file.name} cannot be read: ${error.message}`); // a folder, for one
    }
    if (!data) return;
    const head = new Uint8Array(data.slice(0, 4096));
    const isText = !head.includes(0) && !/^image\//.test(file.type);
    this.#file = isText && data.byteLength < 500_000 ? null : data;
    this.text.value = this.#file ? "" : new TextDecoder().decode(data);
    this.#markLines([]);
    await this.read(file.name);
  }

  async read(name = "") {
    const data = this.#file ?? this.text.value;
    if (!this.#file && !data.trim()) {
      this.#latest.cancel();
      this.#showFaults([], []);
      this.#showChooser({ count: 0 });
      this.onBlank();
      return;
    }
    const question = { number: this.#number, columns: null, isInverted: false };
    const width = element("picture-width").value;
    if (this.#file && !element("picture-options").hidden) {
      question.columns = Math.max(0, Math.round(width)) || null;
      question.isInverted = element("picture-invert").checked;
    }
    try {
      const found = await this.#latest.run((signal) => ask("read", question, signal, data));
      if (found) this.#take(found, name, width);
    } catch (error) {
      this.#refuse(error.message);
    }
  }

  #take(found, name, askedWidth) {
    const isPicture = found.format === "picture";
    if (isPicture) {
      const field = element("picture-width");
      element("picture-options").hidden = false;
      if (field.value === askedWidth) field.value = found.board.columns.length; // else somebody types another width
    }
    this.#showFaults(found.faults ?? [], found.warnings ?? []);
    this.#showChooser(found);
    if (found.board) {
      if (isPicture && name) found.board.title = name.replace(/\.[^.]*$/, "");
      this.onBoard(found);
    } else {
      const [[line, what] = []] = found.faults ?? [];
      this.onNothing(line ? `line ${line}: ${what}` : what);
    }
  }

  #refuse(why) {
    this.cancel();
    this.#showFaults([[null, why]], []);
    this.#showChooser({});
    this.onNothing(why);
  }

  #choose(number) {
    this.#number = Math.min(this.#count, Math.max(1, number));
    this.read();
  }

  #showChooser({ count = 0, number = 1, titles = [] }) {
    this.#count = Math.max(count, 0);
    this.#number = number;
    element("chooser").hidden = count < 2;
    if (count < 2) return;
    const select = element("chooser-number");
    if (this.#titles !== titles.join("\n")) {
      select.replaceChildren(...titles.map((title, at) => new Option(`${at + 1} of ${count}: ${title}`, at + 1)));
      this.#titles = titles.join("\n");
    }
    select.value = number;
    element("chooser-back").disabled = number <= 1;
    element("chooser-next").disabled = number >= count;
  }

  #showFaults(faults, warnings) {
    this.#markLines(faults.map(([line]) => line).filter(Boolean));
    const shown = faults.slice(0, 8).map(([line, what]) => {
      const words = document.createElement("p");
      words.className = "fault";
      if (line && !this.#file) {
        const button = document.createElement("button");
        button.className = "link";
        button.textContent = `line ${line}`;
        button.addEventListener("click", () => this.#select(line));
        words.append(button, `: ${what}`);
      } else {
        words.textContent = line ? `line ${line}: ${what}` : what;
      }
      return words;
    });
    for (const warning of warnings.slice(0, 4)) {
      const words = document.createElement("p");
      words.className = "quiet";
      words.textContent = warning;
      shown.push(words);
    }
    element("faults").replaceChildren(...shown);
    this.text.setAttribute("aria-invalid", faults.length > 0);
  }

  // Numbers of lines beside the text, those at fault marked.
  #markLines(wrong) {
    const numbers = this.text.value.split("\n").map((_, at) => `${at + 1}\n`);
    const parts = [];
    let next = 0;
    for (const line of [...new Set(wrong)].filter((one) => one <= numbers.length).sort((a, b) => a - b)) {
      const mark = document.createElement("mark");
      mark.textContent = line;
      parts.push(numbers.slice(next, line - 1).join(""), mark, "\n");
      next = line;
    }
    this.gutter.replaceChildren(...parts, numbers.slice(next).join(""));
    this.gutter.scrollTop = this.text.scrollTop;
  }

  #select(line) {
    const lines = this.text.value.split("\n");
    const begin = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    this.text.focus();
    this.text.setSelectionRange(begin, begin + (lines[line - 1]?.length ?? 0));
  }

  #listenForDrops() {
    const sign = element("drop");
    let depth = 0;
    const hasFile = (event) => event.dataTransfer?.types.includes("Files");
    addEventListener("dragenter", (event) => {
      if (!hasFile(event)) return;
      depth++;
      sign.hidden = false;
    });
    addEventListener("dragleave", (event) => {
      if (hasFile(event) && --depth <= 0) sign.hidden = true;
    });
    addEventListener("dragover", (event) => hasFile(event) && event.preventDefault());
    addEventListener("drop", (event) => {
      depth = 0;
      sign.hidden = true;
      const [file] = event.dataTransfer?.files ?? [];
      if (!file) return;
      event.preventDefault();
      element("tab-text").click();
      this.open(file);
    });
    addEventListener("paste", (event) => {
      const [file] = event.clipboardData?.files ?? [];
      if (!file || event.clipboardData.types.includes("text/plain")) return; // spreadsheets bring a picture as well
      event.preventDefault();
      this.open(file);
    });
  }
}
