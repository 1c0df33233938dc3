"""What a puzzle and a solution are.

Boards are bytes, one a cell, and an array where one is asked for: numpy is loaded only then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "BLACK",
    "UNKNOWN",
    "WHITE",
    "Clue",
    "Grid",
    "PartialGrid",
    "Puzzle",
    "Solution",
    "cells_from_text",
    "clue_of",
    "text_from_cells",
]

Clue = tuple[int, ...]
"""The lengths of the blocks of a line, in order; empty for a line without black cells."""

Grid: TypeAlias = "npt.NDArray[np.uint8]"
"""Cells of a solution, shape (height, width): 1 black, 0 white."""

UNKNOWN, WHITE, BLACK = -1, 0, 1
"""Cells of a partly painted board."""

_CELL_OF = {"1": BLACK, "0": WHITE, "?": UNKNOWN}


def clue_of(cells: Iterable[int]) -> Clue:
    """Return the clue that a fully painted line has: the lengths of its runs of black cells."""
    return tuple(len(run) for run in bytes(map(bool, cells)).split(b"\0") if run)


def text_from_cells(cells: npt.NDArray[np.integer]) -> str:
    """Return cells, of shape (height, width), as text, row after row: `1` black, `0` white, `?` unknown."""
    return "".join("01?"[cell] for cell in cells.ravel().tolist())


def cells_from_text(text: Iterable[str], size: tuple[int, int]) -> npt.NDArray[np.int8]:
    """Return what :func:`text_from_cells` wrote as an array of shape (height, width).

    Parameters
    ----------
    text : str
    size : (int, int)
        Width and height.

    Raises
    ------
    ValueError
        If there is another character, or not one for each cell.
    """
    import numpy as np

    width, height = size
    try:
        return np.array([_CELL_OF[one] for one in text], np.int8).reshape(height, width)
    except (KeyError, ValueError):
        raise ValueError("cells that are not one of 1, 0 and ? for each cell of the board") from None


@dataclass(frozen=True, slots=True)
class Puzzle:
    """The clues of a board: what has to be painted.

    Nothing is promised about the clues: :func:`nonobot.protocol.clues.fault_in_clues` tells whether they can be
    right.

    Parameters
    ----------
    columns : tuple of Clue
        One clue for each column, left to right, each read top to bottom.
    rows : tuple of Clue
        One clue for each row, top to bottom, each read left to right.

    Attributes
    ----------
    is_checked : bool
        `fault_in_clues` was asked about this puzzle and found nothing.
    """

    columns: tuple[Clue, ...]
    rows: tuple[Clue, ...]
    is_checked: bool = field(default=False, init=False, repr=False, compare=False)

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
        return self.width, self.height

    @classmethod
    def from_grid(cls, grid: Sequence[Sequence[int]] | Grid) -> Puzzle:
        """Return the puzzle that `grid`, shape (height, width), is a solution of."""
        rows = [list(row) for row in grid]
        return cls(
            columns=tuple(clue_of(column) for column in zip(*rows, strict=True)),
            rows=tuple(clue_of(row) for row in rows),
        )


class _Cells:
    """Cells of a board that cannot be changed; equal where class, size and all cells are."""

    __slots__ = ("content", "size")

    content: bytes
    size: tuple[int, int]

    _called: ClassVar[str]
    _colours: ClassVar[dict[int, str]]
    _code: ClassVar[str]

    def __init__(self, cells: npt.ArrayLike) -> None:
        import numpy as np

        raw = np.asarray(cells)
        if raw.ndim != 2:
            raise ValueError(f"{self._called} has two dimensions, not {raw.ndim}")
        if not np.isin(raw, list(self._colours)).all():
            raise self._other_cells()
        self._set(raw.astype(self._code).tobytes(), (raw.shape[1], raw.shape[0]))

    @classmethod
    def from_bytes(cls, content: bytes, size: tuple[int, int]) -> Self:
        """Return a board of the given size.

        Parameters
        ----------
        content : bytes
            Of each cell, row after row, its colour; -1 as 255.
        size : (int, int)
            Width and height.

        Raises
        ------
        ValueError
            If there is another colour, or not one for each cell.
        """
        if len(content) != size[0] * size[1]:
            raise ValueError(f"{len(content)} cells for a board of {size[0]}x{size[1]}")
        if content.translate(None, bytes(colour % 256 for colour in cls._colours)):
            raise cls._other_cells()
        board = cls.__new__(cls)
        board._set(content, size)
        return board

    @classmethod
    def _other_cells(cls) -> ValueError:
        *names, last = (f"{colour} ({name})" for colour, name in cls._colours.items())
        return ValueError(f"{cls._called} holds {', '.join(names)} and {last} only")

    def _set(self, content: bytes, size: tuple[int, int]) -> None:
        object.__setattr__(self, "content", content)
        object.__setattr__(self, "size", size)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot be changed")

    @property
    def cells(self) -> npt.NDArray[Any]:
        """The board as an array of shape (height, width), which cannot be changed."""
        import numpy as np

        return np.ndarray((self.height, self.width), self._code, self.content)

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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Cells) or type(other) is not type(self):
            return NotImplemented
        return (self.size, self.content) == (other.size, other.content)

    def __hash__(self) -> int:
        return hash((self.size, self.content))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.width}x{self.height}, {self.content.count(BLACK)} black>"


class Solution(_Cells):
    """A fully painted board; it cannot be changed.

    Parameters
    ----------
    cells : array_like of int, shape (height, width)
        1 (or True) for black, 0 for white. They are copied.

    Attributes
    ----------
    content : bytes
        One for each cell, row after row.
    size : (int, int)
        Width and height.

    Raises
    ------
    ValueError
        If `cells` has not two dimensions or holds anything but 0 and 1.
    """

    __slots__ = ()

    _called = "a solution"
    _colours: ClassVar = {WHITE: "white", BLACK: "black"}
    _code = "u1"


class PartialGrid(_Cells):
    """A partly painted board, such as one that a solver is to continue from; it cannot be changed.

    Parameters
    ----------
    cells : array_like of int, shape (height, width)
        `BLACK` (1), `WHITE` (0) or `UNKNOWN` (-1). They are copied.

    Attributes
    ----------
    content : bytes
        One for each cell, row after row; `UNKNOWN` as 255.
    size : (int, int)
        Width and height.

    Raises
    ------
    ValueError
        If `cells` has not two dimensions or holds anything else.

    Notes
    -----
    Nothing is promised: the board may contradict the clues of its puzzle.
    """

    __slots__ = ()

    _called = "a partly painted board"
    _colours: ClassVar = {UNKNOWN: "unknown", WHITE: "white", BLACK: "black"}
    _code = "i1"
