"""The hard boards of the benchmarks, with line states sampled from searches of them.

`NUMBA_DISABLE_JIT=1 python -m nonobot.harness.bench.positions` wrote positions.json. Without a descent, the
champion meets over 5000 conflicts in each puzzle. The states are calls of the papers' line kernel, drawn from the
first part of a search with FP1.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nonobot.harness.bench.job import Job, counting_job
from nonobot.protocol import Puzzle
from nonobot.system import report
from nonobot.tournament_data import load_set

FILE = Path(__file__).with_name("positions.json")
PUZZLES = {1: (80, 107, 110, 123), 2: (114,), 3: (78, 90, 106)}  # numbers of the puzzles, by the seed of their set
CALLS_EACH = 12_000
STATES_EACH = 128


@dataclass(frozen=True)
class Position:
    """A puzzle with states of its lines, as number of the line and masks of the known cells.

    `painted` is the sum of the known cells once each line is painted, without lines in conflict.
    """

    puzzle: Puzzle
    lines: npt.NDArray[np.uint64]
    black: npt.NDArray[np.uint64]
    white: npt.NDArray[np.uint64]
    painted: int

    @property
    def states(self) -> tuple[npt.NDArray[np.int64], ...]:
        """`lines`, `black` and `white` as the kernels take them."""
        return tuple(numbers.astype(np.int64) for numbers in (self.lines, self.black, self.white))


@cache
def positions() -> tuple[Position, ...]:
    """Return all positions."""
    found = []
    for entry in json.loads(FILE.read_text(encoding="ascii")):
        puzzle = Puzzle(columns=tuple(map(tuple, entry["columns"])), rows=tuple(map(tuple, entry["rows"])))
        lines, black, white = np.array(entry["states"], np.uint64).T.copy()
        found.append(Position(puzzle, lines, black, white, entry["painted"]))
    return tuple(found)


def deduced_cells(level: int) -> int:
    """Return the sum of the cells of all positions that FP`level` of the papers' strategy deduces at the root."""
    from nonobot.bot.papers import deduce

    deduced = [deduce(position.puzzle, level, "recurrence") for position in positions()]
    return sum(int(np.count_nonzero(cells >= 0)) for cells in deduced if cells is not None)


def painting_job(kernel: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Job:
    """Return the job of a kernel that paints the lines of all positions."""
    lines = sum(position.lines.size for position in positions())
    problem = "lines are not painted as they should be"
    return counting_job(lines, kernel, calls, lambda: sum(position.painted for position in positions()), problem)


class _EnoughError(Exception):
    """The kernel was called often enough; the search may stop."""


def sampled(puzzle: Puzzle, seed: int) -> list[list[int]]:
    """Return the line and the masks of black and white cells of some calls of the line kernel."""
    from unittest.mock import patch

    from nonobot.bot.papers import PapersStrategy, lines

    plain = vars(lines)["paint_with"]
    seen: Counter[tuple[int, int, int]] = Counter()

    def noting(m: Any, solver: Any, line: Any, black: Any, white: Any) -> Any:
        if seen.total() == CALLS_EACH:
            raise _EnoughError
        seen[int(line), int(black), int(white)] += 1
        return plain(m, solver, line, black, white)

    with suppress(_EnoughError), patch.dict(vars(lines), paint_with=noting):
        PapersStrategy("fp1").solve(puzzle)
    return sorted(map(list, random.Random(seed).sample(list(seen), STATES_EACH)))


def painted(puzzle: Puzzle, states: list[list[int]]) -> int:
    """Return the sum of the cells that are known once the states' lines are painted; a conflict counts none."""
    from nonobot.bot.papers.single_line import paint_line

    clues = [*puzzle.rows, *puzzle.columns]
    known = 0
    for line, black, white in states:
        length = puzzle.width if line < puzzle.height else puzzle.height
        after = paint_line(clues[line], length, black, white, solver="recurrence")
        known += (after[0] | after[1]).bit_count() if after else 0
    return known


def main() -> int:
    """Write positions.json."""
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        report("set NUMBA_DISABLE_JIT=1: the kernels have to be plain Python here")
        return 2
    entries = []
    for seed, numbers in PUZZLES.items():
        name = f"boardgen:25x25x200:seed={seed}"
        of_number = load_set(name).by_number
        for number in numbers:
            puzzle = of_number[number]
            entry = {"origin": f"{name} ${number}", "columns": puzzle.columns, "rows": puzzle.rows}
            states = sampled(puzzle, number)
            entries.append(entry | {"painted": painted(puzzle, states), "states": states})
            report(f"{name} ${number}")
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
    FILE.write_text(f"[\n{lines}\n]\n", encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
