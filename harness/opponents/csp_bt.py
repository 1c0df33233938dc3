"""Constraint satisfaction, plain backtracking: a line is checked when its last cell has a value.

Source: Hussain, Kim and Chen, "Solving a Nonogram Game Using Artificial Intelligence" (course project, 2015), the
propagator BT. Cells are 0/1 variables, a line is a table of its satisfying tuples
(harness/opponents/csp_model.py). No domain ever gets smaller, so that minimum remaining values means row by row.
Left out: nothing.
"""

from __future__ import annotations

import sys
from functools import partial

from nonobot.harness.opponents.csp_model import State, solve_with
from nonobot.harness.opponents.serve import argument_parser, serve


def propagate(state: State, variable: int | None) -> bool:
    """Return False if a line that `variable` completed is none of its tuples."""
    if variable is None:
        return True
    return all(
        state.unassigned[table] or state.agreeing(state.tables[table]) for table in state.tables_of[variable]
    )


solve = partial(solve_with, propagate)

if __name__ == "__main__":
    sys.exit(serve(solve, argument_parser(__file__, __doc__)))
