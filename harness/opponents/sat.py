"""A general SAT solver: MiniSat 2.2, Glucose 4 or CaDiCaL, with order-encoded block positions.

Source: the clauses are described in harness/opponents/cnf.py (order encoding of the block positions); the
solvers are Een and Soerensson, "An extensible SAT-solver" (2003), Audemard and Simon's Glucose 4 and Biere's
CaDiCaL, as packed by Ignatiev, Morgado and Marques-Silva, "PySAT" (2018). Nothing is told to the solver but the
clauses, and each puzzle starts a fresh one. Left out: clauses over pairs of lines, and any choice of variables by
hand.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from threading import Timer
from typing import Any

import numpy as np

from nonobot.arguments import missing
from nonobot.harness.opponents.cnf import clauses_by_line
from nonobot.harness.opponents.serve import Clock, OutOfTimeError, argument_parser, serve, unusable
from nonobot.protocol import Puzzle, Solution
from nonobot.protocol.clues import fault_in_clues

__all__ = ["SOLVERS", "solve"]

SOLVERS = {"minisat22": "MiniSat 2.2", "glucose4": "Glucose 4", "cadical195": "CaDiCaL 1.9.5"}
"""Solvers by python-sat's name."""

_NOT_INTERRUPTIBLE = "cadical195"

_FIRST_CONFLICTS = 500
_LEAST_SECONDS = 0.05
"""CaDiCaL cannot be interrupted through python-sat, only be given a number of conflicts. Each new start costs it
much (100 puzzles of 25x25: 28 s by 1000 conflicts, 11 s at once), so each budget is to last half of the time that
is left, at the rate of the conflicts so far, and at least this.
"""


def solve(puzzle: Puzzle, clock: Clock, solver: str = "minisat22") -> Solution | None:
    """Return a solution of the puzzle, or None.

    Parameters
    ----------
    puzzle : Puzzle
    clock : Clock
    solver : str
        One of `SOLVERS`.

    Raises
    ------
    OutOfTimeError
    """
    if fault_in_clues(puzzle):
        return None
    with _engine_class()(name=solver) as engine:
        for clauses in clauses_by_line(puzzle):
            engine.append_formula(clauses)
            clock.check()
        is_solved = _solve_within(engine, clock, is_interruptible=solver != _NOT_INTERRUPTIBLE)
        if not is_solved:
            return None
        black = np.array(engine.get_model()[: puzzle.width * puzzle.height]) > 0
    return Solution(black.reshape(puzzle.height, puzzle.width))


def _engine_class() -> Any:
    from pysat.solvers import Solver  # type: ignore[import-untyped, import-not-found, unused-ignore]

    return Solver


def _solve_within(engine: Any, clock: Clock, is_interruptible: bool) -> bool:
    """Return whether the clauses can be satisfied; OutOfTimeError when the time is up."""
    remaining = clock.remaining()
    if remaining is None:
        return bool(engine.solve())
    if not is_interruptible:
        return _solve_by_budgets(engine, clock)
    timer = Timer(remaining, engine.interrupt)
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
        conflicts = max(100, int(rate * max(_LEAST_SECONDS, (clock.remaining() or 0.0) / 2)))


def main() -> int:
    """Run the opponent; the exit status is returned."""
    parser = argument_parser(__file__, __doc__)
    parser.add_argument(
        "--solver",
        choices=SOLVERS,
        default="minisat22",
        help=f"{', '.join(f'{key}: {name}' for key, name in SOLVERS.items())} (default minisat22)",
    )
    options = parser.parse_args()
    try:
        _engine_class()
    except ImportError:
        return unusable(missing("sat", "python-sat"))
    return serve(partial(solve, solver=options.solver), options)


if __name__ == "__main__":
    sys.exit(main())
