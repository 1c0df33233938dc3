// The verdict in words.

import { ask, CANCELLED } from "./api.js";
import { element, made } from "./elements.js";
import { linesInWords, many, time } from "./words.js";

const PATIENCE_MS = 250;
const box = element("verdict");

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

// The head of the verdict and its reason.
function explained({ verdict, solutions, exhausted, conflict, without_start: without }, seconds) {
  switch (verdict) {
    case "unique":
      return ["Unique", "exactly one solution"];
    case "multiple":
      return ["Multiple solutions",
        `${exhausted ? "two" : "two or more"}: ${many(differing(solutions).size, "cell")} differ between those shown`];
    case "unsolvable":
      if (without && without !== "unsolvable") return ["Unsolvable", "with the given cells; without them, there is a solution"];
      return ["Unsolvable", conflict?.wrong.length
        ? `${linesInWords(conflict.wrong)}: no placement fits there together with the other lines`
        : "no single line shows it; the complete search found no solution"];
    default:
      return solutions.length
        ? ["A solution", `perhaps not the only one: the solver looked for another one, and stopped after ${seconds} s`]
        : ["Not solved", `the solver stopped after ${seconds} s; the puzzle may still have a solution`];
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
  #now = new AbortController(); // of what is said now: nothing that was asked or begun before is said any more
  #waiting = 0;

  say(kind, ...texts) {
    this.begin();
    show(kind, ...texts);
  }

  // Takes the place of all before, for a verdict that follows; `words` are said if it takes long.
  begin(words = "") {
    this.#now.abort();
    clearTimeout(this.#waiting);
    if (words) this.#waiting = setTimeout(() => show("busy", words), PATIENCE_MS);
    box.setAttribute("aria-busy", Boolean(words));
    this.#now = new AbortController();
    return this.#now.signal;
  }

  // Says the verdict on a board. `onAnswer` is called with what is known so far: with the first solution as soon as
  // it is found, and again when it is known whether there are others.
  async of(board, seconds, onAnswer) {
    const signal = this.begin("Solving …");
    const ended = (answer, ...texts) => {
      if (signal.aborted) return;
      if (answer) onAnswer(answer);
      this.say(...texts);
    };
    const asked = (solutions) => ask("solve", { board, solutions, seconds }, signal);
    let answer = { solutions: [] };
    try {
      answer = await asked(1);
      if (signal.aborted) return;
      if (answer.verdict === "unknown" && answer.solutions.length) {
        const { solutions } = answer;
        onAnswer({ ...answer, verdict: "busy" });
        clearTimeout(this.#waiting);
        show("busy", "A solution", "is it the only one? …");
        answer = await asked(2);
        if (!answer.solutions.length) answer = { ...answer, solutions };
      }
      ended(answer, answer.verdict, ...explained(answer, seconds), counted(board, answer));
    } catch (error) {
      if (error.message === CANCELLED) ended({ ...answer, verdict: "unknown" }, "unknown", CANCELLED, "The search was stopped before there was a verdict.");
      else ended(null, "fault", "No verdict", error.message);
    }
  }
}
