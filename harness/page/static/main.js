// The page: what comes in is shown, solved, stepped through and taken away.

import { facts, Latest, python } from "./api.js";
import { Attempt } from "./attempt.js";
import { BoardView } from "./board.js";
import { Editor } from "./editor.js";
import { PuzzleInput } from "./input.js";
import { Picks } from "./picks.js";
import { keepOffline, setTotal, takeNewVersion } from "./status.js";
import { Stepping } from "./stepping.js";
import { TakeAway } from "./takeaway.js";
import { Verdict, differing } from "./verdict.js";
import { UNKNOWN, cellsFrom, many } from "./words.js";

const DRAWN_MS = 200;
const element = (id) => document.getElementById(id);

const state = { board: null, answer: null, view: "solution", solution: 0, isDrawing: false, seconds: 10 };

const view = new BoardView(element("frame"), element("spacer"), element("board"));
const verdict = new Verdict();
const editor = new Editor(() => drawn());
const attempt = new Attempt(() => refresh(), () => state.answer ?? {});
const stepping = new Stepping(() => refresh());
const incoming = new Latest();
incoming.onBegin = () => verdict.reads();
const input = new PuzzleInput(incoming, (found) => open(found.board), (why) => {
  verdict.say("fault", "No puzzle can be read.", why);
  element("title").textContent = "";
  setStale(true);
}, () => settle());
const picks = new Picks(incoming, (found) => open(found.board), () => settle());
const takeAway = new TakeAway(() => ({ board: state.board, cells: state.isDrawing ? editor.state.cells : view.cells }));

// Whether the board shown is not that of the text, which cannot be read: then it cannot be taken away.
function setStale(isStale) {
  element("board-card").classList.toggle("stale", isStale);
  takeAway.refuse(isStale ? "There is nothing to take away: no puzzle can be read from the text." : "");
}

// --- what is shown -------------------------------------------------------------------------------------------------

function refresh() {
  if (!state.board) return;
  if (state.isDrawing) {
    const differ = state.answer?.verdict === "multiple" ? differing(state.answer.solutions) : null;
    view.show(editor.state.cells, { differ });
  } else if (state.view === "steps") {
    view.show(stepping.cells, stepping.marks);
  } else if (state.view === "mine") {
    view.show(attempt.cells, attempt.marks);
  } else {
    showSolution();
  }
}

function showSolution() {
  const { answer, board } = state;
  const count = board.rows.length * board.columns.length;
  if (answer?.solutions.length) {
    const differ = answer.solutions.length > 1 ? differing(answer.solutions) : null;
    view.show(cellsFrom(answer.solutions[state.solution] ?? answer.solutions[0]), { differ });
  } else if (answer?.conflict?.wrong.length) {
    view.show(cellsFrom(answer.conflict.cells), { wrongLines: answer.conflict.wrong });
  } else {
    view.show(board.cells ? cellsFrom(board.cells) : new Int8Array(count).fill(UNKNOWN));
  }
}

function press(group, name, value) {
  for (const button of group.querySelectorAll("button")) button.setAttribute("aria-pressed", button.dataset[name] === value);
}

function setView(name) {
  state.view = name;
  press(element("views"), "view", name);
  if (name !== "steps") stepping.stop();
  layOut();
  if (name === "steps") stepping.load();
  refresh();
}

function layOut() {
  const { isDrawing } = state;
  element("welcome").hidden = Boolean(state.board);
  element("board-card").hidden = !state.board;
  element("views").hidden = isDrawing;
  element("steps-bar").hidden = isDrawing || state.view !== "steps";
  element("mine-bar").hidden = isDrawing || state.view !== "mine";
  element("solutions").hidden = isDrawing || state.view !== "solution" || (state.answer?.solutions.length ?? 0) < 2;
  view.hasTwoColours = isDrawing;
  const painter = isDrawing ? editor : state.view === "mine" ? attempt : null;
  view.onPaint = painter && ((cell, value) => painter.paint(cell, value));
  view.onStroke = painter && (() => painter.endStroke());
  element("board").classList.toggle("paints", Boolean(painter));
  element("board").classList.toggle("drags", Boolean(painter) && view.finger !== "scroll");
  element("finger").hidden = !painter;
  if (state.board) view.layOut();
}

// --- a puzzle comes in ---------------------------------------------------------------------------------------------

async function open(board) {
  if (state.isDrawing) setTab("text", false);
  state.board = board;
  state.answer = null;
  state.solution = 0;
  press(element("solutions"), "solution", "0");
  element("place").textContent = "\u00a0";
  layOut();
  view.setPuzzle(board.rows, board.columns);
  name(board);
  attempt.start(board);
  stepping.start(board);
  layOut();
  refresh();
  if (state.view === "steps") stepping.load();
  await solve(board);
}

async function solve(board) {
  await verdict.of(board, state.seconds, (answer) => {
    if (state.board !== board) return;
    state.answer = answer;
    attempt.sayIfDone();
    layOut();
    refresh();
  });
  if (state.board === board) view.layOut(); // the verdict may take two lines
}

// Nothing new has come: the board that is there has its title and verdict again.
function settle() {
  if (state.isDrawing) drawn();
  else if (state.board) {
    name(state.board);
    solve(state.board);
  } else verdict.say("none", "Paste, draw or pick a puzzle.");
}

function name({ rows, columns, title, author }) {
  element("title").textContent = [title, author].filter(Boolean).join(" by ");
  element("board").setAttribute("aria-label", `The board, ${many(columns.length, "column")} by ${many(rows.length, "row")}`);
  setStale(false);
}

let drawnTimer = 0;

