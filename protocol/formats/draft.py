"""A puzzle while it is read: clues, faults and the rest come in, a record or a fault comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nonobot.protocol.clues import fault_in_clues
from nonobot.protocol.faults import Fault, Kind
from nonobot.protocol.formats.base import MOST_SIDE
from nonobot.protocol.puzzle import Clue, PartialGrid, Puzzle, Solution
from nonobot.protocol.record import Record
from nonobot.protocol.verify import mismatches

__all__ = ["Draft"]

Cells = Sequence[Sequence[int]]

HOPELESS = 1000
"""Faults of one puzzle after which a reader need not look for more."""

MOST_REMARKS = 20
"""Remarks on one puzzle that are kept; further ones are counted."""


class Draft:
    """Collects one puzzle of a file.

    Parameters
    ----------
    number : int
        Its place in the file, counted from 1.
    line : int
        Where it starts.

    Attributes
    ----------
    texts : dict of str to str
        Fields of the record that are texts.
    """

    def __init__(self, number: int, line: int) -> None:
        self.number, self.line = number, line
        self.texts: dict[str, str] = {}
        self._clues: dict[str, list[Clue]] = {"column": [], "row": []}
        self._lines: dict[str, list[int]] = {"column": [], "row": []}
        self._fault: Fault | None = None  # the first one; further ones are counted in it
        self._remarks: list[Fault] = []
        self._start: tuple[Cells, int] | None = None
        self._goal: tuple[Cells, int] | None = None

    @property
    def hopeless(self) -> bool:
        """Whether so much is wrong that reading on is no use."""
        return self._fault is not None and self._fault.more >= HOPELESS

    def row(self, clue: Clue | Fault, line: int) -> None:
        """Take the next row's clue."""
        self._clue("row", clue, line)

    def column(self, clue: Clue | Fault, line: int) -> None:
        """Take the next column's clue."""
        self._clue("column", clue, line)

    def start(self, cells: Cells, line: int) -> None:
        """Take the board to start from, its rows of the same length."""
        self._start = cells, line

    def goal(self, cells: Cells, line: int) -> None:
        """Take the solution, its rows of the same length."""
        self._goal = cells, line

    def fault(self, fault: Fault, line: int | None = None) -> None:
        """Take something that makes the puzzle unusable; where no line is given, the fault has its own."""
        if self._fault:
            self._fault = _one_more(self._fault)
        else:
            self._fault = fault.at(self.number, line or fault.line or self.line)

    def refuse(self, kind: Kind, what: str, line: int | None = None) -> None:
        """Take a fault in words; without a line it is that where the puzzle starts."""
        self.fault(Fault(kind, what), line)

    def remark(self, kind: Kind, what: str, line: int) -> None:
        """Take something that is left out of a puzzle that can be used."""
        if len(self._remarks) == MOST_REMARKS:
            self._remarks[-1] = _one_more(self._remarks[-1])
        else:
            self._remarks.append(Fault(kind, what, self.number, line))

    def finished(self) -> Record | Fault:
        """Return the puzzle, or the first thing that is wrong with it."""
        if self._fault:
            return self._fault
        if self._goal and not self._clues["row"] and not self._clues["column"]:
            puzzle = Puzzle.from_grid(self._goal[0])  # drawn, but without clues
        else:
            puzzle = Puzzle.unchecked(tuple(self._clues["column"]), tuple(self._clues["row"]))
        self._check_size(puzzle)
        if self._fault:
            return self._fault
        self._check_clues(puzzle)
        start = self._checked_start(puzzle)
        if self._fault:
            return self._fault
        goal = self._checked_goal(puzzle)
        return Record(
            puzzle, start, goal, **self.texts, number=self.number, line=self.line, remarks=tuple(self._remarks)
        )

    def _clue(self, kind: str, clue: Clue | Fault, line: int) -> None:
        clues = self._clues[kind]
        if len(clues) == MOST_SIDE:
            self.refuse(Kind.BAD_SIZE, f"more than {MOST_SIDE} {kind}s", line)
            return
        if isinstance(clue, Fault):
            self.fault(clue, line)
            clue = ()
        clues.append(clue)
        self._lines[kind].append(line)

    def _check_size(self, puzzle: Puzzle) -> None:
        for kind, count in (("rows", puzzle.height), ("columns", puzzle.width)):
            if not count:
                self.refuse(Kind.MISSING_LINES, f"no clues of {kind}")
            elif count > MOST_SIDE:
                self.refuse(Kind.BAD_SIZE, f"a board of {count} {kind}; sides are 1 to {MOST_SIDE}")

    def _check_clues(self, puzzle: Puzzle) -> None:
        found = fault_in_clues(puzzle)
        if found:
            fault, index = found
            lines = self._lines["column"] + self._lines["row"]
            self.fault(fault, None if index is None else lines[index])

    def _checked_start(self, puzzle: Puzzle) -> PartialGrid | None:
        if self._start is None:
            return None
        cells, line = self._start
        fault = _size_fault(cells, puzzle)
        if fault:
            self.fault(fault, line)
            return None
        return PartialGrid(cells)

    def _checked_goal(self, puzzle: Puzzle) -> Solution | None:
        """Return the solution if it is one; the puzzle does not need it, so a wrong one is only left out."""
        if self._goal is None:
            return None
        cells, line = self._goal
        fault = _size_fault(cells, puzzle)
        if fault:
            self.remark(fault.kind, f"the solution is left out: {fault.what}", line)
            return None
        goal = Solution(cells)
        wrong = mismatches(puzzle, goal)
        if wrong:
            self.remark(Kind.GOAL_MISMATCH, f"the solution is left out, it breaks the clues: {wrong[0]}", line)
            return None
        return goal


def _one_more(fault: Fault) -> Fault:
    return replace(fault, more=fault.more + 1)


def _size_fault(cells: Cells, puzzle: Puzzle) -> Fault | None:
    found, expected = (len(cells[0]), len(cells)), puzzle.size
    if found == expected:
        return None
    return Fault(Kind.BAD_GRID, "a board of {}x{} cells, the clues are for {}x{}".format(*found, *expected))
