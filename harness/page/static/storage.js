// The data that the browser keeps: the text, the player's choices, the drawing, and the attempts at the last puzzles.

import { element } from "./elements.js";

const NAME = "nonobot";
const MOST_ATTEMPTS = 50;
const MOST_CHARACTERS = 1_000_000; // of all attempts; of the text, which may be longer than is kept

// Returns all that is kept. A browser may keep nothing.
export function kept() {
  try {
    return JSON.parse(localStorage.getItem(NAME)) ?? {};
  } catch {
    return {};
  }
}

// Keeps these attributes in place of those before; another tab may have changed the others. The page says so where
// the browser refuses, or has no room.
export function keep(changed) {
  let isKept = true;
  try {
    localStorage.setItem(NAME, JSON.stringify({ ...kept(), ...changed }));
  } catch {
    isKept = false;
  }
  element("mine-kept").hidden = !isKept;
  element("mine-not-kept").hidden = isKept;
}

export const keepText = ({ text, number, link, board }) =>
  keep(text.length <= MOST_CHARACTERS ? { text, number, link, board } : { text: "", number: 1, link: "", board: null });

// The attempts that are kept, the latest first: { puzzle, cells, back, forward, seconds, link, name, isSolved }; `back`
// and `forward` are the cells to which undo and redo lead, of all but the latest one step.
export const attempts = () => kept().attempts ?? [];

// Returns the attempt at a puzzle, or undefined.
export const attemptAt = (puzzle) => attempts().find((attempt) => attempt.puzzle === puzzle);

export function keepAttempt(attempt) {
  const others = attempts().filter((earlier) => earlier.puzzle !== attempt.puzzle);
  const shorter = others.map(({ back, forward, ...rest }) => ({ ...rest, back: back?.slice(-1), forward: forward?.slice(-1) }));
  const found = [attempt, ...shorter].slice(0, MOST_ATTEMPTS);
  const size = () => found.reduce((sum, { puzzle, cells }) => sum + puzzle.length + 3 * cells.length, 0);
  while (found.length > 1 && size() > MOST_CHARACTERS) found.pop();
  keepAttempts(found);
}

// Keeps these attempts alone, and tells it to the list of them.
export function keepAttempts(attempts) {
  keep({ attempts });
  dispatchEvent(new Event("attempts"));
}
