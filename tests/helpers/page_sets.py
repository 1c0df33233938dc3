"""Sets solved by the page's own worker, one question for each puzzle, and by the bot on this machine."""

from __future__ import annotations

import json
import resource
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nonobot.protocol import Puzzle, Record, Solution
from nonobot.protocol.formats import write
from nonobot.protocol.puzzle import cells_from_text
from nonobot.protocol.verify import mismatches
from tests.helpers.tabs import Tab
from tests.helpers.talking import COMMAND

AT_ONCE = 50  # boards in an expression

# Asks the page's worker for a solution of each board, one after the other, as the page does for a verdict.
SOLVE = """
(async boards => {
  const { python } = await import(new URL("static/api.js", document.baseURI).href);
  const began = performance.now(), answers = [];
  for (const [rows, columns] of boards) {
    const { solutions, counts, seconds } = await python.ask("solve", { board: { rows, columns }, solutions: 1 });
    answers.push([solutions, counts, seconds]);
  }
  return { answers, wall: (performance.now() - began) / 1000 };
})(%s)
"""


class Solved(NamedTuple):
    """Answers of the page to a set, in its order."""

    solutions: list[list[str]]
    counts: list[dict[str, int]]
    seconds: list[float]  # in the solver, by its own clock
    wall: float  # seconds of all of them, with the questions


def solved_on_page(tab: Tab, puzzles: Sequence[Puzzle]) -> Solved:
    """Return the answers of the page that a tab shows."""
    tab.wait_for("document.documentElement.dataset.python === 'ready'")
    answers, wall = [], 0.0
    for start in range(0, len(puzzles), AT_ONCE):
        boards = [[puzzle.rows, puzzle.columns] for puzzle in puzzles[start : start + AT_ONCE]]
        found = tab.value(SOLVE % json.dumps(boards))
        answers += found["answers"]
        wall += found["wall"]
    return Solved(*(list(column) for column in zip(*answers, strict=True)), wall)


def right(puzzles: Sequence[Puzzle], solved: Solved) -> int:
    """Return how many puzzles have a solution that this project's verifier accepts."""
    return sum(
        bool(found) and not mismatches(puzzle, solution_of(found[0], puzzle))
        for puzzle, found in zip(puzzles, solved.solutions, strict=True)
    )


def solution_of(text: str, puzzle: Puzzle) -> Solution:
    return Solution.from_bytes(cells_from_text(text, puzzle.size).content, puzzle.size)


class Native(NamedTuple):
    """The bot's own record of a set on this machine, and the CPU time of its process."""

    counts: list[dict[str, int]]
    cpu_seconds: float


def solved_natively(puzzles: Sequence[Puzzle]) -> Native:
    """Let `nonobot` solve a set, and return what `--stats` has of it."""
    with tempfile.TemporaryDirectory() as folder:
        stats = Path(folder, "stats.jsonl")
        batch = write([Record(puzzle) for puzzle in puzzles], "taai").data
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*COMMAND, "--stats", stats], input=batch, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        lines = [json.loads(line) for line in stats.read_text().splitlines()]
    return Native(lines, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def with_other_counts(solved: Solved, native: Native) -> list[int]:
    """Return the numbers of the puzzles, from 1, whose counts differ between the page and the bot."""
    pairs = zip(solved.counts, native.counts, strict=True)
    return [number for number, (own, line) in enumerate(pairs, 1) if own != {name: line.get(name) for name in own}]
