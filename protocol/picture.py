"""Boards to draw: a puzzle, the cells painted so far, and the lines that break their clue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nonobot.protocol.clues import BLACK, UNKNOWN, WHITE, Clue, clue_of

if TYPE_CHECKING:
    from nonobot.protocol.puzzle import Puzzle, Solution

__all__ = ["GROUP", "Picture", "numbers"]

GROUP = 5
"""Rows or columns between two heavier lines."""


class Picture:
    """A board to draw.

    Parameters
    ----------
    cells : array_like of int, shape (height, width), optional
        1 black, 0 white, -1 unknown; without it, every cell is unknown.
    name : str, optional
        Name of the board, by default its size; a sheet prints it above the board.
    wrong_rows, wrong_columns : frozenset of int, optional
        Lines to mark as wrong, counted from 0.

    Attributes
    ----------
    is_partly_known : bool
        Whether some cells are known and some are not: only then does white need a mark of its own.
    """

    __slots__ = ("cells", "height", "is_partly_known", "name", "puzzle", "width", "wrong_columns", "wrong_rows")

    def __init__(
        self,
        puzzle: Puzzle,
        cells: npt.ArrayLike | None = None,
        name: str | None = None,
        wrong_rows: frozenset[int] = frozenset(),
        wrong_columns: frozenset[int] = frozenset(),
    ) -> None:
        self.width, self.height = puzzle.size
        shape = (self.height, self.width)
        if 0 in shape:
            raise ValueError(f"a board of {self.width}x{self.height} has no cell to draw")
        given = np.full(shape, UNKNOWN) if cells is None else np.asarray(cells)
        if given.shape != shape:
            raise ValueError(f"cells of shape {given.shape}; the puzzle's is {shape} (height, width)")
        if not np.isin(given, (UNKNOWN, WHITE, BLACK)).all():
            raise ValueError("cells are 1 (black), 0 (white) or -1 (unknown)")
        self.puzzle = puzzle
        self.cells: npt.NDArray[np.int8] = given.astype(np.int8)
        unknown = self.cells == UNKNOWN
        self.is_partly_known = bool(unknown.any() and not unknown.all())
        self.name = name or f"{self.width}x{self.height}"
        self.wrong_rows, self.wrong_columns = wrong_rows, wrong_columns

    @classmethod
    def of_answer(cls, puzzle: Puzzle, solution: Solution, name: str | None = None) -> Picture:
        """Return the picture of an answer of the puzzle's size; lines that break their clue are marked."""
        wrong = _wrong(puzzle.rows, solution.rows), _wrong(puzzle.columns, solution.columns)
        return cls(puzzle, solution.cells, name, *wrong)


def _wrong(clues: Sequence[Clue], lines: Sequence[bytes]) -> frozenset[int]:
    return frozenset(i for i, (clue, cells) in enumerate(zip(clues, lines, strict=True)) if clue_of(cells) != clue)


def numbers(clue: Clue) -> list[str]:
    """Return the words of a clue: its block lengths, or 0 for a line without black cells."""
    return [str(block) for block in clue] or ["0"]
