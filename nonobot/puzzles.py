"""Puzzles for Python programs: made, read from files, checked, and printed as pictures."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nonobot import protocol
from nonobot.protocol import Clue, Mismatch, mismatches
from nonobot.protocol.clues import fault_in_clues
from nonobot.protocol.record import TEXT_FIELDS

__all__ = [
    "Check",
    "Puzzle",
    "PuzzleError",
    "Record",
    "Solution",
    "check",
    "own",
    "picture_of",
    "read",
    "svg_of_board",
]


class PuzzleError(ValueError):
    """Something is wrong with a puzzle or a file; the message is one line that says what and where."""


def picture_of(puzzle: protocol.Puzzle, cells: npt.ArrayLike | None, with_clues: bool = True) -> str:
    """Return a board in characters; without cells, an empty one."""
    from nonobot.protocol.characters import Blocks, draw, plain_lines
    from nonobot.protocol.picture import Picture

    return "\n".join(plain_lines(draw(Picture(puzzle, cells), Blocks.FULL, with_clues)))


def svg_of_board(puzzle: protocol.Puzzle, cells: npt.ArrayLike | None, with_clues: bool = True) -> str:
    """Return a board as an SVG document."""
    from nonobot.protocol.layout import SMALLEST_CELL_WITH_CLUES
    from nonobot.protocol.picture import Picture
    from nonobot.protocol.scene import scene_of
    from nonobot.protocol.svg import LIGHT, svg_of

    cell = max(2, min(20, 1000 // max(puzzle.size)))  # pixels: large boards are to fit a page
    with_clues = with_clues and cell >= SMALLEST_CELL_WITH_CLUES
    return svg_of(scene_of(Picture(puzzle, cells), cell=cell, clues=with_clues), LIGHT)


class Puzzle(protocol.Puzzle):
    """The clues of a board, found possible as far as counting tells; it prints as a picture.

    Parameters
    ----------
    rows : sequence of sequences of int
        The block lengths of each row, top to bottom, each read left to right; `[]` or `[0]` for an empty row.
    columns : sequence of sequences of int
        Those of each column, left to right, each read top to bottom.

    Raises
    ------
    PuzzleError
        If a block length is no whole number from 1 on, a clue is longer than its line, or rows and columns count
        different numbers of black cells; it says which line.

    Examples
    --------
    >>> print(Puzzle(rows=[[3], [1], [1]], columns=[[1], [3], [1]]))
        1 3 1
      ┌──────┐
    3 │      │
    1 │      │
    1 │      │
      └──────┘
    """

    __slots__ = ()

    def __init__(self, rows: Iterable[Iterable[int]], columns: Iterable[Iterable[int]]) -> None:
        super().__init__(columns=_clues("column", columns), rows=_clues("row", rows))
        found = fault_in_clues(self)
        if found:
            raise PuzzleError(found[0].what)

    @classmethod
    def from_cells(cls, cells: npt.ArrayLike) -> Puzzle:
        """Return the puzzle of a painted board.

        Parameters
        ----------
        cells : array_like of int or bool, shape (height, width)
            1 black, 0 white.

        Raises
        ------
        PuzzleError
            If it is no such board.
        """
        try:
            solution = protocol.Solution(cells)
        except ValueError as error:
            raise PuzzleError(str(error)) from None
        if 0 in solution.size:
            raise PuzzleError("a board has at least one cell")
        return own(protocol.Puzzle.from_grid(solution.cells))

    def __str__(self) -> str:
        return picture_of(self, None)

    def _repr_svg_(self) -> str:
        return svg_of_board(self, None)


def _clues(kind: str, clues: Iterable[Iterable[int]]) -> tuple[Clue, ...]:
    """Return clues as the rooms behind have them."""
    found = []
    for number, clue in enumerate(clues, 1):
        try:
            blocks = tuple(operator.index(length) for length in clue)
        except TypeError:
            raise PuzzleError(f"{kind} {number}: {clue!r} is no list of block lengths such as [1, 2]") from None
        if blocks == (0,):
            blocks = ()
        if min(blocks, default=1) < 1:
            raise PuzzleError(f"{kind} {number}: a block of {min(blocks)} cells; block lengths are 1 or more")
        found.append(blocks)
    if not found:
        raise PuzzleError(f"there is no {kind}; a board has at least one")
    return tuple(found)


class Solution(protocol.Solution):
    """A painted board; it prints as a picture, and `numpy.asarray` makes an array of it.

    Attributes
    ----------
    cells : uint8 array, shape (height, width)
        1 black, 0 white.
    """

    __slots__ = ()

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.cells, dtype=dtype)

    def __str__(self) -> str:
        return picture_of(protocol.Puzzle.from_grid(self.cells), self.cells, with_clues=False)

    def _repr_svg_(self) -> str:
        return svg_of_board(protocol.Puzzle.from_grid(self.cells), self.cells, with_clues=False)


def own(puzzle: protocol.Puzzle) -> Puzzle:
    """Return a puzzle of the rooms behind as one for programs."""
    return puzzle if isinstance(puzzle, Puzzle) else Puzzle(rows=puzzle.rows, columns=puzzle.columns)


@dataclass(frozen=True, slots=True)
class Record:
    """A puzzle with what its file says about it; it prints as a picture.

    Attributes
    ----------
    puzzle : Puzzle
    title, author, copyright, license, catalogue, description : str or None
    start : int8 array, shape (height, width), or None
        Cells that are given: 1 black, 0 white, -1 unknown.
    solution : Solution or None
        What the author had in mind; the puzzle may have others.
    number, line : int
        Its place in the file, and the line on which it starts, both counted from 1.
    remarks : tuple of str
        What of the file was left out, and where.
    """

    puzzle: Puzzle
    title: str | None = None
    author: str | None = None
    copyright: str | None = None
    license: str | None = None
    catalogue: str | None = None
    description: str | None = None
    start: npt.NDArray[np.int8] | None = None
    solution: Solution | None = None
    number: int = 1
    line: int = 1
    remarks: tuple[str, ...] = ()

    def __str__(self) -> str:
        words = " by ".join(word for word in (self.title, self.author) if word)
        return "\n".join([*([words] if words else ()), picture_of(self.puzzle, self.start)])

    def _repr_svg_(self) -> str:
        return svg_of_board(self.puzzle, self.start)


def _own_record(record: protocol.Record) -> Record:
    return Record(
        puzzle=own(record.puzzle),
        start=None if record.start is None else record.start.cells,
        solution=None if record.goal is None else Solution(record.goal.cells),
        number=record.number,
        line=record.line,
        remarks=tuple(map(str, record.remarks)),
        **{name: getattr(record, name) for name in TEXT_FIELDS},
    )


def read(
    source: str | bytes | os.PathLike[str],
    *,
    format: str | None = None,
    size: tuple[int, int] | Literal["auto"] | None = None,
    faults: list[str] | None = None,
) -> list[Record]:
    """Return the puzzles of a file of any format (see docs/formats.md), in its order.

    Parameters
    ----------
    source : str, bytes or path
        A file's name, or its content: bytes, or a text of more than one line. A text of one line is a file's name
        if there is such a file, else the puzzle itself.
    format : str, optional
        Its format; without, the content tells.
    size : (int, int) or 'auto', optional
        Width and height of all boards, where the format states none.
    faults : list of str, optional
        Takes what is wrong with puzzles that cannot be read, a line each; the others are returned. Without, the
        first fault is raised.

    Raises
    ------
    PuzzleError
        If a puzzle cannot be read (see `faults`), or the file is of no known format.
    OSError
        If the file cannot be read.
    """
    from nonobot.protocol import formats

    path = _path(source)
    place = f"{path}: " if path else ""
    try:
        found = list(formats.read(path.read_bytes() if path else _content(source), format, size))
    except formats.FormatError as error:
        if isinstance(source, str) and "\n" not in source and not path:
            place = f"{source!r} is no file here, and no puzzle: "
        raise PuzzleError(f"{place}{error}") from None
    records = []
    for one in found:
        if isinstance(one, protocol.Record):
            records.append(_own_record(one))
        elif faults is None:
            raise PuzzleError(f"{place}{one}")
        else:
            faults.append(f"{place}{one}")
    if not found:
        raise PuzzleError(f"{place}no puzzle in it")
    return records


def _path(source: str | bytes | os.PathLike[str]) -> Path | None:
    """Return the file that is meant, or None for what is a content itself."""
    if isinstance(source, bytes) or (isinstance(source, str) and "\n" in source):
        return None
    path = Path(source)
    return path if isinstance(source, os.PathLike) or path.exists() else None


def _content(source: str | bytes | os.PathLike[str]) -> bytes:
    return source if isinstance(source, bytes) else str(source).encode()


@dataclass(frozen=True, slots=True)
class Check:
    """Whether a board solves a puzzle: true if it does; printed, it says which lines are wrong.

    Attributes
    ----------
    mismatches : tuple of Mismatch
        The lines with another clue than theirs: `kind` ('row' or 'column'), `number` from 1, `expected`, `found`.
    """

    mismatches: tuple[Mismatch, ...]

    def __bool__(self) -> bool:
        return not self.mismatches

    def __str__(self) -> str:
        return "\n".join(map(str, self.mismatches)) or "right"


def check(puzzle: Puzzle | Record, grid: Solution | npt.ArrayLike) -> Check:
    """Return whether a painted board solves a puzzle; nothing of the solver is used.

    Parameters
    ----------
    puzzle : Puzzle or Record
    grid : Solution or array_like of int, shape (height, width)
        1 black, 0 white.

    Raises
    ------
    PuzzleError
        If `grid` is no painted board of that size.
    """
    try:
        solution = grid if isinstance(grid, protocol.Solution) else protocol.Solution(grid)
        return Check(tuple(mismatches(puzzle.puzzle if isinstance(puzzle, Record) else puzzle, solution)))
    except ValueError as error:
        raise PuzzleError(str(error)) from None
