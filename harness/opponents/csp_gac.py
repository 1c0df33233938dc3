"""Constraint satisfaction, generalised arc consistency: each value left is in a tuple of each line.

Source: Hussain, Kim and Chen, "Solving a Nonogram Game Using Artificial Intelligence" (course project, 2015), the
propagator GAC. Cells are 0/1 variables, a line is a table of its satisfying tuples
(harness/opponents/csp_model.py), the next variable is one with the fewest values left. The tuples still possible
are kept from node to node, as compact table propagation does (Demeulenaere et al., CP 2016), where the source
looks for supports anew. Left out: nothing.
"""

from __future__ import annotations

import sys
from functools import partial

from nonobot.harness.opponents.csp_model import State, solve_with
from nonobot.harness.opponents.serve import argument_parser, serve


def propagate(state: State, variable: int | None) -> bool:
    """Make the lines of `variable`, or all, and what they touch arc consistent; return False on a dead end."""
    first = range(len(state.tables)) if variable is None else state.tables_of[variable]
    queue = dict.fromkeys(first)  # a set that keeps its order
    while queue:
        table = next(iter(queue))
        del queue[table]
        pruned = _revise(state, table)
        if pruned is None:
            return False
        for changed in pruned:
            queue.update(dict.fromkeys(other for other in state.tables_of[changed] if other != table))
    return True


def _revise(state: State, index: int) -> list[int] | None:
    """Return the variables of a table whose domains got smaller; None if no tuple is left."""
    table = state.tables[index]
    live = state.live[index]
    is_open = []
    for variable, support in zip(table.variables, table.support, strict=True):
        domain = state.domains[variable]
        if len(domain) == 1:
            live &= support[domain[0]]
        else:
            is_open.append((variable, support))
    if not live:
        return None
    if live != state.live[index]:
        state.set(state.live, index, live)
    pruned = []
    for variable, support in is_open:
        fitting = tuple(value for value in (0, 1) if live & support[value])
        if len(fitting) == 1:
            state.set(state.domains, variable, fitting)
            pruned.append(variable)
    return pruned


solve = partial(solve_with, propagate)

if __name__ == "__main__":
    sys.exit(serve(solve, argument_parser(__file__, __doc__)))
