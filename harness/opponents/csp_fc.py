"""Constraint satisfaction, forward checking: the last open cell of a line keeps only values that fit.

Source: Hussain, Kim and Chen, "Solving a Nonogram Game Using Artificial Intelligence" (course project, 2015), the
propagator FC. Cells are 0/1 variables, a line is a table of its satisfying tuples
(harness/opponents/csp_model.py), the next variable is one with the fewest values left. Left out: nothing.
"""

from __future__ import annotations

import sys
from functools import partial

from nonobot.harness.opponents.csp_model import State, Table, solve_with
from nonobot.harness.opponents.serve import argument_parser, serve


def propagate(state: State, variable: int | None) -> bool:
    """Check those lines of `variable`, or all, with at most one open variable; return False on a dead end."""
    tables = range(len(state.tables)) if variable is None else state.tables_of[variable]
    return all(state.unassigned[table] > 1 or _check(state, state.tables[table]) for table in tables)


def _check(state: State, table: Table) -> bool:
    tuples = state.agreeing(table)
    for variable, support in zip(table.variables, table.support, strict=True):
        if state.value[variable] is None:
            fitting = tuple(value for value in state.domains[variable] if tuples & support[value])
            state.set(state.domains, variable, fitting)
            break
    return bool(tuples)


solve = partial(solve_with, propagate)

if __name__ == "__main__":
    sys.exit(serve(solve, argument_parser(__file__, __doc__)))
