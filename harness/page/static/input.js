// The input of a puzzle: typed text, files, pictures, the choice among several puzzles of a file.

import { ask } from "./api.js";
import { element, made } from "./elements.js";
import { linkIn } from "./takeaway.js";

const TYPING_MS = 160;
const delay = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

export class PuzzleInput {
  #file = null; // what was opened, where it is no text: its bytes and its name
  #number = 1;
  #count = 0;
  #titles = "";
  mostBytes = Infinity; // of a file, until the facts have come

  // `bring` takes what reads a puzzle, and whether the puzzle is a new one; it shows what is read unless another
  // puzzle has come meanwhile.
  constructor(bring) {
    this.bring = bring;
    this.text = element("text");
    this.gutter = element("gutter");
    this.text.addEventListener("input", (event) => {
      this.#forgetFile();
      this.#markLines([]);
      const isWhole = /^insertFrom|^deleteByCut/.test(event.inputType ?? "");
      this.read(isWhole, isWhole ? 0 : TYPING_MS);
    });
    this.text.addEventListener("scroll", () => (this.gutter.scrollTop = this.text.scrollTop), { passive: true });
    element("open").addEventListener("click", () => element("file").click());
    element("file").addEventListener("change", () => {
      const [file] = element("file").files;
      if (file) this.open(file);
      element("file").value = "";
    });
    for (const id of ["picture-width", "picture-invert"]) element(id).addEventListener("change", () => this.read(false));
    element("chooser-number").addEventListener("change", (event) => this.#choose(Number(event.target.value)));
    element("chooser-back").addEventListener("click", () => this.#choose(this.#number - 1));
    element("chooser-next").addEventListener("click", () => this.#choose(this.#number + 1));
    this.#listenForDrops();
    this.#markLines([]);
  }

  #forgetFile() {
    this.#file = null;
    this.#number = 1;
    element("picture-options").hidden = true;
    element("picture-invert").checked = false;
  }

  // Puts a text there as if it had been typed; nothing is read.
  put(text, number = 1) {
    this.#forgetFile();
    this.#number = number;
    this.text.value = text;
    this.#markLines([]);
  }

  open(file) {
    element("tab-text").click(); // where its faults are
    return this.bring(async (signal) => {
      const data = await this.#contentOf(file);
      if (signal.aborted) return undefined;
      const head = new Uint8Array(data.slice(0, 4096));
      const isText = !head.includes(0) && !/^image\//.test(file.type) && data.byteLength < 500_000;
      const content = isText ? new TextDecoder().decode(data) : { data, name: file.name };
      const found = await this.#read(signal, content);
      if (signal.aborted) return undefined;
      // Without a puzzle, and without lines to correct, it takes the place of nothing.
      const isOfUse = found.board || (isText && found.faults?.some(([line]) => line));
      if (!isOfUse) throw new Error(`${file.name} cannot be read: ${found.faults?.[0][1] ?? "it is blank"}`);
      this.#forgetFile();
      if (!isText) this.#file = content;
      return found;
    }, true);
  }

  async #contentOf(file) {
    let data;
    try {
      if (file.size > this.mostBytes) throw new Error(`more than ${this.mostBytes >> 20} MiB; puzzles are smaller`);
      data = await file.arrayBuffer();
    } catch (error) {
      throw new Error(`${file.name} cannot be read: ${error.message}`); // a folder, for one
    }
    if (!data.byteLength) throw new Error(`${file.name} cannot be read: it is empty`);
    return data;
  }

  // Reads what is there, after so many milliseconds without another puzzle.
  read(isNew, after = 0) {
    return this.bring(async (signal) => {
      await delay(after);
      return signal.aborted ? undefined : this.#read(signal);
    }, isNew);
  }

  // Reads what is there, or what was opened: a text, or a file that is no text.
  async #read(signal, opened = null) {
    const content = opened ?? this.#file ?? (linkIn(this.text.value) || this.text.value);
    const question = { number: opened ? 1 : this.#number, columns: null, isInverted: false, title: null };
    if (!content.data) {
      if (!content.trim()) return { text: content };
      const found = await ask("read", question, signal, content);
      return { ...found, text: content, next: found.number < found.count ? () => this.#choose(found.number + 1) : null };
    }
    const width = element("picture-width").value;
    question.title = content.name.replace(/\.[^.]*$/, "");
    if (!opened && !element("picture-options").hidden) {
      question.columns = Math.max(0, Math.round(width)) || null;
      question.isInverted = element("picture-invert").checked;
    }
    const found = await ask("read", question, signal, content.data);
    return { ...found, text: found.link, askedWidth: width, isFile: true };
  }

  // Shows what a puzzle is of: its text, the faults of it, the other puzzles beside it.
  show(puzzle) {
    const { text, board, isFile, askedWidth } = puzzle;
    if (text !== undefined && text !== this.text.value) {
      if (isFile) this.text.value = text;
      else this.put(text);
    }
    if (puzzle.format === "picture") {
      const field = element("picture-width");
      element("picture-options").hidden = false;
      if (field.value === askedWidth) field.value = board.columns.length; // else somebody types another width
    }
    this.#showFaults(puzzle);
    this.#showChooser(puzzle);
  }

  #choose(number) {
    this.#number = Math.min(this.#count, Math.max(1, number));
    this.read(true);
  }

  #showChooser({ count, number, titles }) {
    this.#count = count;
    this.#number = number;
    element("chooser").hidden = count < 2;
    if (count < 2) return;
    const select = element("chooser-number");
    if (this.#titles !== titles.join("\n")) {
      select.replaceChildren(...titles.map((title, index) => new Option(`${index + 1} of ${count}: ${title}`, index + 1)));
      this.#titles = titles.join("\n");
    }
    select.value = number;
    element("chooser-back").ariaDisabled = number <= 1;
    element("chooser-next").ariaDisabled = number >= count;
  }

  #showFaults({ faults, warnings, isFile }) {
    this.#markLines(isFile ? [] : faults.map(([line]) => line).filter(Boolean));
    const shown = faults.slice(0, 8).map(([line, fault]) => {
      if (!line || isFile) return made("p", line ? `line ${line}: ${fault}` : fault, "fault");
      const button = made("button", `line ${line}`, "link");
      button.addEventListener("click", () => this.#select(line));
      const paragraph = made("p", "", "fault");
      paragraph.append(button, `: ${fault}`);
      return paragraph;
    });
    const warned = warnings.slice(0, 4).map((warning) => made("p", warning, "quiet"));
    element("faults").replaceChildren(...shown, ...warned);
    this.text.setAttribute("aria-invalid", faults.length > 0);
  }

  // Numbers of lines beside the text, those at fault marked.
  #markLines(wrong) {
    const numbers = this.text.value.split("\n").map((_, index) => `${index + 1}\n`);
    const parts = [];
    let next = 0;
    for (const line of [...new Set(wrong)].filter((number) => number <= numbers.length).sort((a, b) => a - b)) {
      parts.push(numbers.slice(next, line - 1).join(""), made("mark", line), "\n");
      next = line;
    }
    this.gutter.replaceChildren(...parts, numbers.slice(next).join(""));
    this.gutter.scrollTop = this.text.scrollTop;
  }

  #select(line) {
    const lines = this.text.value.split("\n");
    const begin = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
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
