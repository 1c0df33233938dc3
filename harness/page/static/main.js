// The start of the page: connects input, board, solver, attempt, steps and output.

import { facts, Latest, python } from "./api.js";
import { Attempt } from "./attempt.js";
import { BoardView } from "./board.js";
import { Editor } from "./editor.js";
import { element } from "./elements.js";
import { PuzzleInput } from "./input.js";
import { Picks } from "./picks.js";
import { keepOffline, setTotal, takeNewVersion } from "./status.js";
import { Stepping } from "./stepping.js";
import { keep, keepText, kept } from "./storage.js";
import { TakeAway, addressOf, linkIn } from "./takeaway.js";
import { Verdict, differing } from "./verdict.js";
import { cellsFrom, givenOf, many } from "./words.js";

const DRAWN_MS = 200;
const LINKED = "linked";
const OPENING = "Opening the puzzle of the link …";
const MOST_IN_ADDRESS = 20_000; // characters

// The state of the page, from which everything is drawn. `puzzle` is what is shown: its text, link, board, faults. It is
// the one that was `read` last, or the one that is drawn.
const NOTHING = { text: "", link: "", board: null, count: 0, number: 1, titles: [], faults: [], warnings: [], format: "" };
const state = { puzzle: NOTHING, read: NOTHING, answer: null, tab: "text", view: "solution", solution: 0, seconds: 10,
  // The board that is shown: that of the puzzle; of a text with faults, the one before, grey.
  board: null };

const isDrawing = () => state.tab === "draw";
const isStale = () => state.board !== state.puzzle.board;
const isPlaying = () => !isDrawing() && state.view === "mine" && !isStale();
const painter = () => (isDrawing() ? editor : isPlaying() && state.board ? attempt : null);

const view = new BoardView(element("frame"), element("spacer"), element("board"));
const verdict = new Verdict();
const editor = new Editor(() => isDrawing() && become(editor.puzzle, false));
const attempt = new Attempt(refresh, () => state.answer, isPlaying);
const stepping = new Stepping(() => refresh());
const incoming = new Latest();
const input = new PuzzleInput(bring);
const open = (link) => (input.put(link), input.read(true));
const picks = new Picks(bring, open);
const takeAway = new TakeAway(() => ({
  board: state.board,
  cells: isDrawing() ? editor.state.cells : view.cells,
  solution: state.answer?.solutions.length ? cellsFrom(state.answer.solutions[state.solution]) : null,
}));

// --- a puzzle comes in ---------------------------------------------------------------------------------------------

// All that comes in comes through here: `work` returns it, or null where there is nothing; the latest alone is shown.
// A new puzzle comes into view, and can be left by going back; one that is LINKED has its entry in the history.
async function bring(work, isNew) {
  if (isDrawing()) setTab("text");
  verdict.begin(isNew === LINKED ? OPENING : "Reading …");
  let found;
  try {
    found = await incoming.run(work);
  } catch (error) {
    // The text stays, with its puzzle where that has been read.
    found = { ...(state.read.text === input.text.value && state.read), text: input.text.value, faults: [[null, error.message]] };
  }
  if (found === undefined) return;
  if (!found) return become(state.puzzle, false);
  const puzzle = (state.read = { ...NOTHING, ...found });
  keepText(puzzle);
  input.show(puzzle);
  become(puzzle, isNew);
}

// Where the input is above the board.
function bringIntoView() {
  const isBelow = element("stage").offsetLeft === document.querySelector(".input").offsetLeft;
  const card = element("board-card");
  const isBeyond = card.getBoundingClientRect().top < 0 || element("frame").getBoundingClientRect().bottom > innerHeight;
  if (isBelow && isBeyond && document.activeElement !== input.text) card.scrollIntoView();
}

// From now on everything speaks of this puzzle.
function become(puzzle, isNew) {
  show(puzzle);
  if (isNew && puzzle.board) bringIntoView();
  clearTimeout(drawnTimer);
  if (isDrawing()) {
    verdict.say("busy", "Drawing …"); // what was said is of another board
    drawnTimer = setTimeout(settle, DRAWN_MS);
  } else {
    settle(isNew);
  }
}

