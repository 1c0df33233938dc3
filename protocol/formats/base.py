"""The parts of every format: its description, and the draft that collects a puzzle while it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from nonobot.protocol.clues import Clue, Fault, FaultKind, fault_in_clues
from nonobot.protocol.puzzle import Found, PartialGrid, Puzzle, Record, Solution
from nonobot.protocol.verify import mismatches

__all__ = [
    "MOST_BYTES",
    "MOST_REMARKS",
    "MOST_SIDE",
    "PARTS",
    "BrokenOffError",
    "Draft",
    "Format",
    "FormatError",
    "Found",
    "Part",
    "Size",
    "UnknownFormatError",
    "part_named",
    "parts_of",
]

MOST_BYTES = 1 << 24
"""Size of the largest file that is read, 16 MiB: about thirty tournament sets."""

MOST_SIDE = 9999
"""Rows or columns of the largest board that is read."""

HOPELESS = 1000
"""Faults of one puzzle after which a reader need not look for more."""

MOST_REMARKS = 20
"""Remarks on one puzzle that are kept; further ones are counted."""

Size = tuple[int, int] | Literal["auto"]
"""Width and height of all boards of a file; `auto`: they are square, each of the size that its lines make."""

Part = Literal["rows", "columns"]
PARTS: tuple[Part, Part] = ("rows", "columns")


class FormatError(Exception):
    """A file that cannot be read or written at all; the message is one line that gives the reason."""


class UnknownFormatError(FormatError):
    """The content of a file is of no known format."""


class BrokenOffError(Exception):
    """A file that is broken at `line`, so that nothing after it can be trusted."""

    def __init__(self, what: str, line: int) -> None:
        self.fault = Fault(FaultKind.FORMAT, what, line=line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format of puzzle files."""

    name: str
    description: str
    extensions: tuple[str, ...]  # ends of file names, with their dot, the usual one first
    several: bool = False  # whether a file can hold more than one puzzle
    holds: frozenset[str] = frozenset()  # the fields of a Record, besides the puzzle, that a file can hold
    states_size: bool = True  # if not, `read` takes a `Size`, or None, as well

    looks_like: Callable[[Sequence[str]], bool]
    """Takes the first lines of a file, stripped, without blank ones, and tells whether they have this format."""

    read: Callable[..., Iterator[Found]]
    """Takes the bytes of a file and yields its puzzles and their faults; it raises nothing."""

    write: Callable[[Sequence[Record]], str]
    """Takes records, which the format can hold, and returns the text of a file."""

    problem: Callable[[Record], str | None] = lambda record: None
    """Returns the reason why the format cannot hold the clues of a record, or None."""


def part_named(name: str) -> Part | None:
    """Return the part of that name, if there is one."""
    return next((part for part in PARTS if part == name), None)


def parts_of(puzzle: Puzzle) -> Iterable[tuple[Part, tuple[Clue, ...]]]:
    """Return the rows' clues and the columns' clues, with their names."""
    return zip(PARTS, (puzzle.rows, puzzle.columns), strict=True)


# --- drafts ------------------------------------------------------------------------------------------------------

Cells = Sequence[Sequence[int]]


