"""How `positions.json` was made: `NUMBA_DISABLE_JIT=1 python -m nonobot.harness.bench.jobs.sample`, a minute.

The puzzles are hard ones of generated sets: without a descent the champion meets over 5000 conflicts in each. The
papers' strategy searches them with FP1 as plain Python, each call of its line kernel is taken down (propagation,
probes, and the first nodes of the search), and of the distinct calls some are drawn at random.
"""

from __future__ import annotations

import json
import os
import random
import sys
from typing import Any

from nonobot.harness.bench.jobs.positions import FILE
from nonobot.protocol import Puzzle
from nonobot.tournament_data import load_set

PUZZLES = {1: (80, 107, 110, 123), 2: (114,), 3: (78, 90, 106)}
"""Seed of the set to numbers of its puzzles."""

CALLS_EACH = 12_000
STATES_EACH = 128


class _EnoughError(Exception):
    """So many calls were seen."""


def sampled(puzzle: Puzzle, seed: int) -> list[list[int]]:
    """Return line, black cells and white cells of some calls of the line kernel."""
    from nonobot.bot.papers import PapersStrategy, propagation

    plain = vars(propagation)["paint_with"]
    seen: dict[tuple[int, int, int], None] = {}
    calls = 0

    def noting(m: Any, solver: Any, line: Any, black: Any, white: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > CALLS_EACH:
            raise _EnoughError
        seen[int(line), int(black), int(white)] = None
        return plain(m, solver, line, black, white)

    vars(propagation)["paint_with"] = noting
    try:
        PapersStrategy("fp1").solve(puzzle)
    except _EnoughError:
        pass
    finally:
        vars(propagation)["paint_with"] = plain
    return sorted(map(list, random.Random(seed).sample(list(seen), STATES_EACH)))


def painted(puzzle: Puzzle, states: list[list[int]]) -> int:
    """Return how many cells are known, all states together, once their lines are painted; of conflicts none."""
    from nonobot.bot.papers.lines import paint_line

    clues = [*puzzle.rows, *puzzle.columns]
    known = 0
    for line, black, white in states:
        length = puzzle.width if line < puzzle.height else puzzle.height
        after = paint_line(clues[line], length, black, white, solver="recurrence")
        known += (after[0] | after[1]).bit_count() if after else 0
    return known


def main() -> int:
    """Write the file."""
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        print("set NUMBA_DISABLE_JIT=1: the kernels have to be plain Python here", file=sys.stderr)
        return 2
    entries = []
    for seed, numbers in PUZZLES.items():
        name = f"boardgen:25x25x200:seed={seed}"
        of_number = {one.number: one.puzzle for one in load_set(name).puzzles}
        for number in numbers:
            puzzle = of_number[number]
            entry = {"origin": f"{name} ${number}", "columns": puzzle.columns, "rows": puzzle.rows}
            states = sampled(puzzle, number)
            entries.append(entry | {"painted": painted(puzzle, states), "states": states})
            print(entry["origin"], file=sys.stderr)
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
    FILE.write_text(f"[\n{lines}\n]\n", encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
