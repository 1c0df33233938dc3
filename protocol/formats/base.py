"""Base of all formats: their description, the draft that collects a puzzle, text lines and clues."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar, Literal

from nonobot.protocol.clues import LONGEST_CLUE, Clue, Fault, clue_from_text, count, is_text, shown, spaced
from nonobot.protocol.puzzle import Found, PartialGrid, Puzzle, Record, Solution, fault_in_clues
from nonobot.protocol.text_lines import TextLine, lines_of
from nonobot.protocol.verify import mismatches

MOST_BYTES = 1 << 24  # largest file, 16 MiB: about thirty tournament sets
MOST_SIDE = 9999  # largest number of rows or columns of a board
HOPELESS = 1000  # faults of one puzzle after which a reader may stop
MOST_WARNINGS = 20  # warnings kept for one puzzle; further ones are only counted
Size = tuple[int, int] | Literal["auto"]  # width and height of all boards of a file; `auto`: square ones

PARTS = ("rows", "columns")
_NAMES = {
    "rows": re.compile(r"row|hor|left|side|across|[hx]$"),
    "columns": re.compile(r"col(?!o|l)|ver(?![sidb])|top(?![io])|down|[vy]$"),  # not colours, versions, topics
}


class FormatError(Exception):
    """A file that cannot be read or written at all; the message is one text line with the reason."""


class UnknownFormatError(FormatError):
    """A file whose content has no known format."""


class BrokenOffError(Exception):
    """A file that cannot be read from text line `line` on."""

    def __init__(self, message: str, line: int) -> None:
        self.fault = Fault.of_file(message).at(None, line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """Description of a format of puzzle files, with its reader and writer."""

    name: str
    description: str
    extensions: tuple[str, ...]  # ends of file names with their dot, the usual one first
    holds: frozenset[str] = frozenset()  # fields of a Record, other than the puzzle, that a file can hold
    states_size: bool = True  # if not, `read` also takes a `Size` or None

    looks_like: Callable[[Sequence[str]], bool]  # of the first text lines of a file, stripped, without blank ones
    sign: str = ""  # pattern in files that resemble the format; a repetition over lines would take very long
    read: Callable[..., Iterator[Found]]  # yields the puzzles in the bytes of a file, and their faults
    text: Callable[[Record], str]  # returns the text of a record in this format
    joined: Callable[[Sequence[str]], str] | None = None  # returns a file of the texts; None: it can hold only one
    longest_block: int = MOST_SIDE  # longest block that can be written

    @property
    def several(self) -> bool:
        """Whether a file can hold more than one puzzle."""
        return self.joined is not None


@cache
def part_of(name: str) -> str:
    """Return the one of PARTS that a name in any spelling means, such as `rowClues`, or nothing."""
    letters = re.sub(r"[\W\d_]", "", name.lower())
    return next((part for part, names in _NAMES.items() if names.match(letters)), "")


def parts_of(puzzle: Puzzle) -> Iterable[tuple[str, tuple[Clue, ...]]]:
    """Return the rows' clues and the columns' clues, with their names."""
    return zip(PARTS, (puzzle.rows, puzzle.columns), strict=True)


# --- drafts ------------------------------------------------------------------------------------------------------


class Draft:
    """A puzzle while its file is read: collects clues and faults, and becomes a record or a fault."""

    needed: ClassVar[Iterable[str]] = ()  # the sections that every puzzle has
    missing: ClassVar[str] = ""  # message about a missing section, with `{}` for its name
    part = ""  # the one of PARTS whose clues are being read, if any

    def __init__(self, number: int, line: int) -> None:
        self.number, self.line = number, line
        self.texts: dict[str, str] = {}  # fields of the record that are texts
        self.start: tuple[list[list[int]], int] | None = None  # with its line in the file
        self.solution: tuple[list[list[int]], int] | None = None
        self.clues: dict[str, list[tuple[Clue, int]]] = {"columns": [], "rows": []}  # each with its line
        self.sections: set[str] = set()  # the names of those found so far
        self.names: dict[str, str] = {}  # of colours, by their signs in clues
        self.colours: dict[str, None] = {}  # those of the blocks so far; more than one is a fault
        self._fault: Fault | None = None  # the first one; further ones are counted in it
        self.warnings: list[Fault] = []

    @property
    def is_begun(self) -> bool:
        """Whether a section or a fault was found."""
        return bool(self.sections) or self._fault is not None

    @property
    def hopeless(self) -> bool:
        """Whether the draft has so many faults that reading more is useless."""
        return self._fault is not None and self._fault.more >= HOPELESS

    def take(self, line: TextLine) -> None:
        """Read the next text line, blank or not; the first one is not blank."""
        raise NotImplementedError

    def clue(self, part: str, clue: Clue | Fault, line: int) -> None:
        """Add the next clue of the rows or of the columns."""
        clues = self.clues[part]
        if len(clues) == MOST_SIDE:
            self.refuse(f"more than {MOST_SIDE} {part}", line)
        elif isinstance(clue, Fault):
            self.fault(clue, line)
            clues.append(((), line))
        else:
            clues.append((clue, line))

    def clue_in_colour(self, text: str, line: int) -> Clue | Fault:
        """Return the clue in a text of numbers that may end with the sign of a colour."""
        blocks = [] if _PLAIN.fullmatch(text) or len(text) > LONGEST_CLUE else _SIGNED.findall(text)
        if any(sign and not sign.isalpha() and sign not in self.names for _, sign in blocks):
            blocks = []
        clue = clue_from_text(_SIGNED.sub(r"\1", text) if blocks else text)
        if clue and not isinstance(clue, Fault):
            signs = dict.fromkeys(sign for number, sign in blocks if number.strip("0")) or ("",)
            self.use_colours([self.names.get(sign, sign or "black") for sign in signs], line)
        return clue

    def use_colours(self, names: Iterable[str], line: int) -> None:
        """Add the colours of blocks; the second one is a fault."""
        before, new = len(self.colours), [name for name in names if name not in self.colours]
        self.colours |= dict.fromkeys(new)
        if before < 2 <= len(self.colours):
            first, second, *_ = map(shown, self.colours)
            self.refuse(f"blocks of several colours, {first} and {second}; only one is supported", line)

    def text(self, field: str, text: str, line: int, name: str) -> None:
        """Set a text of the record; `name` is its name in the file."""
        if not is_text(text):
            self.warn(f"the {name} has bytes that are not UTF-8 text", line)
        self.texts[field] = text

    def draw(self, field: str, rows: Sequence[tuple[int, Sequence[str]]], meaning: Mapping[str, int]) -> None:
        """Take a board from its rows, each a line number and signs with a `meaning`; others are faults."""
        cells: list[list[int]] = []
        for line, signs in rows:
            if other := next((sign for sign in signs if sign not in meaning), ""):
                self.refuse(f"{shown(other)} is not a cell; expected one of {' '.join(meaning)}", line)
                return
            if cells and len(signs) != len(cells[0]):
                self.refuse(f"a row of {len(signs)} cells after rows of {len(cells[0])}", line)
                return
            cells.append([meaning[sign] for sign in signs])
        if cells:
            setattr(self, field, (cells, rows[0][0]))
        else:
            self.refuse("a drawn board without cells")

    def section(self, name: str, line: int, more: str) -> None:
        """Start a section; a second one of the same name is a fault, and `more` is added to its message."""
        if name in self.sections:
            self.refuse(f"a second '{name}'; {more}", line)
        self.sections.add(name)

    def fault(self, fault: Fault, line: int | None = None) -> None:
        """Add a fault that makes the puzzle unusable; without `line`, it is at the start of the puzzle."""
        if self._fault:
            self._fault = replace(self._fault, more=self._fault.more + 1)
        else:
            self._fault = fault.at(self.number, line or self.line)

    def refuse(self, message: str, line: int | None = None) -> None:
        """Add a fault with this message."""
        self.fault(Fault.of_file(message), line)

    def warn(self, message: str, line: int) -> None:
        """Add a warning about a dropped part of the file; the puzzle stays usable."""
        if len(self.warnings) == MOST_WARNINGS:
            self.warnings[-1] = replace(self.warnings[-1], more=self.warnings[-1].more + 1)
        else:
            self.warnings.append(Fault.of_file(message).at(self.number, line))

    def finished(self) -> Found:
        """Return the puzzle, or its first fault."""
        for name in () if self._fault else self.needed:
            if name not in self.sections:
                self.refuse(self.missing.format(name))
        if self._fault:
            return self._fault
        columns, rows = (tuple(clue for clue, _ in clues) for clues in self.clues.values())
        if self.solution and not columns and not rows:
            puzzle = Puzzle.from_grid(self.solution[0])  # drawn, but without clues
        else:
            puzzle = Puzzle.unchecked(columns, rows)
        self._check(puzzle)
        if self._fault:
            return self._fault
        start = PartialGrid(self.start[0]) if self.start else None
        solution = self._right_solution(puzzle)
        texts, warnings = self.texts, tuple(self.warnings)
        return Record(puzzle, start, solution, **texts, number=self.number, line=self.line, warnings=warnings)

    def _check(self, puzzle: Puzzle) -> None:
        for part, clues in parts_of(puzzle):
            if not clues:
                self.refuse(f"no clues of {part}")
            elif len(clues) > MOST_SIDE:
                self.refuse(f"{len(clues)} {part} are too many; the limit is {MOST_SIDE}")
        if self._fault:
            return
        if problem := fault_in_clues(puzzle):
            fault, index = problem
            lines = [line for clues in self.clues.values() for _, line in clues]
            self.fault(fault, None if index is None else lines[index])
        if self.start and (message := _other_size(self.start[0], puzzle)):
            self.refuse(message, self.start[1])

    def _right_solution(self, puzzle: Puzzle) -> Solution | None:
        """Return the solution if it is right; otherwise drop it, since the puzzle does not need it."""
        if self.solution is None:
            return None
        cells, line = self.solution
        problem, solution = _other_size(cells, puzzle), Solution(cells)
        if not problem and (wrong := mismatches(puzzle, solution)):
            problem = f"it breaks the clues: {wrong[0]}"
        if problem:
            self.warn(f"the solution is dropped: {problem}", line)
        return None if problem else solution


def _other_size(cells: list[list[int]], puzzle: Puzzle) -> str | None:
    size = len(cells[0]), len(cells)
    if size == puzzle.size:
        return None
    return "a grid of {}x{} cells; the clues need {}x{}".format(*size, *puzzle.size)


# --- text lines --------------------------------------------------------------------------------------------------

NUMBERS = re.compile(r"[\d\s,-]*", re.ASCII)  # a line of block lengths, right or wrong
SIDES = re.compile(r"(\d{1,18})\s+(\d{1,18})", re.ASCII)  # a line of a width and a height, in either order
NEVER = re.compile(r"(?!)")  # no line
_PLAIN = re.compile(r"[0-9\s,]*")
_SIGNED = re.compile(
    r"(?<![0-9])([0-9]++)([^\s,0-9\0\ufffd]?)(?![^\s,])"
)  # a number, perhaps with the sign of a colour


def read_lines(
    data: bytes,
    draft_of: type[Draft],
    first: re.Pattern[str] = NEVER,
    divider: re.Pattern[str] = NEVER,
    comment: re.Pattern[str] = NEVER,
) -> Iterator[Found]:
    """Yield the puzzles of a file; each starts with a text line that is not blank.

    The patterns match the first text line of a puzzle, a text line between two puzzles, and one to ignore.
    """
    number = 0
    draft: Draft | None = None
    for line in lines_of(data):
        if comment.fullmatch(line.text):
            continue
        is_divider = divider.fullmatch(line.text)
        if draft and (is_divider or first.fullmatch(line.text)):
            yield draft.finished()
            draft = None
        if not draft and line.text and not is_divider:
            number += 1
            draft = draft_of(number, line.number)
        if draft and not draft.hopeless:
            draft.take(line)
        elif draft and first is NEVER and divider is NEVER:
            break
    if draft:
        yield draft.finished()


def fitting(lines: Sequence[TextLine], needed: int) -> Sequence[TextLine] | None:
    """Return the `needed` clue lines among all text lines up to the next part of the file, or None.

    Blank ones are empty clues, or only space if the others are as many as `needed`.
    """
    full = [line for line in lines if line.text]
    if len(full) == needed:
        return full
    return lines[:needed] if len(lines) >= needed and not any(line.text for line in lines[needed:]) else None


def clue_lines(draft: Draft, lines: Sequence[TextLine], needed: int, purpose: str) -> Sequence[TextLine]:
    """Return the clue lines as :func:`fitting`, or none with a fault in the draft, which names their `purpose`."""
    clues = fitting(lines, needed)
    if clues is None:
        full = [line for line in lines if line.text]
        extra = full[needed] if len(full) > needed else None
        more = f": too many from {shown(extra.text)} on" if extra else ""
        more = more or "".join(f"; on line {fault.line}, {fault.message}" for fault in draft.warnings[-1:])
        last = extra or (lines[-1] if lines else None)
        expected = f"expected {count(needed, 'clue line')} for {purpose}, found {len(full)}{more}"
        draft.refuse(expected, last.number if last else None)
    return clues or ()


def in_lines(record: Record, rows: str, columns: str, end: str = "", text: Callable[[Clue], str] = spaced) -> str:
    """Return the clues of a record, one text line each, with texts before the rows and columns and at the end."""
    of_rows, of_columns = ("".join(f"{text(clue)}\n" for clue in clues) for _, clues in parts_of(record.puzzle))
    return f"{rows}{of_rows}{columns}{of_columns}{end}"