function show(puzzle) {
  const isOther = puzzle.link !== state.puzzle.link;
  state.puzzle = puzzle;
  state.answer = null;
  state.solution = 0;
  if (puzzle.board || !puzzle.faults.length) state.board = puzzle.board;
  if (isOther && !isDrawing()) pointed = null;
  if (isOther) takeAway.say("");
  if (state.board) view.setPuzzle(state.board.rows, state.board.columns);
  if (!isDrawing() && !isStale()) {
    attempt.start(state.board, puzzle.link);
    stepping.start(state.board);
    if (isOther && puzzle.board && (element("hide-solution").checked || attempt.hasBegun)) state.view = "mine";
  }
  draw();
}

let drawnTimer = 0;

// Says where the puzzle is and what it is worth; not after each cell of a drag, since browsers limit how often an
// address changes.
function settle(isNew = false) {
  // The address has the puzzle, so that it can be kept and passed on.
  const { link } = state.puzzle;
  const address = addressOf(link.length > MOST_IN_ADDRESS ? "" : link);
  const kind = isDrawing() ? "drawn" : null; // a reload leads back to the drawing
  if (address !== location.href) history[isNew === true && state.puzzle.board ? "pushState" : "replaceState"](kind, "", address);
  else if (history.state !== kind) history.replaceState(kind, "");
  solve(state.seconds);
}

async function solve(seconds) {
  const { puzzle } = state;
  if (!puzzle.board) {
    if (puzzle.faults.length) verdict.say("fault", "No puzzle can be read."); // the faults are below the text
    else verdict.say("none", "Paste, draw or pick a puzzle.");
    return;
  }
  await verdict.of(puzzle.board, seconds, (answer) => {
    state.answer = answer;
    draw();
  });
  view.layOut(); // the verdict may take two lines
}

// --- what is shown -------------------------------------------------------------------------------------------------

function press(group, name, value) {
  for (const button of group.querySelectorAll("button")) button.setAttribute("aria-pressed", button.dataset[name] === value);
}

let laidOut = []; // what the layout of the board was made for

// Draws the page from its state.
function draw() {
  const { board, view: name, tab } = state;
  const focused = document.activeElement;
  const { title, author, rows, columns } = board ?? {};
  for (const panel of TABS) {
    element(`tab-${panel}`).setAttribute("aria-selected", panel === tab);
    element(`tab-${panel}`).tabIndex = panel === tab ? 0 : -1;
    element(`panel-${panel}`).hidden = panel !== tab;
  }
  element("title").textContent = isStale() ? "" : [title, author].filter(Boolean).join(" by ");
  if (board) element("board").setAttribute("aria-label", `The board, ${many(columns.length, "column")} by ${many(rows.length, "row")}`);
  element("welcome").hidden = Boolean(board) || (state.read === NOTHING && Boolean(linkIn(location.href))); // that one comes
  element("board-card").hidden = !board;
  element("board-card").classList.toggle("stale", isStale());
  takeAway.refuse(isStale() ? "There is nothing to take away: no puzzle can be read from the text." : "");
  element("views").hidden = element("hides").hidden = isDrawing();
  element("steps-bar").hidden = isDrawing() || name !== "steps";
  element("mine-bar").hidden = isDrawing() || name !== "mine";
  element("solutions").hidden = isDrawing() || name !== "solution" || (state.answer?.solutions.length ?? 0) < 2;
  press(element("views"), "view", name);
  press(element("solutions"), "solution", String(state.solution));
  press(element("finger"), "finger", view.finger);
  if (name !== "steps" || isDrawing()) stepping.stop();
  else if (!isStale()) stepping.load();
  const now = painter();
  view.hasTwoColours = isDrawing();
  view.onPaint = now && ((cell, value) => now.paint(cell, value));
  view.onStroke = now && ((isTakenBack) => (now.endStroke(isTakenBack), isTakenBack && unpoint()));
  element("board").classList.toggle("paints", Boolean(now));
  element("finger").hidden = !now;
  const layout = [board, tab, name, Boolean(now)]; // no text, which may be longer or shorter
  if (board && layout.some((part, index) => part !== laidOut[index])) view.layOut();
  laidOut = layout;
  refresh();
  if (board && !focused.checkVisibility()) element("board").focus({ preventScroll: true });
}

