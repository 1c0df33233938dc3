"""What a puzzle and a solution are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

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

Grid = npt.NDArray[np.uint8]
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


def _holds_only(cells: npt.NDArray, allowed: list[int]) -> bool:
    """Tell whether there are no other cells than neighbouring numbers; of whole numbers two looks tell."""
    if cells.dtype.kind in "biu" and cells.size:
        return bool(min(allowed) <= cells.min() and cells.max() <= max(allowed))
    return bool(np.isin(cells, allowed).all())


class _Cells:
    """Cells of a board that cannot be changed; equal where class, shape and all cells are."""

    __slots__ = ("cells",)

    cells: npt.NDArray[np.integer]

    def _set(self, cells: npt.ArrayLike, what: str, allowed: dict[int, str], dtype: type[np.integer]) -> None:
        raw = np.asarray(cells)
        if raw.ndim != 2:
            raise ValueError(f"{what} has two dimensions, not {raw.ndim}")
        if not _holds_only(raw, list(allowed)):
            names = [f"{value} ({name})" for value, name in allowed.items()]
            raise ValueError(f"{what} holds {', '.join(names[:-1])} and {names[-1]} only")
        own = raw.astype(dtype)
        own.setflags(write=False)
        object.__setattr__(self, "cells", own)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot be changed")

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.cells.shape[1])

    @property
    def height(self) -> int:
        """Number of rows."""
        return int(self.cells.shape[0])

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.width, self.height

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Cells) or type(other) is not type(self):
            return NotImplemented
        return np.array_equal(self.cells, other.cells)

    def __hash__(self) -> int:
        return hash((self.cells.shape, self.cells.tobytes()))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.width}x{self.height}, {int((self.cells == BLACK).sum())} black>"


class Solution(_Cells):
    """A fully painted board; it cannot be changed.

    Parameters
    ----------
    cells : array_like of int, shape (height, width)
        1 (or True) for black, 0 for white. The array is copied.

    Raises
    ------
    ValueError
        If `cells` has not two dimensions or holds anything but 0 and 1.
    """

    __slots__ = ()

    cells: Grid

    def __init__(self, cells: npt.ArrayLike) -> None:
        self._set(cells, "a solution", {WHITE: "white", BLACK: "black"}, np.uint8)


class PartialGrid(_Cells):
    """A partly painted board, such as one that a solver is to continue from; it cannot be changed.

    Parameters
    ----------
    cells : array_like of int, shape (height, width)
        `BLACK` (1), `WHITE` (0) or `UNKNOWN` (-1), kept as int8. The array is copied.

    Raises
    ------
    ValueError
        If `cells` has not two dimensions or holds anything else.

    Notes
    -----
    Nothing is promised: the board may contradict the clues of its puzzle.
    """

    __slots__ = ()

    cells: npt.NDArray[np.int8]

    def __init__(self, cells: npt.ArrayLike) -> None:
        self._set(cells, "a partly painted board", {UNKNOWN: "unknown", WHITE: "white", BLACK: "black"}, np.int8)
