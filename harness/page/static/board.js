// The board on a canvas: sharp at any size, clues in view wherever one scrolls, a cursor for the keyboard.
//
// The canvas is as large as the frame, not as the board: what is in view is drawn, from where the frame is scrolled
// to. All lengths are whole pixels of the device.

import { BLACK, UNKNOWN, WHITE, clueWords } from "./words.js";

const LARGEST = 60; // cells, in CSS pixels
const LARGEST_FIT = 40;
const ZOOM = 1.25; // of a step
const SMALLEST_TO_PAINT = { finger: 18, mouse: 12 }; // cells that are painted can be hit, on boards of up to
const MOST_TO_PAINT = 60;
const SMALLEST_WHOLE = 14; // cells of a board that is shown as a whole, though smaller than a finger likes
const SMALLEST_WITH_CLUES = 9;
const SMALLEST_WITH_LINES = 4;
const GROUP = 5;
const MOST_OF_FRAME = 0.45; // that clues may take
const SMALLEST_FRAME = 260; // pixels of height
const BELOW = 12; // pixels between the controls below the board and the end of the window
const PAPER = { width: 640, height: 800 }; // pixels for the board on a sheet, A4 or Letter
const LEAST_PINCH = 0.15; // of the distance between two fingers, before which they only scroll
const BETWEEN_CLUES = 0.2; // of a cell, between the clues of neighbouring columns

const COLOURS = ["paper", "ink", "dot", "thin", "heavy", "clue", "band", "fresh", "fresh-white",
  "differ", "wrong", "wrong-band", "cursor", "margin", "shade", "finished"];

// A point in each cell that the straight line between two points crosses, in order.
function pointsBetween(from, to) {
  const shares = [0, 1]; // of the line, where it crosses an edge of cells
  for (const axis of ["x", "y"]) {
    const [low, high] = [from[axis], to[axis]].sort((first, second) => first - second);
    for (let edge = Math.floor(low) + 1; edge < high; edge++) shares.push((edge - from[axis]) / (to[axis] - from[axis]));
  }
  shares.sort((first, second) => first - second);
  return shares.slice(1).map((share, before) => {
    const middle = (share + shares[before]) / 2;
    return { x: from.x + middle * (to.x - from.x), y: from.y + middle * (to.y - from.y) };
  });
}

export class BoardView {
  // Called with a cell and what to make of it (BLACK, WHITE, UNKNOWN, or null for the next in turn).
  onPaint = null;
  // Called when a stroke of painting ends, with whether what it painted is to be taken back.
  onStroke = null;
  // Called with the cell that is pointed at, whether a key moved there, and the number of cells of the drag.
  onMove = null;
  // Called when the cells have another size.
  onSize = () => {};
  // Whether nothing is painted for now.
  isLocked = false;
  // What a finger does: "black" or "white" paints, and several scroll; "scroll" scrolls.
  finger = "black";