class Draft:
    """One puzzle of a file, from its first line on: it takes clues and faults, and becomes a record or a fault."""

    def __init__(self, number: int, line: int) -> None:
        self.number, self.line = number, line
        self.texts: dict[str, str] = {}  # fields of the record that are texts
        self.start: tuple[Cells, int] | None = None  # with its line in the file; all rows have one length
        self.solution: tuple[Cells, int] | None = None
        self._clues: dict[Part, list[tuple[Clue, int]]] = {"columns": [], "rows": []}
        self._seen: set[str] = set()
        self._fault: Fault | None = None  # the first one; further ones are counted in it
        self._remarks: list[Fault] = []

    @property
    def hopeless(self) -> bool:
        """Whether the draft has so many faults that reading on is useless."""
        return self._fault is not None and self._fault.more >= HOPELESS

    def clue(self, part: Part, clue: Clue | Fault, line: int) -> None:
        """Take the next clue of the rows or of the columns."""
        clues = self._clues[part]
        if len(clues) == MOST_SIDE:
            self.refuse(f"more than {MOST_SIDE} {part}", line)
            return
        if isinstance(clue, Fault):
            self.fault(clue, line)
            clue = ()
        clues.append((clue, line))

    def section(self, name: str, line: int, more: str) -> None:
        """Take the start of a section; a second one of the same name is a fault, to which `more` is added."""
        if name in self._seen:
            self.refuse(f"a second '{name}'; {more}", line)
        self._seen.add(name)

    def require(self, names: Iterable[str], message: str) -> None:
        """Refuse the puzzle for each section that did not come; `message` has `{}` for its name."""
        for name in names:
            if name not in self._seen:
                self.refuse(message.format(name))

    def fault(self, fault: Fault, line: int | None = None) -> None:
        """Take a fault that makes the puzzle unusable; without a line, it is at its own line."""
        if self._fault:
            self._fault = _one_more(self._fault)
        else:
            self._fault = fault.at(self.number, line or fault.line or self.line)

    def refuse(self, what: str, line: int | None = None) -> None:
        """Take a fault in words; without a line, it is at the line where the puzzle starts."""
        self.fault(Fault(FaultKind.FORMAT, what), line)

    def remark(self, what: str, line: int) -> None:
        """Take a part of the file that is left out of a usable puzzle."""
        if len(self._remarks) == MOST_REMARKS:
            self._remarks[-1] = _one_more(self._remarks[-1])
        else:
            self._remarks.append(Fault(FaultKind.FORMAT, what, self.number, line))

    def finished(self) -> Record | Fault:
        """Return the puzzle, or its first fault."""
        if self._fault:
            return self._fault
        columns, rows = (tuple(clue for clue, _ in clues) for clues in self._clues.values())
        if self.solution and not columns and not rows:
            puzzle = Puzzle.from_grid(self.solution[0])  # drawn, but without clues
        else:
            puzzle = Puzzle.unchecked(columns, rows)
        self._check_size(puzzle)
        if not self._fault:
            self._check_clues(puzzle)
            start = self._checked_start(puzzle)
        if self._fault:
            return self._fault
        solution = self._checked_solution(puzzle)
        texts, remarks = self.texts, tuple(self._remarks)
        return Record(puzzle, start, solution, **texts, number=self.number, line=self.line, remarks=remarks)

    def _check_size(self, puzzle: Puzzle) -> None:
        for part, clues in parts_of(puzzle):
            if not clues:
                self.refuse(f"no clues of {part}")
            elif len(clues) > MOST_SIDE:
                self.refuse(f"a board of {len(clues)} {part}; sides are 1 to {MOST_SIDE}")

    def _check_clues(self, puzzle: Puzzle) -> None:
        if problem := fault_in_clues(puzzle):
            fault, index = problem
            lines = [line for clues in self._clues.values() for _, line in clues]
            self.fault(fault, None if index is None else lines[index])

    def _checked_start(self, puzzle: Puzzle) -> PartialGrid | None:
        if self.start is None:
            return None
        cells, line = self.start
        if fault := _size_fault(cells, puzzle):
            self.fault(fault, line)
            return None
        return PartialGrid(cells)

    def _checked_solution(self, puzzle: Puzzle) -> Solution | None:
        """Return the solution if it is right; otherwise it is left out, since the puzzle does not need it."""
        if self.solution is None:
            return None
        cells, line = self.solution
        if fault := _size_fault(cells, puzzle):
            self.remark(f"the solution is left out: {fault.what}", line)
            return None
        solution = Solution(cells)
        if wrong := mismatches(puzzle, solution):
            self.remark(f"the solution is left out, it breaks the clues: {wrong[0]}", line)
            return None
        return solution


def _one_more(fault: Fault) -> Fault:
    return replace(fault, more=fault.more + 1)


def _size_fault(cells: Cells, puzzle: Puzzle) -> Fault | None:
    size = len(cells[0]), len(cells)
    if size == puzzle.size:
        return None
    return Fault(FaultKind.FORMAT, "a board of {}x{} cells, the clues are for {}x{}".format(*size, *puzzle.size))
