"""A general SAT solver: MiniSat 2.2, Glucose 4 or CaDiCaL, with order-encoded block positions.

Source: Een and Soerensson, "An extensible SAT-solver" (2003), Audemard and Simon's Glucose 4 and Biere's CaDiCaL,
as packed by Ignatiev, Morgado and Marques-Silva, "PySAT" (2018). Order encoding: Tamura, Taga, Kitagawa and
Banbara, "Compiling finite linear CSP into SAT", Constraints 14 (2009). The solver gets only the clauses, and
starts again for each puzzle. Left out: clauses over pairs of lines, and choices of variables by hand.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import accumulate
from threading import Timer
from typing import Any

import numpy as np

from nonobot.harness.opponents.command_line import argument_parser, serve
from nonobot.harness.solver_bot import Clock, OutOfTimeError
from nonobot.protocol import Clue, Puzzle, Solution

SOLVERS = {"minisat22": "MiniSat 2.2", "glucose4": "Glucose 4", "cadical195": "CaDiCaL 1.9.5"}
"""Solvers by python-sat's name."""

_NOT_INTERRUPTIBLE = "cadical195"  # python-sat can only give it a number of conflicts

# Each new start is expensive (100 puzzles of 25x25: 28 s by 1000 conflicts, 11 s at once), so each budget of
# conflicts lasts about half of the time left, at the rate of the conflicts so far.
_FIRST_CONFLICTS = 500
_LEAST_SECONDS = 0.05

Clauses = list[list[int]]


def solve(puzzle: Puzzle, clock: Clock, solver: str = "minisat22") -> Solution | None:
    """Return a solution of the puzzle, or None; OutOfTimeError if the clock runs out before."""
    from pysat.solvers import Solver  # type: ignore[import-untyped, import-not-found, unused-ignore]

    with Solver(name=solver) as engine:
        for clauses in clauses_by_line(puzzle):
            engine.append_formula(clauses)
            clock.check()
        seconds = clock.remaining()
        if math.isinf(seconds):
            is_solved = engine.solve()
        elif solver == _NOT_INTERRUPTIBLE:
            is_solved = _solve_by_budgets(engine, clock)
        else:
            is_solved = _solve_within(engine, seconds)
        if not is_solved:
            return None
        black = np.array(engine.get_model()[: puzzle.width * puzzle.height]) > 0
    return Solution(black.reshape(puzzle.height, puzzle.width))


def _solve_within(engine: Any, seconds: float) -> bool:
    timer = Timer(seconds, engine.interrupt)
    timer.start()
    try:
        is_solved = engine.solve_limited(expect_interrupt=True)
    finally:
        timer.cancel()
        timer.join()  # before the engine goes
    if is_solved is None:
        raise OutOfTimeError
    return bool(is_solved)


def _solve_by_budgets(engine: Any, clock: Clock) -> bool:
    conflicts = _FIRST_CONFLICTS
    while True:
        before = time.monotonic()
        engine.conf_budget(conflicts)
        is_solved = engine.solve_limited()
        if is_solved is not None:
            return bool(is_solved)
        clock.check()
        rate = conflicts / (time.monotonic() - before)
        conflicts = max(100, int(rate * max(_LEAST_SECONDS, clock.remaining() / 2)))


def clauses_by_line(puzzle: Puzzle) -> Iterator[Clauses]:
    """Yield the clauses (CNF) of each row, then of each column; v is a literal, -v the negated one.

    Variable 1 + y * width + x is the cell in row y and column x, true for black. S(j, p) is "block j of the line
    starts at p or before", a variable for each p from the block's first start to its last; S is false before the
    first and true from the last start on. For a line with blocks of lengths c:

    - order: S(j, p) -> S(j, p + 1);
    - the blocks in order, a white cell between them: S(j, p) -> S(j - 1, p - c[j-1] - 1);
    - block to cell: S(j, i) and not S(j, i - c[j]) -> cell i is black, because block j covers it;
    - gap to cell: S(j - 1, i - c[j-1]) and not S(j, i) -> cell i is white: it is between blocks j - 1 and j.

    Every cell is in a block or a gap, so the contrapositions of the last two move the blocks when a cell is known.
    """
    width, height = puzzle.width, puzzle.height
    cells = [list(range(1 + y * width, 1 + (y + 1) * width)) for y in range(height)]
    last = width * height
    for clue, line in zip((*puzzle.rows, *puzzle.columns), (*cells, *zip(*cells, strict=True)), strict=True):
        clauses, last = _line_clauses(clue, line, last)
        yield clauses


def _line_clauses(clue: Clue, cells: Sequence[int], last: int) -> tuple[Clauses, int]:
    """Return the clauses of a line, and the last variable then in use; `last` is the last one before."""
    length = len(cells)
    firsts = [0, *accumulate(block + 1 for block in clue)]  # the last one would be a further block's
    slack = length + 1 - firsts[-1]  # how far each block can be moved
    clauses: Clauses = []

    def starts_by(block: int, place: int) -> int | None:
        """Return the literal of S(block, place), 0 where it is always false, None where it is always true."""
        if block < 0 or (block < len(clue) and place >= firsts[block] + slack):
            return None
        if block == len(clue) or place < firsts[block]:
            return 0
        return last + 1 + block * slack + place - firsts[block]

    def add(when: int | None, unless: int | None, then: int | None) -> None:
        """Append: `when` and not `unless` imply `then`; unless that is always so."""
        if when == 0 or unless is None or then is None:
            return
        clauses.append([literal for literal in (-(when or 0), unless, then) if literal])

    for block, size in enumerate(clue):
        for place in range(firsts[block], firsts[block] + slack):
            add(starts_by(block, place), 0, starts_by(block, place + 1))
            add(starts_by(block, place), 0, starts_by(block - 1, place - clue[block - 1] - 1))
        for i in range(firsts[block], firsts[block] + slack + size):
            add(starts_by(block, i), starts_by(block, i - size), cells[i])
    for gap, before in enumerate((0, *clue)):
        for i in range(length):
            add(starts_by(gap - 1, i - before), starts_by(gap, i), -cells[i])
    return clauses, last + len(clue) * slack


if __name__ == "__main__":
    parser = argument_parser(__file__, __doc__)
    about = f"{', '.join(f'{key}: {name}' for key, name in SOLVERS.items())} (default: minisat22)"
    parser.add_argument("--solver", choices=SOLVERS, default="minisat22", help=about)
    sys.exit(serve(solve, parser, engine=("pysat.solvers", "python-sat")))