  constructor(frame, spacer, canvas) {
    this.frame = frame;
    this.spacer = spacer;
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.rows = [[]];
    this.columns = [[]];
    this.cells = new Int8Array(1).fill(UNKNOWN);
    this.marks = {};
    this.cursor = { x: 0, y: 0 };
    this.hover = null;
    this.zoomed = null; // CSS pixels of a cell; "fit": all is in view; null: that, but no smaller than can be painted
    this.onScreen = null; // while it is printed: how it was before
    this.isDue = false;
    // Its height follows from the layout, and from how many lines its words take, for which no board changes.
    new ResizeObserver(() => frame.parentElement.clientWidth !== this.roomWidth && this.layOut()).observe(frame.parentElement);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#readColours());
    matchMedia("(forced-colors: active)").addEventListener("change", () => this.#readColours());
    window.addEventListener("resize", () => this.layOut());
    window.addEventListener("beforeprint", () => {
      this.onScreen ??= { zoomed: this.zoomed, left: frame.scrollLeft, top: frame.scrollTop };
      this.zoomed = "fit";
      this.#readColours();
      this.layOut();
    });
    window.addEventListener("afterprint", () => {
      if (!this.onScreen) return;
      const { zoomed, left, top } = this.onScreen;
      this.onScreen = null;
      this.zoomed = zoomed;
      this.#readColours();
      this.layOut();
      frame.scrollTo(left, top);
    });
    this.#readColours();
    this.#listen();
  }

  get width() {
    return this.columns.length;
  }

  get height() {
    return this.rows.length;
  }

  // Takes a puzzle; the cells come with `show`, and `layOut` follows.
  setPuzzle(rows, columns) {
    const isOtherSize = rows.length !== this.height || columns.length !== this.width;
    this.rows = rows;
    this.columns = columns;
    if (isOtherSize) {
      this.cells = new Int8Array(rows.length * columns.length).fill(UNKNOWN);
      this.marks = {};
      this.cursor = { x: 0, y: 0 };
      this.hover = null;
      this.zoomed = null;
      this.frame.scrollTo(0, 0);
    }
  }

  // Marks: `fresh`, `hinted`, `differ`, `wrong`: sets of cells; `line`: [kind, number]; `wrongLines`: such lines; `finished`: how
  // many blocks of each line are, from its beginning and from its end; `isPicture`: without crosses.
  show(cells, marks = {}) {
    this.cells = cells;
    this.marks = marks;
    this.redraw();
  }

  zoom(direction) {
    const box = this.canvas.getBoundingClientRect();
    const middle = {
      clientX: box.right - (this.shown.width - this.left) / 2 / devicePixelRatio,
      clientY: box.bottom - (this.shown.height - this.top) / 2 / devicePixelRatio,
    };
    const point = this.#pointAt(middle);
    this.#resize(direction && (this.cell / devicePixelRatio) * ZOOM ** direction);
    this.#bring(point, middle, this.frame);
  }

  // Makes the cells that large, but never smaller than all of the board needs.
  #resize(size) {
    this.zoomed = size > this.fitting ? Math.min(size, LARGEST) : "fit";
    this.layOut();
  }