// Draws the cells from the state; scrolls to a cell or line of the attempt, if one is named.
function refresh(place = null) {
  if (!state.board || isStale()) return;
  view.isLocked = isPlaying() && attempt.isSolved; // or the next touch would spoil it
  element("board").classList.toggle("drags", Boolean(view.onPaint) && !view.isLocked && view.finger !== "scroll");
  if (isDrawing()) view.show(editor.state.cells, { differ: differences() });
  else if (state.view === "steps") view.show(stepping.cells, stepping.marks);
  else if (state.view === "mine") view.show(attempt.cells, attempt.marks);
  else showSolution();
  if (place && isPlaying()) view.scrollTo(place);
  element("mine-next").hidden = !attempt.isSolved || !next();
  element("mine-note").textContent = isPlaying() ? NOTES[state.answer?.verdict] ?? "" : "";
  showPlace();
}

// What a player cannot see where the solution is hidden.
const NOTES = {
  unsolvable: "This puzzle has no solution, so mistakes are not marked.",
  multiple: "This puzzle has several solutions, and any of them counts. Mistakes are not marked.",
  unknown: "Whether this puzzle has one solution is not known, so mistakes are not marked.",
};

// What brings the next puzzle of the file, the set or the samples, if there is one.
const next = () => state.puzzle.next ?? picks.after(state.puzzle.link);

function differences() {
  const { verdict, solutions } = state.answer ?? {};
  return verdict === "multiple" ? differing(solutions) : null;
}

function showSolution() {
  const { answer, board } = state;
  if (answer?.solutions.length) {
    view.show(cellsFrom(answer.solutions[state.solution] ?? answer.solutions[0]), { differ: differences() });
  } else if (answer?.conflict?.wrong.length) {
    view.show(cellsFrom(answer.conflict.cells), { wrongLines: answer.conflict.wrong });
  } else {
    view.show(givenOf(board));
  }
}

// The text under the board, of two lines on a phone: the cell that is pointed at, as it is now; otherwise the rules, and
// how to see all, or larger cells.
let pointed = null;

function showPlace() {
  const isOnBoard = pointed && pointed.place.x < view.width && pointed.place.y < view.height;
  const dragged = pointed?.dragged > 1 ? `${pointed.dragged} cells to ` : "";
  const scroll = element("board").matches(".drags") ? "Two fingers scroll, " : "A finger scrolls, ";
  const zoom = view.isLarger ? `${view.isForFingers ? scroll : ""}Fit shows the whole board.`
    : view.isTooSmall ? `The cells are ${view.hasClues ? "small" : "too small for clues"}: + makes them larger.` : "";
  const rules = isPlaying() && !attempt.hasBegun && view.hasClues ? "Each number is a run of black cells. " : "";
  const text = isOnBoard ? dragged + view.words(pointed.place) : rules + zoom || "\u00a0";
  const locked = "A solved board is locked until Undo or Clear.";
  element("place").textContent = !view.isLocked ? text : view.isFocused ? `${text}. ${locked}` : locked;
}

// After an undo or redo, only the keyboard points at a cell.
function unpoint() {
  if (!view.isFocused) pointed = null;
  showPlace();
}

view.onMove = (place, isByKey, dragged = 1) => {
  pointed = place && { place, dragged };
  element("place").setAttribute("aria-live", isByKey ? "polite" : "off");
  showPlace();
};

// --- tabs ------------------------------------------------------------------------------------------------------------

const TABS = ["text", "draw", "pick"];

function setTab(chosen) {
  if (chosen === state.tab) return;
  const wasDrawing = isDrawing();
  if (chosen === "draw" && state.board) {
    state.lastShown = { width: view.width, height: view.height, cells: view.cells };
  }
  state.tab = chosen;
  if (isDrawing()) {
    incoming.cancel(); // a text that is still to be read would end the drawing
    become(editor.puzzle, false);
  } else if (wasDrawing) {
    state.board = null;
    become(state.read, false);
    if (input.text.value !== state.read.text) input.read(false); // it was typed just before the drawing
  } else {
    draw();
  }
}

for (const [index, tab] of TABS.entries()) {
  element(`tab-${tab}`).addEventListener("click", () => setTab(tab));
  element(`tab-${tab}`).addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const next = TABS[(index + by + TABS.length) % TABS.length];
    setTab(next);
    element(`tab-${next}`).focus();
    event.preventDefault();
  });
}

// --- controls ----------------------------------------------------------------------------------------------------------

function onChoice(group, name, chosen) {
  element(group).addEventListener("click", ({ target: { dataset } }) => {
    if (!dataset[name]) return;
    chosen(dataset[name]);
    draw();
  });
}