// The board that is drawn has changed: its clues are shown at once, the verdict soon.
function drawn() {
  if (!state.isDrawing) return;
  const { rows, columns } = editor.board;
  state.board = { rows, columns, title: null, author: null };
  state.answer = null;
  layOut();
  view.setPuzzle(rows, columns);
  name(state.board);
  refresh();
  clearTimeout(drawnTimer);
  verdict.say("busy", "Drawing …"); // what was said is of another board
  const { board } = state;
  drawnTimer = setTimeout(() => state.board === board && solve(board), DRAWN_MS);
}

// --- tabs ------------------------------------------------------------------------------------------------------------

const TABS = ["text", "draw", "pick"];

function setTab(chosen, opens = true) {
  for (const tab of TABS) {
    const isChosen = tab === chosen;
    element(`tab-${tab}`).setAttribute("aria-selected", isChosen);
    element(`tab-${tab}`).tabIndex = isChosen ? 0 : -1;
    element(`panel-${tab}`).hidden = !isChosen;
  }
  const wasDrawing = state.isDrawing;
  if (chosen === "draw" && !wasDrawing && state.board) {
    state.lastShown = { width: view.width, height: view.height, cells: view.cells };
  }
  state.isDrawing = chosen === "draw";
  clearTimeout(drawnTimer);
  if (state.isDrawing && opens) {
    input.cancel(); // a text that is still to be read would end the drawing
    drawn();
  } else if (wasDrawing && opens && state.board) {
    open(state.board);
  }
  layOut();
}

for (const [at, tab] of TABS.entries()) {
  element(`tab-${tab}`).addEventListener("click", () => setTab(tab));
  element(`tab-${tab}`).addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const next = TABS[(at + by + TABS.length) % TABS.length];
    setTab(next);
    element(`tab-${next}`).focus();
    event.preventDefault();
  });
}

// --- controls ----------------------------------------------------------------------------------------------------------

for (const button of element("views").querySelectorAll("button")) {
  button.addEventListener("click", () => setView(button.dataset.view));
}
for (const button of element("solutions").querySelectorAll("button")) {
  button.addEventListener("click", () => {
    state.solution = Number(button.dataset.solution);
    press(element("solutions"), "solution", button.dataset.solution);
    refresh();
  });
}
element("zoom-in").addEventListener("click", () => view.zoom(1));
element("zoom-out").addEventListener("click", () => view.zoom(-1));
element("zoom-fit").addEventListener("click", () => view.zoom(0));
element("draw-from").addEventListener("click", () => {
  if (state.lastShown) editor.take(state.lastShown.width, state.lastShown.height, state.lastShown.cells);
});
view.onMove = (place, isByKey, dragged = 1) => {
  element("place").setAttribute("aria-live", isByKey ? "polite" : "off");
  element("place").textContent = (dragged > 1 ? `${dragged} cells to ` : "") + view.words(place);
};
element("finger").addEventListener("click", ({ target: { dataset } }) => {
  if (!dataset.finger) return;
  view.finger = dataset.finger;
  press(element("finger"), "finger", view.finger);
  layOut();
});

const KEYS = {
  "+": () => view.zoom(1), "=": () => view.zoom(1), "-": () => view.zoom(-1), f: () => view.zoom(0),
  h: () => state.view === "mine" && attempt.hint(), c: () => state.view === "mine" && attempt.check(),
  ",": () => state.view === "steps" && stepping.by(-1), ".": () => state.view === "steps" && stepping.by(1),
  p: () => state.view === "steps" && stepping.play(), g: () => state.view === "steps" && stepping.nextGuess(),
};

// Keys without Ctrl act on the board and its controls alone: elsewhere, whoever speaks to the machine would set them off.
addEventListener("keydown", (event) => {
  if (event.target.closest("input:not([type=range]), textarea, select")) return;
  if (event.altKey || event.metaKey || event.defaultPrevented) return;
  const key = event.key.toLowerCase();
  const painter = state.isDrawing ? editor : state.view === "mine" ? attempt : null;
  if (event.ctrlKey) {
    const act = { z: () => (event.shiftKey ? painter.redo() : painter.undo()), y: () => painter.redo() }[key];
    if (act && painter) (act(), event.preventDefault());
    return;
  }
  if (!event.target.closest("#board-card")) return;
  const act = !state.isDrawing || "+=-f".includes(key) ? KEYS[key] : null;
  if (act) (act(), event.preventDefault());
});

// --- the beginning -------------------------------------------------------------------------------------------------------

// A link brings its puzzle; without one, the first sample is shown.
async function begin() {
  const link = new URLSearchParams(location.search).get("puzzle") ?? new URLSearchParams(location.hash.slice(1)).get("puzzle");
  if (link) {
    setTab("text");
    input.put(link);
  }
  const known = await facts();
  state.seconds = python.seconds = known.puzzle_seconds;
  picks.fill(known);
  takeAway.fill(known.formats);
  setTotal(known.python_bytes);
  element("live-link").hidden = !known.live;
  input.mostBytes = known.most_bytes;
  editor.longestSide = known.longest_side;
  for (const id of ["picture-width", "draw-width", "draw-height"]) element(id).max = known.longest_side;
  if (link && !state.isDrawing) await input.read();
  return known;
}

addEventListener("hashchange", () => location.hash.includes("puzzle=") && begin());
element("not-started").hidden = true;
layOut();
view.layOut();
takeNewVersion();
begin()
  .then((known) => void (known.offline && keepOffline().catch(() => {}))) // the page works without, too
  .catch((error) => verdict.say("fault", "The page does not start.", error.message));