  // Scrolls a point of the board to a place of the window, each of the scrollers as far as it takes and can.
  #bring(point, place, ...scrollers) {
    for (const scroller of scrollers) {
      const now = this.#pointAt(place);
      const by = (axis) => Math.trunc(((point[axis] - now[axis]) * this.cell) / devicePixelRatio); // pixels
      scroller.scrollBy(by("x"), by("y"));
    }
  }

  // --- geometry --------------------------------------------------------------------------------------------------

  layOut() {
    const ratio = devicePixelRatio;
    const room = this.frame.parentElement;
    const style = getComputedStyle(room);
    this.roomWidth = room.clientWidth;
    const column = parseFloat(style.gridTemplateColumns); // in wide windows, the controls are beside the board
    const below = (!column && room.querySelector(".tools:not([hidden]) button")) || this.frame.nextElementSibling;
    const [box, frame, last] = [room, this.frame, below].map((part) => part.getBoundingClientRect());
    const padding = (...sides) => sides.reduce((sum, side) => sum + parseFloat(style[`padding${side}`]), 0);
    // The board and its controls fit into the window: with all that is above them, unless that is the input.
    const above = box.top + scrollY < innerHeight / 3 ? box.top + scrollY : 0;
    // With its line of text and the first of the controls, unless these are beside it.
    const bare = last.left > frame.left ? padding("Top", "Bottom") : last.bottom - box.top - frame.height + padding("Bottom");
    // With all controls, and the height that is reserved for their text.
    const text = !column && room.querySelector(".tools:not([hidden]) .reserved");
    const whole = text ? bare + text.getBoundingClientRect().top + parseFloat(getComputedStyle(text).minHeight) - last.bottom : bare;
    const free = (others) => (this.onScreen ? { width: PAPER.width * ratio, height: PAPER.height * ratio } : {
      width: Math.max(120, column || room.clientWidth - padding("Left", "Right")) * ratio,
      height: Math.max(SMALLEST_FRAME, innerHeight - Math.round(others) - BELOW - above) * ratio,
    });
    let most = free(whole);
    this.isForFingers = matchMedia("(pointer: coarse)").matches;
    const toPaint = SMALLEST_TO_PAINT[this.isForFingers ? "finger" : "mouse"];
    const isPaintable = this.zoomed === null && this.onPaint && Math.max(this.width, this.height) <= MOST_TO_PAINT;
    const fitting = (this.fitting = this.#fitting(most, ratio));
    const first = isPaintable && fitting < Math.min(toPaint, SMALLEST_WHOLE) ? toPaint : fitting;
    const size = this.zoomed > 0 ? this.zoomed : first;
    if (size > fitting) most = free(bare); // a window onto the board: as large as the screen allows
    this.#measure(size, most, ratio);
    this.isTooSmall = !this.hasClues || (Boolean(this.onPaint) && size < toPaint);
    const content = { width: this.left + this.width * this.cell + this.end, height: this.top + this.height * this.cell + this.end };
    const shown = {
      width: Math.min(content.width, Math.floor(most.width)),
      height: Math.min(content.height, Math.floor(most.height)),
    };
    this.isLarger = content.width > shown.width || content.height > shown.height;
    // The canvas, too: a larger one would give the frame bars, which it is measured with below.
    for (const [element, box] of [[this.spacer, content], [this.frame, shown], [this.canvas, shown]]) {
      element.style.width = `${box.width / ratio}px`;
      element.style.height = `${box.height / ratio}px`;
    }
    // Where only one bar is needed it takes room from the other side.
    this.shown = {
      width: Math.round(this.frame.clientWidth * ratio) || shown.width,
      height: Math.round(this.frame.clientHeight * ratio) || shown.height,
    };
    this.canvas.width = this.shown.width;
    this.canvas.height = this.shown.height;
    this.canvas.style.width = `${this.shown.width / ratio}px`;
    this.canvas.style.height = `${this.shown.height / ratio}px`;
    this.draw();
    this.onSize();
  }

  #fitting(most, ratio) {
    for (let size = LARGEST_FIT; size > 1; size--) {
      this.#measure(size, most, ratio);
      if (
        this.left + this.width * this.cell + this.end <= most.width &&
        this.top + this.height * this.cell + this.end <= most.height &&
        !this.isCut
      ) return size;
    }
    return 1;
  }

  #measure(size, most, ratio) {
    this.cell = Math.max(1, Math.round(size * ratio));
    this.end = Math.max(2, Math.round(2 * ratio));
    this.font = Math.round(Math.min(15, Math.max(9, size * 0.62)) * ratio);
    this.hasClues = size >= SMALLEST_WITH_CLUES;
    this.isCut = false;
    if (!this.hasClues) {
      this.left = this.top = this.end;
      return;
    }
    this.context.font = this.#fontName();
    this.digit = this.context.measureText("0").width;
    const longest = Math.max(...this.rows.map((clue) => this.#clueWidth(clue)));
    const tallest = Math.max(1, ...this.columns.map((clue) => clue.length));
    const left = Math.ceil(longest + this.font * 0.9);
    const top = Math.ceil(tallest * this.font * 1.18 + this.font * 0.5);
    this.left = Math.min(left, Math.floor(most.width * MOST_OF_FRAME));
    this.top = Math.min(top, Math.floor(most.height * MOST_OF_FRAME));
    this.isCut = left > this.left || top > this.top;
  }

  #fontName() {
    return `500 ${this.font}px system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif`;
  }

  #clueWidth(clue) {
    const texts = clue.length ? clue : [0];
    return texts.reduce((sum, block) => sum + String(block).length * this.digit, 0) + (texts.length - 1) * this.font * 0.5;
  }

  #offset() {
    return {
      x: Math.round(this.frame.scrollLeft * devicePixelRatio),
      y: Math.round(this.frame.scrollTop * devicePixelRatio),
    };
  }

  // Where a pointer is, in cells from the upper left corner of the board.
  #pointAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const offset = this.#offset();
    return {
      x: ((event.clientX - box.left) * devicePixelRatio - this.left + offset.x) / this.cell,
      y: ((event.clientY - box.top) * devicePixelRatio - this.top + offset.y) / this.cell,
    };
  }

  // The cell at a point; null beyond the board, under the clues, and beyond the edge of the frame.
  #cellOf({ x, y }) {
    const offset = this.#offset();
    const isSeen = (place, from, room) => place * this.cell >= from && place * this.cell < from + room;
    const isColumn = x < this.width && isSeen(x, offset.x, this.shown.width - this.left);
    const isRow = y < this.height && isSeen(y, offset.y, this.shown.height - this.top);
    return isColumn && isRow ? { x: Math.floor(x), y: Math.floor(y) } : null;
  }

  cellAt(event) {
    return this.#cellOf(this.#pointAt(event));
  }

  // Scrolls as far as it takes to see a cell, or with only one of its coordinates a line.
  scrollTo({ x, y }) {
    const ratio = devicePixelRatio;
    const room = { x: this.shown.width - this.left, y: this.shown.height - this.top };
    const offset = this.#offset();
    const to = (place, now, size) =>
      Math.max(Math.min(now, place * this.cell), (place + 1) * this.cell - size + this.end);
    this.frame.scrollLeft = to(x ?? offset.x / this.cell, offset.x, room.x) / ratio;
    this.frame.scrollTop = to(y ?? offset.y / this.cell, offset.y, room.y) / ratio;
  }

  // --- drawing ---------------------------------------------------------------------------------------------------

  // Paper is light.
  #readColours() {
    document.documentElement.classList.toggle("prints", Boolean(this.onScreen));
    const style = getComputedStyle(document.documentElement);
    this.colours = Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--board-${name}`).trim()]));
    if (this.shown) this.redraw();
  }

  redraw() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.draw();
    });
  }

  #fill(colour, x, y, width, height) {
    this.context.fillStyle = colour;
    this.context.fillRect(x, y, width, height);
  }

  // Until the context is restored, nothing outside is drawn.
  #clip(x, y, width, height) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
  }

  draw() {
    const { context, cell, left, top, shown } = this;
    const offset = this.#offset();
    this.#fill(this.colours.margin, 0, 0, shown.width, shown.height);
    const view = {
      x0: Math.max(0, Math.floor(offset.x / cell)),
      y0: Math.max(0, Math.floor(offset.y / cell)),
      x1: Math.min(this.width, Math.ceil((offset.x + shown.width - left) / cell)),
      y1: Math.min(this.height, Math.ceil((offset.y + shown.height - top) / cell)),
    };
    const origin = { x: left - offset.x, y: top - offset.y };
    this.#clip(left, top, shown.width - left, shown.height - top);
    this.#drawCells(view, origin);
    this.#drawLines(view, origin);
    this.#drawMarks(view, origin);
    context.restore();
    if (this.hasClues) this.#drawClues(view, origin);
    this.#drawCursor(origin);
  }

  #drawCells(view, origin) {
    const { context, cell, colours, marks } = this;
    this.#fill(colours.paper, origin.x, origin.y, this.width * cell, this.height * cell);
    this.#drawBands(origin);
    const isPartial = this.cells.some((colour) => colour !== UNKNOWN) && this.cells.includes(UNKNOWN);
    const known = isPartial && !marks.isPicture;
    const fresh = marks.fresh;
    for (let y = view.y0; y < view.y1; y++) {
      const row = y * this.width;
      const top = origin.y + y * cell;
      for (let x = view.x0; x < view.x1; x++) {
        const now = this.cells[row + x];
        const left = origin.x + x * cell;
        if (now === UNKNOWN) {
          if (known && cell < 6) this.#fill(colours.shade, left, top, cell, cell);
          continue;
        }
        const isFresh = fresh?.has(row + x);
        if (now === BLACK) {
          let end = x + 1; // a run of black cells at once
          while (end < view.x1 && this.cells[row + end] === BLACK && !!fresh?.has(row + end) === !!isFresh) end++;
          this.#fill(isFresh ? colours.fresh : colours.ink, left, top, (end - x) * cell, cell);
          x = end - 1;
          continue;
        }
        if (isFresh) this.#fill(colours["fresh-white"], left, top, cell, cell);
        if (known && cell >= 6) {
          context.strokeStyle = isFresh ? colours.fresh : colours.dot;
          this.#drawCross(left, top, cell * 0.3, Math.max(1, cell * 0.07));
        }
      }
    }
  }

  #drawCross(x, y, inset, lineWidth) {
    const { context, cell } = this;
    context.lineWidth = lineWidth;
    context.lineCap = "round";
    context.beginPath();
    context.moveTo(x + inset, y + inset);
    context.lineTo(x + cell - inset, y + cell - inset);
    context.moveTo(x + cell - inset, y + inset);
    context.lineTo(x + inset, y + cell - inset);
    context.stroke();
  }

  #drawBands(origin) {
    const { cell, colours, marks } = this;
    const bands = (marks.wrongLines ?? []).map((line) => [line, colours["wrong-band"]]);
    if (marks.line) bands.push([marks.line, colours.band]);
    for (const [[kind, number], colour] of bands) {
      const from = (number - 1) * cell;
      if (kind === "row") this.#fill(colour, origin.x, origin.y + from, this.width * cell, cell);
      else this.#fill(colour, origin.x + from, origin.y, cell, this.height * cell);
    }
  }

  #drawLines(view, origin) {
    const { context, cell, colours } = this;
    const ratio = Math.max(1, Math.round(devicePixelRatio));
    const line = (isRow, index, heavy) => {
      const size = heavy ? Math.max(ratio, cell >= 14 * ratio ? 2 * ratio : ratio) : ratio;
      const start = index * cell - Math.floor(size / 2);
      if (isRow) context.fillRect(origin.x + view.x0 * cell, origin.y + start, (view.x1 - view.x0) * cell, size);
      else context.fillRect(origin.x + start, origin.y + view.y0 * cell, size, (view.y1 - view.y0) * cell);
    };
    const every = cell / devicePixelRatio >= SMALLEST_WITH_LINES ? GROUP : Infinity;
    const isHeavy = (index, count) => index % every === 0 || index === count;
    for (const heavy of cell / devicePixelRatio >= SMALLEST_WITH_LINES + 1 ? [false, true] : [true]) {
      context.fillStyle = heavy ? colours.heavy : colours.thin;
      for (let x = view.x0; x <= view.x1; x++) if (isHeavy(x, this.width) === heavy) line(false, x, heavy);
      for (let y = view.y0; y <= view.y1; y++) if (isHeavy(y, this.height) === heavy) line(true, y, heavy);
    }
  }

  #drawMarks(view, origin) {
    const { context, cell, colours, marks } = this;
    for (const [name, cells] of [["differ", marks.differ], ["fresh", marks.hinted], ["wrong", marks.wrong]]) {
      if (!cells) continue;
      const size = Math.max(1, Math.round(cell * 0.14));
      context.fillStyle = context.strokeStyle = colours[name];
      for (const index of cells) {
        const x = index % this.width;
        const y = Math.floor(index / this.width);
        if (x < view.x0 || x >= view.x1 || y < view.y0 || y >= view.y1) continue;
        const place = { x: origin.x + x * cell, y: origin.y + y * cell };
        if (cell < 8) {
          context.fillRect(place.x, place.y, cell, cell);
          continue;
        }
        context.lineWidth = size;
        context.strokeRect(place.x + size, place.y + size, cell - 2 * size, cell - 2 * size);
        if (name === "wrong") this.#drawCross(place.x, place.y, cell * 0.22, size);
      }
    }
  }

  #drawClues(view, origin) {
    const { context, cell, left, top, colours, shown, font } = this;
    const pointed = this.hover ?? (this.isFocused ? this.cursor : null);
    const wrong = new Set((this.marks.wrongLines ?? []).map(([kind, number]) => `${kind} ${number}`));
    context.font = this.#fontName();
    context.textBaseline = "middle";
    const { line, finished } = this.marks;
    const colourOf = (kind, index, block, count) => {
      if (wrong.has(`${kind} ${index + 1}`)) return colours.wrong;
      if (line && line[0] === kind && line[1] === index + 1) return colours.fresh;
      const [before, after] = finished?.[kind][index] ?? [0, 0];
      return block < before || block >= count - after ? colours.finished : colours.clue;
    };
    this.#clip(0, top, left, shown.height - top);
    context.textAlign = "right";
    for (let y = view.y0; y < view.y1; y++) {
      if (pointed?.y === y) this.#fill(colours.band, 0, origin.y + y * cell, left, cell);
      let x = left - Math.round(font * 0.45);
      const clue = this.rows[y].length ? this.rows[y] : [0];
      for (let block = clue.length - 1; block >= 0 && x > 0; block--) {
        const text = String(clue[block]);
        context.fillStyle = colourOf("row", y, block, clue.length);
        context.fillText(text, x, origin.y + (y + 0.52) * cell);
        x -= Math.round(text.length * this.digit + font * 0.5);
      }
    }
    context.restore();
    this.#clip(left, 0, shown.width - left, top);
    context.textAlign = "center";
    for (let x = view.x0; x < view.x1; x++) {
      if (pointed?.x === x) this.#fill(colours.band, origin.x + x * cell, 0, cell, top);
      let y = top - Math.round(font * 0.7);
      const clue = this.columns[x].length ? this.columns[x] : [0];
      for (let block = clue.length - 1; block >= 0 && y > -font; block--) {
        context.fillStyle = colourOf("column", x, block, clue.length);
        context.fillText(String(clue[block]), origin.x + (x + 0.5) * cell, y, cell * (1 - BETWEEN_CLUES));
        y -= Math.round(font * 1.18);
      }
    }
    context.restore();
  }

  #drawCursor(origin) {
    if (!this.isFocused) return;
    const { context, cell, colours } = this;
    const size = Math.max(2, Math.round(2 * devicePixelRatio));
    const place = { x: origin.x + this.cursor.x * cell, y: origin.y + this.cursor.y * cell };
    if (place.x < this.left - 1 || place.y < this.top - 1) return;
    context.strokeStyle = colours.cursor;
    context.lineWidth = size;
    context.strokeRect(place.x, place.y, cell, cell);
  }

  // --- pointer and keyboard ----------------------------------------------------------------------------------------

  #listen() {
    const { canvas, frame } = this;
    // What a drag makes of which cells, with which pointer, from where, the point where that was last, the rows and
    // columns that it crosses, and the coordinate that it keeps: that of a finger stays in a row or a column.
    let stroke = null;
    const end = (isTakenBack) => {
      if (stroke) this.onStroke?.(isTakenBack);
      stroke = null;
    };
    const pointTo = (place, dragged) => {
      if (place?.x === this.hover?.x && place?.y === this.hover?.y) return;
      this.hover = place;
      if (place) this.onMove?.(place, false, dragged);
      this.redraw();
    };
    let mouse = null; // the last event of it: what scrolls moves other cells under it
    frame.addEventListener("scroll", () => {
      if (this.hover) pointTo(this.cellAt(mouse));
      this.redraw();
    }, { passive: true });
    window.addEventListener("keydown", (event) => {
      const takesBack = event.key === "Escape" || (event.ctrlKey && event.key.toLowerCase() === "z");
      if (!stroke || !takesBack) return;
      end(true);
      event.preventDefault();
      event.stopPropagation();
    }, true);
    // Fingers that do not paint scroll the board, then the page: what is in the middle between them stays there. Two
    // make the board larger and smaller, once they have moved apart or together enough to mean it; the page stays.
    const middleOf = ([one, two = one]) => ({ clientX: (one.clientX + two.clientX) / 2, clientY: (one.clientY + two.clientY) / 2 });
    const distanceOf = ([one, two]) => two && Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY);
    const paints = () => this.onPaint && !this.isLocked && this.finger !== "scroll";
    let held = null; // where they began: the point of the board, the size of its cells, the distance, whether that zooms
    const hold = (fingers, zooms = false) => (held = fingers.length ? { point: this.#pointAt(middleOf(fingers)),
      size: this.cell / devicePixelRatio, distance: distanceOf(fingers), zooms } : null);
    canvas.addEventListener("touchstart", (event) => {
      const { targetTouches: fingers } = event;
      if (fingers.length > 1 && stroke?.isFinger) (end(true), (this.hover = null));
      if (fingers.length === 1 && !stroke && !paints()) return;
      event.preventDefault(); // or a quick drag becomes a fling, whose end the browser takes the next tap for
      hold(fingers);
    }, { passive: false });
    canvas.addEventListener("touchmove", ({ targetTouches: fingers }) => {
      if (stroke || !held) return;
      const by = fingers.length > 1 ? distanceOf(fingers) / held.distance : 1;
      if (!held.zooms && Math.abs(by - 1) > LEAST_PINCH) hold(fingers, true);
      else if (held.zooms) this.#resize(held.size * by);
      this.#bring(held.point, middleOf(fingers), frame, ...(held.zooms ? [] : [window]));
    }, { passive: true });
    for (const kind of ["touchend", "touchcancel"]) {
      canvas.addEventListener(kind, ({ targetTouches }) => held && hold(targetTouches));
    }
    canvas.addEventListener("pointermove", (event) => {
      if (stroke ? stroke.pointer !== event.pointerId : event.pointerType === "touch") return;
      if (event.pointerType === "mouse" && event.button >= 0) end(true); // a second button is pressed
      mouse = event;
      let dragged;
      let place = this.cellAt(event);
      if (stroke) {
        const { first, before, value, rows, columns } = stroke;
        const point = this.#pointAt(event);
        const points = pointsBetween(stroke.point, point);
        stroke.point = point;
        const other = points.find(({ x, y }) => Math.floor(x) !== first.x || Math.floor(y) !== first.y);
        if (!other && stroke.isFinger && rows.size * columns.size === 1) return; // it may be the first of two
        if (other && stroke.isFinger && !this.hasTwoColours) stroke.kept ??= Math.floor(other.x) === first.x ? "x" : "y";
        const { kept } = stroke;
        const cellOf = (between) => this.#cellOf(kept ? { ...between, [kept]: first[kept] + 0.5 } : between);
        const cells = points.map(cellOf);
        if (kept) cells.push((place = cellOf(point)));
        for (const cell of cells.filter(Boolean)) {
          rows.add(cell.y);
          columns.add(cell.x);
          if (this.#valueAt(cell) === before) this.#paint(cell, value);
        }
        if (rows.size === 1 || columns.size === 1) dragged = rows.size * columns.size;
      }
      pointTo(place, dragged);
    });
    canvas.addEventListener("pointerleave", () => {
      this.hover = null;
      this.redraw();
    });
    canvas.addEventListener("pointerdown", (event) => {
      const place = this.cellAt(event);
      const isFinger = event.pointerType === "touch";
      if (event.pointerType !== "mouse") document.activeElement.blur(); // which closes the keyboard on the screen
      if (!place || !event.isPrimary || (isFinger && stroke?.isFinger === false)) return; // or a hand beside the pen
      this.cursor = place;
      this.onMove?.(place, false);
      if (event.button > 2 || this.isLocked || !(isFinger ? paints() : this.onPaint)) return;
      canvas.setPointerCapture(event.pointerId);
      const before = this.#valueAt(place);
      const colour = event.button === 2 ? WHITE : isFinger ? { black: BLACK, white: WHITE }[this.finger] : null;
      const value = colour === null ? this.nextOf(before) : before === colour ? UNKNOWN : colour;
      stroke = { before, value, isFinger, pointer: event.pointerId, first: place, point: this.#pointAt(event),
        rows: new Set([place.y]), columns: new Set([place.x]) };
      if (!isFinger) this.#paint(place, value);
    });
    const lift = (event) => {
      if (stroke?.pointer !== event.pointerId) return;
      if (event.type === "pointerup") this.#paint(stroke.first, stroke.value); // a tap has painted nothing yet
      end(event.type === "pointercancel");
    };
    canvas.addEventListener("pointerup", lift);
    canvas.addEventListener("pointercancel", lift);
    canvas.addEventListener("contextmenu", (event) => this.onPaint && event.preventDefault());
    canvas.addEventListener("focus", () => {
      this.isFocused = canvas.matches(":focus-visible");
      if (this.isFocused) this.onMove?.(this.cursor, true);
      this.redraw();
    });
    canvas.addEventListener("blur", () => {
      this.isFocused = false;
      this.redraw();
    });
    canvas.addEventListener("keydown", (event) => this.#onKey(event));
  }

  #paint({ x, y }, value) {
    if (!this.isLocked) this.onPaint?.(y * this.width + x, value);
  }

  #valueAt({ x, y }) {
    return this.cells[y * this.width + x];
  }

  // What a cell becomes that is painted without a colour being named.
  nextOf(now) {
    if (now === BLACK) return WHITE;
    return now === UNKNOWN || this.hasTwoColours ? BLACK : UNKNOWN;
  }

  #onKey(event) {
    const step = event.ctrlKey ? GROUP : 1;
    const moves = {
      ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step],
      Home: [-this.width, 0], End: [this.width, 0], PageUp: [0, -this.height], PageDown: [0, this.height],
    };
    const colour = { b: BLACK, w: WHITE, x: WHITE, u: UNKNOWN, delete: UNKNOWN, backspace: UNKNOWN }[event.key.toLowerCase()];
    const before = this.#valueAt(this.cursor);
    let value; // that is painted
    if (event.key in moves && !event.altKey && !event.metaKey) {
      const [x, y] = moves[event.key];
      this.cursor = {
        x: Math.min(this.width - 1, Math.max(0, this.cursor.x + x)),
        y: Math.min(this.height - 1, Math.max(0, this.cursor.y + y)),
      };
      if (event.shiftKey && step === 1) value = before;
    } else if ((event.key === " " || event.key === "Enter") && this.onPaint) {
      value = this.nextOf(before);
    } else if (colour !== undefined && this.onPaint && !event.ctrlKey && !event.altKey && !event.metaKey) {
      value = colour;
    } else {
      return;
    }
    if (value !== undefined) {
      this.#paint(this.cursor, value);
      this.onStroke?.(false);
    }
    event.preventDefault();
    this.isFocused = true;
    this.hover = null;
    this.scrollTo(this.cursor);
    this.onMove?.(this.cursor, true);
    this.redraw();
  }

  // A cell in words, with the clues of its lines.
  words({ x, y }) {
    const name = { [BLACK]: "black", [WHITE]: "white", [UNKNOWN]: "unknown" }[this.#valueAt({ x, y })];
    return `row ${y + 1}, column ${x + 1}: ${name}. Row: ${clueWords(this.rows[y])}. Column: ${clueWords(this.columns[x])}`;
  }
}
