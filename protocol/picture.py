"""What is to be drawn: a puzzle, the cells painted so far, and the lines at fault."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nonobot.protocol.puzzle import BLACK, UNKNOWN, WHITE, Clue, Puzzle, Solution
from nonobot.protocol.verify import mismatches

__all__ = ["GROUP", "Cells", "Picture", "numbers"]

GROUP = 5
"""A heavier line stands after so many lines of cells."""

Cells = npt.NDArray[np.int8]
"""Cells of a board, shape (height, width): -1 unknown, 0 white, 1 black."""


class Picture:
    """A board as it is to be drawn.

    Parameters
    ----------
    puzzle : Puzzle
    cells : array_like of int, shape (height, width), optional
        1 black, 0 white, -1 unknown; without, every cell is unknown.
    name : str, optional
        What the picture is called; a sheet prints it above the board.
    wrong_rows, wrong_columns : frozenset of int, optional
        Lines to mark as wrong, counted from 0.

    Attributes
    ----------
    is_partly_known : bool
        Whether some cells are known and some are not: only then does white need a mark of its own.

    Raises
    ------
    ValueError
        If the board has no cell, or `cells` has another size or holds other numbers.
    """

    __slots__ = ("cells", "is_partly_known", "name", "puzzle", "wrong_columns", "wrong_rows")

    def __init__(
        self,
        puzzle: Puzzle,
        cells: npt.ArrayLike | None = None,
        name: str | None = None,
        wrong_rows: frozenset[int] = frozenset(),
        wrong_columns: frozenset[int] = frozenset(),
    ) -> None:
        shape = (puzzle.height, puzzle.width)
        if 0 in shape:
            raise ValueError(f"a board of {puzzle.width}x{puzzle.height} has no cell to draw")
        given = np.full(shape, UNKNOWN) if cells is None else np.asarray(cells)
        if given.shape != shape:
            raise ValueError(f"cells of shape {given.shape}; the puzzle's is {shape} (height, width)")
        if not np.isin(given, (UNKNOWN, WHITE, BLACK)).all():
            raise ValueError("cells are 1 (black), 0 (white) or -1 (unknown)")
        self.puzzle = puzzle
        self.cells: Cells = given.astype(np.int8)
        unknown = self.cells == UNKNOWN
        self.is_partly_known = bool(unknown.any() and not unknown.all())
        self.name = name or f"{puzzle.width}x{puzzle.height}"
        self.wrong_rows = wrong_rows
        self.wrong_columns = wrong_columns

    @classmethod
    def of_answer(cls, puzzle: Puzzle, solution: Solution, name: str | None = None) -> Picture:
        """Return the picture of an answer of the puzzle's size, with the lines marked that break their clue."""
        wrong = mismatches(puzzle, solution)
        return cls(
            puzzle,
            solution.cells,
            name,
            frozenset(one.number - 1 for one in wrong if one.kind == "row"),
            frozenset(one.number - 1 for one in wrong if one.kind == "column"),
        )

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.puzzle.width

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.puzzle.height


def numbers(clue: Clue) -> list[str]:
    """Return what is written for a clue: its block lengths, or 0 for a line without black cells."""
    return [str(block) for block in clue] or ["0"]
