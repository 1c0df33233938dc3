// What stays in this browser: the text, the player's choices, and the attempts at the last puzzles.

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

// Keeps these attributes in place of those before; another tab may have changed the others.
export function keep(changed) {
  try {
    localStorage.setItem(NAME, JSON.stringify({ ...kept(), ...changed }));
  } catch {
    // the browser refuses, or has no room
  }
}

export const keepText = ({ text, number, link, board }) =>
  keep(text.length <= MOST_CHARACTERS ? { text, number, link, board } : { text: "", number: 1, link: "", board: null });

// The attempts that are kept, the latest first: { puzzle, cells, seconds, link, name, isSolved }.
export const attempts = () => kept().attempts ?? [];

// Returns the attempt at a puzzle, or undefined.
export const attemptAt = (puzzle) => attempts().find((attempt) => attempt.puzzle === puzzle);

export function keepAttempt(attempt) {
  const found = [attempt, ...attempts().filter((earlier) => earlier.puzzle !== attempt.puzzle)].slice(0, MOST_ATTEMPTS);
  const size = () => found.reduce((sum, { puzzle, cells }) => sum + puzzle.length + cells.length, 0);
  while (found.length > 1 && size() > MOST_CHARACTERS) found.pop();
  keep({ attempts: found });
}

export const forgetAttempts = () => keep({ attempts: [] });
