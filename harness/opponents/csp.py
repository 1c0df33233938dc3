"""Constraint satisfaction: a table for each line, and one of three propagators, from plain backtracking on.

Source: Hussain, Kim and Chen, "Solving a Nonogram Game Using Artificial Intelligence" (course project, 2015),
section 3: the model and the propagators BT, FC and GAC. A cell is a variable with the values 0 (white) and 1
(black). A line is one table constraint: a tuple of values for each placement of its blocks. The search assigns a
variable with the fewest values left.

Bit t of `support[i][v]` is set if tuple t gives value v to the line's i-th variable: the tuples that agree with
some values are the AND of a few integers. They are kept from node to node, as in compact table propagation
(Demeulenaere et al., CP 2016); the source searches for supports again. Left out: nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np

from nonobot.harness.opponents.command_line import argument_parser, serve
from nonobot.harness.solver_bot import Clock, RefusedError
from nonobot.protocol import Clue, Puzzle, Solution
from nonobot.protocol.clues import needed_length

MOST_TUPLES = 1_000_000  # of a table; a line of 25 cells has up to about 50,000, one of 45 up to 10**8 and more
_CHUNK_TUPLES = 1 << 15


@dataclass(frozen=True, slots=True)
class Table:
    """The constraint of a line."""

    variables: tuple[int, ...]  # the cells of the line in order, y * width + x
    support: list[tuple[int, int]]  # for each of them, the tuples with value 0 and those with value 1, as bits
    everything: int  # all tuples, as bits


def tuple_count(clue: Clue, length: int) -> int:
    """Return how many tuples the table of a line has."""
    return comb(length - needed_length(clue) + len(clue), len(clue))


def table_of(clue: Clue, variables: Sequence[int], clock: Clock) -> Table:
    """Return the table of a line; OutOfTimeError if it takes too long."""
    length, blocks = len(variables), len(clue)
    # A tuple hands out the slack: the j-th of `blocks` out of slack + blocks places is where block j starts if
    # every block took one cell and needed no gap.
    choices = combinations(range(length - needed_length(clue) + blocks), blocks)
    offsets = np.array([sum(clue[:block]) for block in range(blocks)], np.int64)
    columns = [bytearray() for _ in variables]
    while chosen := list(islice(choices, _CHUNK_TUPLES)):
        clock.check()
        starts = np.array(chosen, np.int64).reshape(len(chosen), blocks) + offsets
        painted = np.zeros((length, len(chosen)), bool)
        for block, size in enumerate(clue):
            cells = starts[:, block] + np.arange(size)[:, np.newaxis]
            painted[cells, np.arange(len(chosen))] = True
        for column, bits in zip(columns, np.packbits(painted, axis=1, bitorder="little"), strict=True):
            column += bits.tobytes()
    everything = (1 << tuple_count(clue, length)) - 1
    black = [int.from_bytes(column, "little") for column in columns]
    return Table(tuple(variables), [(everything ^ bits, bits) for bits in black], everything)


class State:
    """The constraints of a puzzle and the domains of its cells, with undo; RefusedError for a large table."""

    def __init__(self, puzzle: Puzzle, clock: Clock) -> None:
        width, height = puzzle.width, puzzle.height
        lines = [
            *((clue, range(y * width, (y + 1) * width), f"row {y + 1}") for y, clue in enumerate(puzzle.rows)),
            *((clue, range(x, width * height, width), f"column {x + 1}") for x, clue in enumerate(puzzle.columns)),
        ]
        for clue, variables, name in lines:
            if (count := tuple_count(clue, len(variables))) > MOST_TUPLES:
                raise RefusedError(f"the table of {name} has {count:,} tuples; up to {MOST_TUPLES:,} are kept")
        # For each line, rows first: its table, its open variables, the tuples that agree with the domains.
        self.tables = [table_of(clue, variables, clock) for clue, variables, _ in lines]
        self.unassigned = [len(table.variables) for table in self.tables]
        self.live = [table.everything for table in self.tables]  # kept by GAC alone
        # For each variable:
        self.tables_of = [(y, height + x) for y in range(height) for x in range(width)]
        self.domains: list[tuple[int, ...]] = [(0, 1)] * (width * height)  # the values still possible
        self.value: list[int | None] = [None] * (width * height)  # as the search has assigned it
        self._undo: list[tuple[list, int, object]] = []

    def mark(self) -> int:
        """Return the position of the search, for :meth:`back_to`."""
        return len(self._undo)

    def back_to(self, mark: int) -> None:
        """Undo every change since `mark`."""
        while len(self._undo) > mark:
            place, index, before = self._undo.pop()
            place[index] = before

    def set(self, place: list, index: int, new: object) -> None:
        """Set place[index], one of the lists of this state, so that it can be undone."""
        self._undo.append((place, index, place[index]))
        place[index] = new

    def assign(self, variable: int, value: int) -> None:
        """Give a variable its value."""
        self.set(self.value, variable, value)
        self.set(self.domains, variable, (value,))
        for table in self.tables_of[variable]:
            self.set(self.unassigned, table, self.unassigned[table] - 1)

    def agreeing(self, table: Table) -> int:
        """Return the tuples that agree with what has been assigned, as bits."""
        tuples = table.everything
        for variable, support in zip(table.variables, table.support, strict=True):
            value = self.value[variable]
            if value is not None:
                tuples &= support[value]
        return tuples

    def smallest(self) -> int | None:
        """Return the variable with the fewest values left, the first of several; None if all are assigned."""
        unassigned = [variable for variable, value in enumerate(self.value) if value is None]
        single = (variable for variable in unassigned if len(self.domains[variable]) == 1)
        return next(single, unassigned[0] if unassigned else None)


# Propagators remove values from domains after a variable got its value (None: before the search), and return False
# on a dead end.


def backtracking(state: State, variable: int | None) -> bool:
    """Check the lines that `variable` completed. No domain gets smaller, so the search goes row by row."""
    if variable is None:
        return True
    return all(
        state.unassigned[table] or state.agreeing(state.tables[table]) for table in state.tables_of[variable]
    )


def forward_checking(state: State, variable: int | None) -> bool:
    """Leave the last open cell of each line of `variable`, or of all lines, only values that fit."""
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


def arc_consistency(state: State, variable: int | None) -> bool:
    """Make the lines of `variable`, or all, and what they touch arc consistent: each value is in a tuple."""
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


Propagate = Callable[[State, int | None], bool]

PROPAGATORS: dict[str, Propagate] = {"bt": backtracking, "fc": forward_checking, "gac": arc_consistency}


def solve(puzzle: Puzzle, clock: Clock, propagator: str = "gac") -> Solution | None:
    """Return a solution or None, by depth-first search; RefusedError for a large table, or OutOfTimeError."""
    state, propagate = State(puzzle, clock), PROPAGATORS[propagator]
    if not (propagate(state, None) and _search(state, propagate, clock)):
        return None
    return Solution(np.array(state.value).reshape(puzzle.height, puzzle.width))


def _search(state: State, propagate: Propagate, clock: Clock) -> bool:
    clock.check()
    variable = state.smallest()
    if variable is None:
        return True
    mark = state.mark()
    for value in state.domains[variable]:
        state.assign(variable, value)
        if propagate(state, variable) and _search(state, propagate, clock):
            return True
        state.back_to(mark)
    return False


if __name__ == "__main__":
    parser = argument_parser(__file__, __doc__)
    about = "bt: plain backtracking, fc: forward checking, gac: generalised arc consistency (default: gac)"
    parser.add_argument("--propagator", choices=PROPAGATORS, default="gac", help=about)
    sys.exit(serve(solve, parser))
