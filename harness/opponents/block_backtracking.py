"""Backtracking by blocks: row by row, a block at a time, at each start that keeps the columns possible.

Source: Tsao, Yeung, Liu, Mun and Wang, "Nonogram Solver" (course project, CSE 202), section 3. A column is
impossible with too many blocks, a closed block of another length, a last block that is too long, or too few cells
left for the missing blocks. The search is depth first, with starts from left to right.

Left out: nothing. In addition to columns with a new black cell, columns with a new white cell are checked too,
which finds dead ends sooner. Columns are counted as they grow instead of read again.
"""

from __future__ import annotations

import sys

import numpy as np

from nonobot.harness.opponents.command_line import argument_parser, serve
from nonobot.harness.solver_bot import Clock
from nonobot.protocol import Clue, Puzzle, Solution
from nonobot.protocol.clues import needed_length


class _Column:
    """The cells of a column above the row that is being painted."""

    def __init__(self, clue: Clue, height: int) -> None:
        self._clue = clue
        self._height = height
        # The cells that the blocks from j on need.
        self._needed = [needed_length(clue[j:]) for j in range(len(clue) + 1)]
        # One entry for each painted cell: how many blocks are closed, and how long the open one is.
        self.states = [(0, 0)]

    def paint(self, colour: int) -> bool:
        """Paint the next cell below; return False, and paint nothing, if the clue becomes impossible."""
        closed, run = self.states[-1]
        if colour:
            run += 1
            if closed == len(self._clue) or run > self._clue[closed]:
                return False
        elif run:
            if run != self._clue[closed]:
                return False
            closed, run = closed + 1, 0
        left = self._height - len(self.states)
        # Behind a closed block a white cell has been painted; behind the open one it is still to come.
        if self._needed[closed] - run > left:
            return False
        self.states.append((closed, run))
        return True


class _Search:
    def __init__(self, puzzle: Puzzle, clock: Clock) -> None:
        self._clock = clock
        self._width = puzzle.width
        self._clues = puzzle.rows
        self.columns = [_Column(clue, puzzle.height) for clue in puzzle.columns]

    def place(self, row: int, block: int, begin: int) -> bool:
        """Place block `block` of `row` at `begin` or later, and all further blocks; return whether that works.

        The columns before `begin` are painted in this row, the others are not, also after a failure.
        """
        self._clock.check()
        clue = self._clues[row]
        if block == len(clue):
            if not self._paint(begin, [0] * (self._width - begin)):
                return False
            if row + 1 == len(self._clues) or self.place(row + 1, 0, 0):
                return True
            self._unpaint(begin, self._width)
            return False
        size = clue[block]
        last = self._width - needed_length(clue[block:])
        for start in range(begin, last + 1):
            end = start + size
            is_followed = end < self._width
            if self._paint(start, [1] * size + [0] * is_followed):
                if self.place(row, block + 1, end + is_followed):
                    return True
                self._unpaint(start, end + is_followed)
            if not self.columns[start].paint(0):  # try the next start
                self._unpaint(begin, start)
                return False
        self._unpaint(begin, last + 1)
        return False

    def _paint(self, begin: int, colours: list[int]) -> bool:
        """Paint the columns from `begin` on in this row, all or none."""
        for x, colour in enumerate(colours, begin):
            if not self.columns[x].paint(colour):
                self._unpaint(begin, x)
                return False
        return True

    def _unpaint(self, begin: int, end: int) -> None:
        for x in range(begin, end):
            self.columns[x].states.pop()


def solve(puzzle: Puzzle, clock: Clock) -> Solution | None:
    """Return a solution of the puzzle, or None; OutOfTimeError if the clock runs out before."""
    search = _Search(puzzle, clock)
    if not search.place(0, 0, 0):
        return None
    return Solution(np.array([[run > 0 for _, run in column.states[1:]] for column in search.columns]).T)


if __name__ == "__main__":
    sys.exit(serve(solve, argument_parser(__file__, __doc__)))
