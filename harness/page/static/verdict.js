// The verdict in words.

import { ask, Latest } from "./api.js";
import { many, ranges, time } from "./words.js";

const PATIENCE_MS = 250;
const box = document.getElementById("verdict");

const HEADS = { unique: "Unique", multiple: "Multiple solutions", unsolvable: "Unsolvable", unknown: "Unknown" };

function show(kind, head, ...details) {
  box.dataset.verdict = kind;
  const parts = [document.createElement("strong")];
  parts[0].textContent = head;
  for (const detail of details.filter(Boolean)) {
    const words = document.createElement("span");
    words.textContent = detail;
    parts.push(" ", words);
  }
  box.replaceChildren(...parts);
}

// The cells in which two solutions differ.
export function differing([first, second]) {
  const found = new Set();
  for (let at = 0; second && at < first.length; at++) if (first[at] !== second[at]) found.add(at);
  return found;
}

const linesInWords = (lines) =>
  ["row", "column"]
    .map((kind) => [kind, lines.filter(([one]) => one === kind).map(([, number]) => number)])
    .filter(([, numbers]) => numbers.length)
    .map(([kind, numbers]) => `${kind}${numbers.length > 1 ? "s" : ""} ${ranges(numbers)}`)
    .join(" and ");

function explained(answer, seconds) {
  const { verdict, solutions, complete, conflict } = answer;
  switch (verdict) {
    case "unique":
      return "exactly one solution";
    case "multiple":
      return `${complete ? "two" : "two or more"}: ${many(differing(solutions).size, "cell")} differ between those shown`;
    case "unsolvable":
      if (answer.without_start && answer.without_start !== "unsolvable") {
        return "with the cells that are given; without them there is a solution";
      }
      return conflict?.wrong.length
        ? `${linesInWords(conflict.wrong)}: nothing fits there once the other lines have told what they can`
        : "no line alone contradicts; the search has tried everything";
    default:
      return `${solutions.length ? "there is a solution; whether it is the only one" : "whether there is a solution"} could not be told within ${seconds} s`;
  }
}

function counted({ rows, columns }, { seconds, counts }) {
  const size = `${columns.length}×${rows.length}`;
  const work = [many(counts.line_solves ?? 0, "line") + " painted"];
  if (counts.decisions) work.push(many(counts.decisions, "decision"));
  if (counts.conflicts) work.push(many(counts.conflicts, "contradiction"));
  return `${size} · ${time(seconds)} · ${work.join(" · ")}`;
}

export class Verdict {
  #latest = new Latest();

  say(kind, words) {
    this.#latest.cancel();
    show(kind, words);
  }

  // Returns the answer to a board, and says it; undefined if another was asked for meanwhile.
  async of(board, seconds) {
    const waiting = setTimeout(() => show("busy", "Solving …"), PATIENCE_MS);
    const waitingLong = setTimeout(
      () => show("busy", "Solving …", "hard boards take seconds, and the first large ones are compiled for"),
      2500,
    );
    box.setAttribute("aria-busy", "true");
    try {
      const answer = await this.#latest.run((signal) => ask("solve", { board }, signal));
      if (!answer) return undefined;
      clearTimeout(waiting);
      clearTimeout(waitingLong);
      show(answer.verdict, HEADS[answer.verdict], explained(answer, seconds), counted(board, answer));
      return answer;
    } catch (error) {
      clearTimeout(waiting);
      clearTimeout(waitingLong);
      show("fault", "No verdict", error.message);
      return undefined;
    } finally {
      clearTimeout(waiting);
      clearTimeout(waitingLong);
      box.setAttribute("aria-busy", "false");
    }
  }
}

