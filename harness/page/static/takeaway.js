// The output of a puzzle: a file in any format, a picture, a link.

import { ask } from "./api.js";
import { element, made } from "./elements.js";
import { cellsFrom, textFrom } from "./words.js";

const fileName = (board, ending) =>
  `${(board.title ?? "").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "puzzle"}${ending}`;

const blobOf = (text, type = "text/plain") => new Blob([text], { type });

function save(blob, name) {
  const link = Object.assign(made("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// The address of a puzzle, behind a #, which browsers send to no server; what is readable stays so.
export function addressOf(link) {
  const puzzle = encodeURIComponent(link.trim()).replaceAll("%3A", ":").replaceAll("%2C", ",");
  return `${location.href.split(/[?#]/)[0]}${link ? `#puzzle=${puzzle}` : ""}`;
}

// The puzzle that an address has; "" if it has none, or is no address.
export function linkIn(address) {
  if (!/^\s*https?:\S+\s*$/.test(address) || !URL.canParse(address)) return "";
  const { search, hash } = new URL(address);
  return new URLSearchParams(search).get("puzzle") ?? new URLSearchParams(hash.slice(1)).get("puzzle") ?? "";
}

// The picture of an SVG in pixels.
async function pngOf(svg) {
  const image = new Image();
  image.src = URL.createObjectURL(blobOf(svg, "image/svg+xml"));
  try {
    await image.decode();
    const canvas = Object.assign(made("canvas"), { width: image.width, height: image.height });
    canvas.getContext("2d").drawImage(image, 0, 0);
    return await new Promise((done) => canvas.toBlob(done, "image/png"));
  } finally {
    URL.revokeObjectURL(image.src);
  }
}

export class TakeAway {
  #reason = ""; // why nothing can be taken away
  #isAsking = false;

  // `shown` returns the board and the cells that are shown.
  constructor(shown) {
    this.shown = shown;
    this.#onClick("take-file", (shown, { name, extension }) => this.#save(shown, name, extension, blobOf));
    this.#onClick("take-copy", (shown, { name }) => this.#copy(shown, name, "The puzzle"));
    this.#onClick("take-png", (shown) => this.#save(shown, "svg", ".png", pngOf));
    this.#onClick("take-svg", (shown) => this.#save(shown, "svg", ".svg", (text) => blobOf(text, "image/svg+xml")));
    this.#onClick("take-link", (shown) => this.#copy(shown, "link", "The link", addressOf));
    this.#onClick("take-print", (shown) => this.#print(shown));
    addEventListener("afterprint", () => element("sheets").replaceChildren()); // else another puzzle would print them
  }

  fill(formats) {
    this.formats = formats;
    element("take-format").replaceChildren(
      ...formats.map((form) => new Option(`${form.name} (${form.extension})`, form.name, false, form.name === "non")),
    );
  }

  // Disables the buttons and says why; an empty reason enables them again.
  refuse(why) {
    const buttons = document.querySelectorAll(".take button");
    if (buttons[0].disabled === Boolean(why)) return;
    for (const button of buttons) button.disabled = Boolean(why);
    this.#reason = why;
    this.say("");
  }

  // `act` gets what was shown at the click, and the format that was chosen then; it returns what is said, unless another
  // board is shown by then.
  #onClick(id, act) {
    element(id).addEventListener("click", async () => {
      const shown = this.shown();
      if (!shown.board) return this.say("There is no puzzle yet.");
      if (this.#isAsking) return;
      this.#isAsking = true;
      this.say("Asking …"); // a search may come first
      const said = await act(shown, this.formats?.find((form) => form.name === element("take-format").value) ?? {})
        .catch(({ message }) => message);
      if (this.shown().board === shown.board) this.say(said);
      this.#isAsking = false;
    });
  }

  async #asked({ board, cells }, format, dark = matchMedia("(prefers-color-scheme: dark)").matches) {
    const { text } = await ask("write", { board, cells: cells && textFrom(cells), format, dark });
    return text;
  }

  async #save(shown, format, ending, made) {
    const name = fileName(shown.board, ending);
    save(await made(await this.#asked(shown, format)), name);
    return `${name} is saved.`;
  }

  async #copy(shown, format, name, made = (text) => text) {
    const text = made(await this.#asked(shown, format));
    try {
      await navigator.clipboard.writeText(text);
      return `${name} is copied.`;
    } catch {
      return text.length < 500 ? text : `${name} cannot be copied here.`;
    }
  }

  // Prints the puzzle on a sheet: the empty grid, and the solution on a second one if it is wanted.
  async #print({ board, solution }) {
    const given = board.cells && cellsFrom(board.cells);
    const pages = [[board.title ?? "", given]];
    if (element("print-solution").checked) {
      if (!solution) return "No solution is known that could be printed.";
      pages.push([`${board.title ?? ""} (solution)`.trim(), solution]);
    }
    const sheets = await Promise.all(pages.map(async ([title, cells]) => {
      const svg = await this.#asked({ board, cells }, "svg", false);
      const picture = Object.assign(new Image(), { alt: title, src: URL.createObjectURL(blobOf(svg, "image/svg+xml")) });
      await picture.decode();
      const sheet = made("section");
      sheet.append(made("h1", title), picture);
      return sheet;
    }));
    element("sheets").replaceChildren(...sheets);
    print();
    return "";
  }

  say(text) {
    element("take-said").textContent = [text, this.#reason].filter(Boolean).join(" ");
  }
}
