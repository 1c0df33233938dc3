// Boards, lines and numbers in words.

export const UNKNOWN = -1;
export const WHITE = 0;
export const BLACK = 1;

export const many = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

export const clueWords = (clue) => (clue.length ? clue.join(" ") : "0");

// Neighbours joined: 3 to 5, 8, 11 to 12. Numbers count from 1.
function ranges(numbers) {
  const parts = [];
  for (let begin = 0; begin < numbers.length; ) {
    let end = begin;
    while (end + 1 < numbers.length && numbers[end + 1] === numbers[end] + 1) end++;
    parts.push(end === begin ? `${numbers[begin]}` : `${numbers[begin]} to ${numbers[end]}`);
    begin = end + 1;
  }
  const left = parts.length - 8;
  if (left > 1) return `${parts.slice(0, 8).join(", ")} and ${left} more`;
  return parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : parts.join("");
}

// Several lines: "rows 3 to 5 and column 8".
export const linesInWords = (lines) =>
  ["row", "column"]
    .map((kind) => [kind, lines.filter(([name]) => name === kind).map(([, number]) => number)])
    .filter(([, numbers]) => numbers.length)
    .map(([kind, numbers]) => `${kind}${numbers.length > 1 ? "s" : ""} ${ranges(numbers)}`)
    .join(" and ");

const colour = (places, name) =>
  places.length === 1 ? `cell ${places[0]} is ${name}` : `cells ${ranges(places)} are ${name}`;

// What follows for a line: "row 7 (clue 4 2): cells 3 to 4 are black".
export function lineWords(board, [kind, number], black = [], white = []) {
  const width = board.columns.length;
  const clue = (kind === "row" ? board.rows : board.columns)[number - 1];
  const place = (cell) => (kind === "row" ? cell % width : Math.floor(cell / width)) + 1;
  const told = [];
  if (black.length) told.push(colour(black.map(place), "black"));
  if (white.length) told.push(colour(white.map(place), "white"));
  return `${kind} ${number} (clue ${clueWords(clue)}): ${told.join("; ")}`;
}

export const placeWords = (board, cell) => {
  const width = board.columns.length;
  return `row ${Math.floor(cell / width) + 1}, column ${(cell % width) + 1}`;
};

export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export function time(seconds) {
  if (seconds >= 1) return `${seconds.toPrecision(3)} s`;
  if (seconds >= 0.001) return `${(seconds * 1e3).toPrecision(3)} ms`;
  return `${Math.round(seconds * 1e6)} µs`;
}

// Seconds as a clock shows them.
export function clockTime(seconds) {
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

// Cells between the form that goes over the wire and an array.
export const cellsFrom = (text) => Int8Array.from(text, (cell) => (cell === "1" ? BLACK : cell === "0" ? WHITE : UNKNOWN));
export const textFrom = (cells) => Array.from(cells, (cell) => "?01"[cell + 1]).join("");

// The cells that a board gives, or unknown ones.
export function givenOf(board) {
  if (board?.cells) return cellsFrom(board.cells);
  return new Int8Array(board ? board.rows.length * board.columns.length : 0).fill(UNKNOWN);
}
