"""A general constraint solver: OR-Tools CP-SAT with one worker, an automaton for each line.

Source: Pesant, "A regular language membership constraint for finite sequences of variables" (CP 2004), which
CP-SAT calls automaton; Perron and Furnon, "OR-Tools". A clue's automaton has a state for each cell of its blocks
and for each gap. The solver gets only the model; apart from the one worker, its parameters are the defaults.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from nonobot.arguments import integer
from nonobot.harness.opponents.command_line import argument_parser, serve
from nonobot.harness.solver_bot import Clock, OutOfTimeError
from nonobot.protocol import Clue, Puzzle, Solution

_MARGIN_SECONDS = 0.05  # to notice the limit; start and return take as long as building the model


def automaton(clue: Clue) -> tuple[list[tuple[int, int, int]], int]:
    """Return the automaton that accepts the lines with a clue: its transitions and its last state.

    A transition is a state, the colour read (1 black, 0 white) and the next state, from state 0 on. The last state
    and, if the clue has blocks, the one before it accept.
    """
    transitions = []
    state = 0
    for size in clue:
        transitions.append((state, 0, state))
        transitions += [(state + i, 1, state + i + 1) for i in range(size)]
        state += size
        transitions.append((state, 0, state + 1))
        state += 1
    transitions.append((state, 0, state))
    return transitions, state


def solve(puzzle: Puzzle, clock: Clock, seed: int = 0) -> Solution | None:
    """Return a solution of the puzzle, or None; OutOfTimeError if the clock runs out before."""
    from ortools.sat.python import cp_model  # type: ignore[import-not-found, unused-ignore]

    started = time.monotonic()
    model = cp_model.CpModel()
    cells = [[model.new_bool_var(f"{y},{x}") for x in range(puzzle.width)] for y in range(puzzle.height)]
    for clue, line in zip((*puzzle.rows, *puzzle.columns), (*cells, *zip(*cells, strict=True)), strict=True):
        transitions, last = automaton(clue)
        model.add_automaton(line, 0, [last - 1, last] if clue else [last], transitions)
        clock.check()
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.catch_sigint_signal = False  # a Ctrl-C ends the process, as everywhere
    remaining = clock.remaining()
    margin = _MARGIN_SECONDS + time.monotonic() - started
    solver.parameters.max_time_in_seconds = remaining - min(margin, remaining / 2)
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return None
    if status not in (cp_model.FEASIBLE, cp_model.OPTIMAL):
        raise OutOfTimeError
    return Solution(np.array([[solver.value(cell) for cell in row] for row in cells]))


if __name__ == "__main__":
    parser = argument_parser(__file__, __doc__)
    about = "seed of CP-SAT's random choices (default: 0)"
    parser.add_argument("--seed", type=integer, default=0, metavar="N", help=about)
    sys.exit(serve(solve, parser, engine=("ortools.sat.python.cp_model", "ortools")))
