// Clues: those of cells, the blocks that stand finished, and clues as a text of one line.

import { BLACK, UNKNOWN } from "./words.js";

// The lengths of the runs of black cells.
function runsOf(line) {
  const found = [];
  let run = 0;
  for (const cell of [...line, UNKNOWN]) {
    if (cell === BLACK) run++;
    else if (run) (found.push(run), (run = 0));
  }
  return found;
}

const rowOf = (cells, width, y) => cells.slice(y * width, (y + 1) * width);
const columnOf = (cells, width, x) => Array.from({ length: cells.length / width }, (_, y) => cells[y * width + x]);

export function cluesOf(cells, width, height) {
  return {
    rows: Array.from({ length: height }, (_, y) => runsOf(rowOf(cells, width, y))),
    columns: Array.from({ length: width }, (_, x) => runsOf(columnOf(cells, width, x))),
  };
}

const same = (first, second) => first.length === second.length && first.every((block, place) => block === second[place]);

// How many blocks stand finished from the beginning of a line up to its first unknown cell.
function finishedFrom(clue, line) {
  let block = 0;
  let run = 0;
  for (const cell of line) {
    if (cell === UNKNOWN) return block;
    if (cell === BLACK) run++;
    else if (run) {
      if (run !== clue[block]) return block;
      block++;
      run = 0;
    }
  }
  return block;
}

// The blocks of a line that stand finished: [at the beginning, at the end].
function finishedBlocks(clue, line) {
  if (same(runsOf(line), clue)) return [Math.max(1, clue.length), 0]; // a line without blocks shows a 0
  return [finishedFrom(clue, line), finishedFrom(clue.toReversed(), line.toReversed())];
}

// The finished blocks of each row and column of a board.
export function finishedOf({ rows, columns }, cells) {
  const width = columns.length;
  return {
    row: rows.map((clue, y) => finishedBlocks(clue, rowOf(cells, width, y))),
    column: columns.map((clue, x) => finishedBlocks(clue, columnOf(cells, width, x))),
  };
}

// Whether the cells have the clues of the board, whatever else solves it.
export function isSolved({ rows, columns }, cells) {
  const found = cluesOf(cells, columns.length, rows.length);
  return rows.every((clue, line) => same(clue, found.rows[line])) && columns.every((clue, line) => same(clue, found.columns[line]));
}

const lines = (clues) => clues.map((clue) => clue.join(",") || "0").join(":");

export const onelineOf = ({ rows, columns }) => `${lines(rows)}-${lines(columns)}`;