onChoice("views", "view", (name) => (state.view = name));
onChoice("solutions", "solution", (number) => (state.solution = Number(number)));
onChoice("finger", "finger", (does) => (view.finger = does));
element("hide-solution").checked = kept().hideSolution ?? matchMedia("(pointer: coarse)").matches;
element("hide-solution").addEventListener("change", ({ target: { checked } }) => {
  keep({ hideSolution: checked });
  state.view = checked ? "mine" : state.view;
  draw();
});
element("mine-next").addEventListener("click", () => next()());
for (const id of ["mine-undo", "mine-redo", "draw-undo", "draw-redo"]) element(id).addEventListener("click", unpoint);
element("more").addEventListener("click", () => {
  element("stage").focus(); // the button goes
  solve(Number(element("more").dataset.seconds));
});
for (const [id, by] of Object.entries({ "zoom-in": 1, "zoom-out": -1, "zoom-fit": 0 })) {
  element(id).addEventListener("click", () => view.zoom(by));
}
view.onSize = () => state.board && showPlace();
element("draw-from").addEventListener("click", () => {
  if (state.lastShown) editor.take(state.lastShown.width, state.lastShown.height, state.lastShown.cells);
});
element("draw-use").addEventListener("click", () => {
  const { link } = editor.puzzle;
  setTab("text");
  open(link);
});

const KEYS = {
  "+": () => view.zoom(1), "=": () => view.zoom(1), "-": () => view.zoom(-1), f: () => view.zoom(0),
  h: () => isPlaying() && attempt.hint(), c: () => isPlaying() && attempt.check(),
  ",": () => state.view === "steps" && stepping.by(-1), ".": () => state.view === "steps" && stepping.by(1),
  p: () => state.view === "steps" && stepping.play(), g: () => state.view === "steps" && stepping.nextGuess(),
};

// Keys without Ctrl act on the board and its controls alone: elsewhere, whoever speaks to the machine would set them off.
addEventListener("keydown", (event) => {
  if (event.target.closest("input:not([type=range], [type=checkbox]), textarea, select")) return;
  if (event.altKey || event.metaKey || event.defaultPrevented) return;
  const key = event.key.toLowerCase();
  if (event.ctrlKey) {
    const way = { z: event.shiftKey ? "redo" : "undo", y: "redo" }[key];
    const now = painter();
    if (way && now) (now.history[way](), unpoint(), event.preventDefault());
    return;
  }
  if (!event.target.closest("#board-card")) return;
  const act = !isDrawing() || "+=-f".includes(key) ? KEYS[key] : null;
  if (act) (act(), event.preventDefault());
});

// --- the beginning -------------------------------------------------------------------------------------------------------

async function begin() {
  // A link brings its puzzle. Where it is that of the text before, that text comes back, as without a link.
  const before = kept();
  const link = linkIn(location.href);
  const isDrawn = history.state === "drawn" && before.drawing;
  if (!link || before.link === link || isDrawn) {
    input.put(before.text ?? "", before.number);
    state.view = before.view ?? state.view;
    if (isDrawn) setTab("draw");
    else if (before.board) (show({ ...NOTHING, ...before }), bringIntoView()); // played before the solver is there
  } else {
    input.put(link);
    verdict.say("busy", OPENING);
  }
  const known = await facts();
  state.seconds = python.seconds = known.puzzle_seconds;
  picks.fill(known);
  refresh(); // a solved puzzle leads to a sample
  takeAway.fill(known.formats);
  setTotal(known.python_bytes);
  element("live-link").hidden = !known.live;
  input.mostBytes = known.most_bytes;
  editor.longestSide = known.longest_side;
  for (const id of ["picture-width", "draw-width", "draw-height"]) element(id).max = known.longest_side;
  if (state.read === NOTHING && !isDrawing() && input.text.value.trim()) await input.read(link && !state.board ? LINKED : false);
  return known;
}

addEventListener("pagehide", () => keep({ view: state.view }));

// Somebody has changed the address, or gone back; then the browser would scroll to where that was, maybe last of all.
history.scrollRestoration = "manual";
addEventListener("hashchange", () => {
  const link = linkIn(location.href);
  if (link === state.puzzle.link) return;
  setTab("text");
  input.put(link);
  input.read(LINKED);
});
element("not-started").hidden = true;
draw();
view.layOut();
takeNewVersion();
begin()
  .then((known) => void (known.offline && keepOffline().catch(() => {}))) // the page works without, too
  .catch((error) => verdict.say("fault", "The page does not start.", error.message));
