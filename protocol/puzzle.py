"""Puzzles, boards and records; they print as drawings.

A board is stored as bytes, one per cell; numpy is loaded only for a board as an array.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from nonobot.protocol.clues import (
    BLACK,
    UNKNOWN,
    WHITE,
    Clue,
    Fault,
    FaultKind,
    PuzzleError,
    clue_of,
    needed_length,
)
from nonobot.system import printable, shortened

if TYPE_CHECKING:
    import numpy.typing as npt

_CELLS, _TEXT = bytes((BLACK, WHITE, UNKNOWN % 256)), b"10?"
_TO_TEXT, _TO_CELLS = bytes.maketrans(_CELLS, _TEXT), bytes.maketrans(_TEXT, _CELLS)


def text_from_cells(board: Solution | PartialGrid) -> str:
    """Return the cells of a board as text, row by row: `1` black, `0` white, `?` unknown."""
    return board.content.translate(_TO_TEXT).decode()


def cells_from_text(text: str, size: tuple[int, int]) -> PartialGrid:
    """Return the board of this width and height from a text of :func:`text_from_cells`, or raise ValueError."""
    content = text.encode()
    if len(content) != size[0] * size[1] or content.translate(None, _TEXT):
        raise ValueError("cells: expected one of 1, 0 and ? for each cell of the board")
    return PartialGrid.from_bytes(content.translate(_TO_CELLS), size)


class _Drawable:
    """Base of classes that print as text drawings and show as SVG in notebooks."""

    __slots__ = ()

    def _drawing(self) -> tuple[Puzzle, _Board | None, bool]:
        """Return the puzzle and the board to draw, and whether to draw the clues."""
        raise NotImplementedError

    def __str__(self) -> str:
        from nonobot.protocol.characters import text_of_board

        return text_of_board(*self._drawing())

    def _repr_svg_(self) -> str:
        from nonobot.protocol.svg import svg_of_board

        return svg_of_board(*self._drawing())


@dataclass(frozen=True)
class Puzzle(_Drawable):
    """The clues of a board, checked for errors that counting can find; prints as a drawing.

    `rows` contains the block lengths of each row, top to bottom, each read left to right; `[]` or `[0]` is an
    empty row. `columns` contains those of each column, left to right, each read top to bottom. PuzzleError: a
    block length is not a whole number of 1 or more, a clue is too long, or rows and columns have different numbers
    of black cells.

    >>> print(Puzzle(rows=[[3], [1], [1]], columns=[[1], [3], [1]]))
        1 3 1
      ┌──────┐
    3 │      │
    1 │      │
    1 │      │
      └──────┘
    """

    __slots__ = ("columns", "is_checked", "rows")

    rows: tuple[Clue, ...]
    columns: tuple[Clue, ...]
    if TYPE_CHECKING:
        is_checked: ClassVar[bool]  # of each puzzle, but no field: `fault_in_clues` has found no fault

    def __init__(self, rows: Iterable[Iterable[int]], columns: Iterable[Iterable[int]]) -> None:
        self._set(_clues("column", columns), _clues("row", rows))
        fault = fault_in_clues(self)
        if fault:
            raise PuzzleError(fault[0].message)

    @classmethod
    def unchecked(cls, columns: tuple[Clue, ...], rows: tuple[Clue, ...]) -> Puzzle:
        """Return a puzzle without checking its clues; `fault_in_clues` checks them."""
        puzzle = object.__new__(cls)
        puzzle._set(columns, rows)
        return puzzle

    @classmethod
    def from_grid(cls, grid: Iterable[Iterable[int]]) -> Puzzle:
        """Return the puzzle of a full board, shape (height, width), without checking the cells."""
        rows = [list(row) for row in grid]
        columns = zip(*rows, strict=True)
        return cls.unchecked(columns=tuple(map(clue_of, columns)), rows=tuple(map(clue_of, rows)))

    @classmethod
    def from_cells(cls, cells: npt.ArrayLike) -> Puzzle:
        """Return the puzzle of a full board, an array of shape (height, width): 1 black, 0 white.

        `cells` may also be a drawing such as `["#.", "##"]`. PuzzleError: it is not a full board.
        """
        solution = Solution(cells)
        if 0 in solution.size:
            raise PuzzleError("a board has at least one cell")
        return cls.from_grid(solution.rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return Puzzle.unchecked, (self.columns, self.rows)

    def _set(self, columns: tuple[Clue, ...], rows: tuple[Clue, ...]) -> None:
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "is_checked", False)

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def height(self) -> int:
        """Number of rows."""
        return len(self.rows)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return len(self.columns), len(self.rows)

    def _drawing(self) -> tuple[Puzzle, None, bool]:
        return self, None, True


def fault_in_clues(puzzle: Puzzle) -> tuple[Fault, int | None] | None:
    """Return the first fault that counting finds, without its place, and the index of its clue; None: no fault.

    The index counts columns first, then rows; it is None for a fault of the whole puzzle. Right clues are not
    checked again.
    """
    if puzzle.is_checked:
        return None
    index = 0
    for kind, clues, length in (("column", puzzle.columns, puzzle.height), ("row", puzzle.rows, puzzle.width)):
        for number, clue in enumerate(clues, 1):
            needed = needed_length(clue)
            if needed > length:
                text = f"the clue of {kind} {number} needs {needed} cells, the {kind} has {length}"
                return Fault(FaultKind.CLUE_TOO_LONG, text), index
            index += 1
    in_columns, in_rows = (sum(map(sum, clues)) for clues in (puzzle.columns, puzzle.rows))
    if in_columns != in_rows:
        text = f"the columns count {in_columns} black cells, the rows {in_rows}; both must be the same"
        return Fault(FaultKind.BLACK_CELL_MISMATCH, text), None
    object.__setattr__(puzzle, "is_checked", True)
    return None


def _clues(kind: str, clues: Iterable[Iterable[int]]) -> tuple[Clue, ...]:
    checked = []
    try:
        left = iter(_listed(clues))
    except TypeError:
        raise TypeError(f"{kind}s: {clues!r}; expected a list of clues such as [[1, 2], [3]]") from None
    for number, clue in enumerate(left, 1):
        try:
            blocks = tuple(operator.index(length) for length in clue)
        except TypeError:
            raise PuzzleError(f"{kind} {number}: {clue!r} is not a list of block lengths such as [1, 2]") from None
        while blocks[:1] == (0,):  # zeros around a clue only make all clues equally long
            blocks = blocks[1:]
        while blocks[-1:] == (0,):
            blocks = blocks[:-1]
        if min(blocks, default=1) < 1:
            raise PuzzleError(f"{kind} {number}: a block of {min(blocks)} cells; block lengths are 1 or more")
        checked.append(blocks)
    if not checked:
        raise PuzzleError(f"no {kind}s; a board has at least one {kind}")
    return tuple(checked)


def _listed(cells: Any) -> Any:
    """Return cells, or clues, as lists if they are an array, a frame or an image; masked cells are unknown."""
    if isinstance(cells, memoryview):
        return cells.tolist()
    if not (hasattr(cells, "__array__") or hasattr(cells, "__array_interface__")):  # an image has only the latter
        return cells
    import numpy

    if isinstance(cells, numpy.ma.MaskedArray):
        cells = numpy.ma.filled(cells.astype(object), UNKNOWN)
    return numpy.asarray(cells).tolist()


class _Bytes(dict[Any, int]):
    """The bytes of cells by colour; NaN and pandas.NA are unknown, if a cell may be unknown."""

    def __missing__(self, cell: Any) -> int:
        try:
            is_missing = bool(cell != cell)
        except TypeError:  # from pandas.NA
            is_missing = True
        if is_missing and UNKNOWN in self:
            return self[UNKNOWN]
        raise KeyError(cell)


class _Board:
    """Immutable cells of a board; boards are equal if their class, size and cells are equal.

    `content` has one byte per cell, row by row. The constructor accepts an array or lists, and raises PuzzleError
    if they do not have two dimensions or contain another value.

    A board is not a dataclass: `asdict` would take it to pieces, from which its constructor makes no board.
    """

    __slots__ = ("content", "size")
    __match_args__ = ("cells",)

    content: bytes
    size: tuple[int, int]

    _called: ClassVar[str]
    _colours: ClassVar[dict[int, str]]
    _code: ClassVar[str]

    def __init__(self, cells: npt.ArrayLike) -> None:
        bytes_of = _Bytes({colour: colour % 256 for colour in self._colours})
        given: Any = cells.numbers() if isinstance(cells, _Board) else _listed(cells)
        if isinstance(given, str):
            given = given.split()
        if isinstance(given, list | tuple) and given and all(isinstance(row, str) for row in given):
            given = _drawn(given, self._colours)
        try:
            rows = [bytes([bytes_of[cell] for cell in row]) for row in given]
        except KeyError as error:
            raise self._other_cells(f", not {shortened(repr(error.args[0]), 40)}") from None
        except TypeError:
            raise PuzzleError(f"{self._called} has two dimensions: rows of cells") from None
        shape: tuple[int, ...] = getattr(cells, "shape", ())
        width = len(rows[0]) if rows else shape[1] if len(shape) == 2 else 0
        if any(len(row) != width for row in rows):
            raise PuzzleError(f"{self._called} has rows of one length")
        self._set(b"".join(rows), (width, len(rows)))

    @classmethod
    def from_bytes(cls, content: bytes, size: tuple[int, int]) -> Self:
        """Return the board with this content, width and height, or raise PuzzleError."""
        if len(content) != size[0] * size[1]:
            raise PuzzleError(f"{len(content)} cells for a board of {size[0]}x{size[1]}")
        if content.translate(None, bytes(colour % 256 for colour in cls._colours)):
            raise cls._other_cells()
        board = cls.__new__(cls)
        board._set(content, size)
        return board

    @classmethod
    def _other_cells(cls, found: str = "") -> PuzzleError:
        *names, last = (f"{colour} ({name})" for colour, name in cls._colours.items())
        return PuzzleError(f"{cls._called} holds {', '.join(names)} and {last} only{found}")

    def _set(self, content: bytes, size: tuple[int, int]) -> None:
        object.__setattr__(self, "content", content)
        object.__setattr__(self, "size", size)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot be changed")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Board) or type(other) is not type(self):
            return NotImplemented
        return (self.content, self.size) == (other.content, other.size)

    def __hash__(self) -> int:
        return hash((self.content, self.size))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.content, self.size)

    @property
    def cells(self) -> npt.NDArray[Any]:
        """The board as a read-only numpy array of shape (height, width)."""
        try:
            import numpy as np
        except ModuleNotFoundError:
            raise ModuleNotFoundError("an array of cells needs numpy: pip install numpy", name="numpy") from None

        return np.ndarray((self.height, self.width), self._code, self.content)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return self.cells.astype(dtype or self._code)

    def numbers(self) -> list[list[int]]:
        """Return the cells of each row: 1 black, 0 white, -1 unknown."""
        return [memoryview(row).cast("b").tolist() for row in self.rows]

    @property
    def rows(self) -> list[bytes]:
        """The cells of each row."""
        width = self.width
        return [self.content[y * width : (y + 1) * width] for y in range(self.height)]

    @property
    def columns(self) -> list[bytes]:
        """The cells of each column."""
        return [self.content[x :: self.width] for x in range(self.width)]

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.size[0]

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.size[1]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.width}x{self.height}, {self.content.count(BLACK)} black>"


def _drawn(rows: Sequence[str], colours: dict[int, str]) -> list[list[int]]:
    cells = {character: colour for character, colour in _CHARACTERS.items() if colour in colours}
    for number, row in enumerate(rows, 1):
        if other := next((str(character) for character in row if character not in cells), None):
            *names, last = (f"{character!r} ({colours[colour]})" for character, colour in cells.items())
            expected = f"{', '.join(names)} or {last}"
            raise PuzzleError(f"row {number} of a drawn board has {other!r}; a cell is {expected}")
        if len(row) != len(rows[0]):
            raise PuzzleError(f"row {number} of a drawn board has {len(row)} cells, row 1 has {len(rows[0])}")
    return [[cells[character] for character in row] for row in rows]


_CHARACTERS = {"#": BLACK, ".": WHITE, "?": UNKNOWN}


class Solution(_Board, _Drawable):
    """A full, immutable board; prints as a drawing.

    The constructor copies an array of shape (height, width): 1 (or True) is black, 0 white. It also accepts a
    drawing with `#` for black and `.` for white: one string per row, or a string of several text lines.
    """

    __slots__ = ()

    _called = "a solution"
    _colours: ClassVar = {WHITE: "white", BLACK: "black"}
    _code = "u1"

    def _drawing(self) -> tuple[Puzzle, Solution, bool]:
        return Puzzle.from_grid(self.rows), self, False


class PartialGrid(_Board):
    """A partly known, immutable board; it may contradict the clues of its puzzle.

    The constructor copies an array of shape (height, width): `BLACK` (1), `WHITE` (0) or `UNKNOWN` (-1, byte 255).
    It also accepts a drawing, with `#`, `.` and `?`.
    """

    __slots__ = ()

    _called = "a partly painted board"
    _colours: ClassVar = {UNKNOWN: "unknown", WHITE: "white", BLACK: "black"}
    _code = "i1"

    @classmethod
    def blank(cls, size: tuple[int, int]) -> Self:
        """Return the board of this width and height whose cells are all unknown."""
        return cls.from_bytes(bytes([UNKNOWN % 256]) * (size[0] * size[1]), size)

    def changed_to(self, after: PartialGrid) -> list[int]:
        """Return the places, in the content, of the cells in which another board of this size differs."""
        changed = []
        for y, (old, new) in enumerate(zip(self.rows, after.rows, strict=True)):
            if old != new:
                places = range(y * self.width, (y + 1) * self.width)
                changed += [place for place, was, now in zip(places, old, new, strict=True) if was != now]
        return changed


# --- puzzles with the content of their files -------------------------------------------------------------------

TEXT_FIELDS = ("title", "author", "copyright", "license", "catalogue", "description")
"""Fields of a record that contain free text."""


def plain_text(text: str | None) -> str | None:
    """Return `text` as one line, escaped as by `printable`, with single blanks; None if nothing is left.

    Every format can hold such a text, and a terminal can safely print it.
    """
    return printable(" ".join((text or "").split())) or None


@dataclass(frozen=True, slots=True)
class Record(_Drawable):
    """A puzzle with the other content of its file; prints as a drawing.

    `start` and `solution` may be arrays of shape (height, width): 1 black, 0 white, -1 unknown. PuzzleError: one
    is not a board of the puzzle's size. Texts become one line of printable characters (:func:`plain_text`).
    """

    puzzle: Puzzle
    start: PartialGrid | None = None  # given cells; they may contradict the clues
    solution: Solution | None = None  # the author's solution; the puzzle may have others
    title: str | None = None
    author: str | None = None
    copyright: str | None = None
    license: str | None = None
    catalogue: str | None = None  # the source of the puzzle, such as 'webpbn.com #1'
    description: str | None = None
    number: int = field(default=1, compare=False)  # the k of `$k`, or the place in the file, counted from 1
    line: int = field(default=1, compare=False)  # first text line of the puzzle in the file, counted from 1
    file: str = field(default="", compare=False)  # `-` for standard input; empty if there is only one input
    warnings: tuple[Fault, ...] = field(default=(), compare=False)  # dropped parts of the file

    if TYPE_CHECKING:  # the constructor takes boards in other forms than the attributes have

        def __init__(
            self,
            puzzle: Puzzle,
            start: PartialGrid | npt.ArrayLike | None = None,
            solution: Solution | npt.ArrayLike | None = None,
            title: str | None = None,
            author: str | None = None,
            copyright: str | None = None,
            license: str | None = None,
            catalogue: str | None = None,
            description: str | None = None,
            number: int = 1,
            line: int = 1,
            file: str = "",
            warnings: tuple[Fault, ...] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.puzzle, Puzzle):
            raise TypeError(f"puzzle: {self.puzzle!r}; expected a Puzzle")
        for name in TEXT_FIELDS:
            text = getattr(self, name)
            if not isinstance(text, str | None):
                raise TypeError(f"{name}: {text!r}; expected a str or None")
            if text is not None:
                object.__setattr__(self, name, plain_text(text))
        for name, kind in (("start", PartialGrid), ("solution", Solution)):
            board = getattr(self, name)
            if board is None:
                continue
            if not isinstance(board, kind):
                board = kind(board)
                object.__setattr__(self, name, board)
            if board.size != self.size:
                raise PuzzleError("a {}x{} board for a {}x{} puzzle".format(*board.size, *self.size))

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the board."""
        return self.puzzle.size

    def _drawing(self) -> tuple[Puzzle, PartialGrid | None, bool]:
        return self.puzzle, self.start, True

    def __str__(self) -> str:
        heading = " by ".join(text for text in (self.title, self.author) if text)
        return f"{heading}\n{_Drawable.__str__(self)}" if heading else _Drawable.__str__(self)


Found = Record | Fault  # a puzzle that a reader found, or a fault (see `Fault.is_in_place`)
