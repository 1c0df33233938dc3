// The verdict in words.

import { ask, CANCELLED, Latest } from "./api.js";
import { element, made } from "./elements.js";
import { linesInWords, many, time } from "./words.js";

const PATIENCE_MS = 250;
const box = element("verdict");

const HEADS = { unique: "Unique", multiple: "Multiple solutions", unsolvable: "Unsolvable", unknown: "Unknown" };

function show(kind, head, ...details) {
  const text = [head, ...details.filter(Boolean)].join(" ");
  if (box.dataset.verdict === kind && box.textContent === text) return; // else it would be read out again
  box.dataset.verdict = kind;
  const spans = details.filter(Boolean).flatMap((detail) => [" ", made("span", detail)]);
  box.replaceChildren(made("strong", head), ...spans);
  element("more").hidden = kind !== "unknown";
}

// The cells in which two solutions differ.
export function differing([first, second]) {
  const found = new Set();
  for (let cell = 0; second && cell < first.length; cell++) if (first[cell] !== second[cell]) found.add(cell);
  return found;
}

function explained(answer, seconds) {
  const { verdict, solutions, exhausted, conflict } = answer;
  switch (verdict) {
    case "unique":
      return "exactly one solution";
    case "multiple":
      return `${exhausted ? "two" : "two or more"}: ${many(differing(solutions).size, "cell")} differ between those shown`;
    case "unsolvable":
      if (answer.without_start && answer.without_start !== "unsolvable") {
        return "with the given cells; without them, there is a solution";
      }
      return conflict?.wrong.length
        ? `${linesInWords(conflict.wrong)}: no placement fits there together with the other lines`
        : "no single line shows it; the complete search found no solution";
    default:
      return solutions.length
        ? `there is a solution; the search for a second one stopped after ${seconds} s`
        : `the search stopped after ${seconds} s without a solution`;
  }
}

function counted({ rows, columns }, { seconds, counts }) {
  const size = `${columns.length}x${rows.length}`;
  const work = [many(counts.line_solves ?? 0, "line solve")];
  if (counts.decisions) work.push(many(counts.decisions, "decision"));
  if (counts.conflicts) work.push(many(counts.conflicts, "conflict"));
  return `${size} · ${time(seconds)} · ${work.join(" · ")}`;
}

export class Verdict {
  #latest = new Latest();
  #asking = null; // what is asked now: another one each time
  #reading = 0;

  say(kind, ...texts) {
    this.#withdraw();
    show(kind, ...texts);
  }

  // Another puzzle is being read, and its verdict follows.
  reads() {
    this.#withdraw();
    box.setAttribute("aria-busy", "true");
    this.#reading = setTimeout(() => show("busy", "Reading …"), PATIENCE_MS);
  }

  #withdraw() {
    this.#latest.cancel();
    this.#asking = null;
    clearTimeout(this.#reading);
    box.setAttribute("aria-busy", "false");
  }

  // Says the verdict on a board. `onAnswer` is called with what is known so far: with the first solution as soon as
  // it is found, and again when it is known whether there are others.
  async of(board, seconds, onAnswer) {
    this.#withdraw();
    const waiting = setTimeout(() => show("busy", "Solving …"), PATIENCE_MS);
    const own = (this.#asking = Symbol());
    box.setAttribute("aria-busy", "true");
    const asked = async (solutions) => {
      const answer = await this.#latest.run((signal) => ask("solve", { board, solutions, seconds }, signal));
      clearTimeout(waiting);
      return answer;
    };
    const told = (answer) => {
      onAnswer(answer);
      show(answer.verdict, HEADS[answer.verdict], explained(answer, seconds), counted(board, answer));
    };
    try {
      const first = await asked(1);
      if (!first) return;
      if (first.verdict !== "unknown" || !first.solutions.length) return told(first);
      onAnswer(first);
      show("busy", "A solution", "is it the only one? …");
      const answer = await asked(2);
      if (answer) told(answer.solutions.length ? answer : { ...answer, solutions: first.solutions });
    } catch (error) {
      if (error.message === CANCELLED) show("unknown", CANCELLED, "The search was stopped before there was a verdict.");
      else show("fault", "No verdict", error.message);
    } finally {
      clearTimeout(waiting);
      if (this.#asking === own) box.setAttribute("aria-busy", "false");
    }
  }
}
