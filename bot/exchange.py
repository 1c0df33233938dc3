"""What goes into a strategy and what comes out: boards to start from, results, moments of the search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

import numpy as np
import numpy.typing as npt

from nonobot.protocol import BLACK, UNKNOWN, WHITE, PartialGrid, Solution

__all__ = ["MOST_MOMENTS", "Moment", "Result", "Status", "cells_of", "line_masks", "moments_of", "seconds_of"]


def line_masks(grid: PartialGrid) -> npt.NDArray[np.uint64]:
    """Return the black and the white cells of every line of a board, rows first.

    Returns
    -------
    uint64 array, shape (2, height + width)
        Black cells, then white ones; bit i is cell i of the line.
    """
    return np.array(
        [[*_row_masks(grid.cells == colour), *_row_masks((grid.cells == colour).T)] for colour in (BLACK, WHITE)],
        np.uint64,
    )


def _row_masks(cells: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
    places = np.arange(cells.shape[1], dtype=np.uint64)
    return (cells.astype(np.uint64) << places).sum(axis=1, dtype=np.uint64)


def cells_of(black: npt.NDArray[np.uint64], white: npt.NDArray[np.uint64], width: int) -> npt.NDArray[np.int8]:
    """Return a board whose rows have these black and these white cells; bit x is cell x of the row.

    Returns
    -------
    int8 array, shape (height, width)
    """
    places = np.arange(width, dtype=np.uint64)
    is_black, is_white = ((rows[:, np.newaxis] >> places) & np.uint64(1) for rows in (black, white))
    return np.where(is_black, np.int8(BLACK), np.where(is_white, np.int8(WHITE), np.int8(UNKNOWN)))


Status = Literal["solved", "unsolvable", "timeout"]


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one puzzle.

    Attributes
    ----------
    status : {'solved', 'unsolvable', 'timeout'}
        'solved' with at least one solution, even if the time ran out while looking for more.
    solutions : tuple of Solution
        As many as were asked for, or as there are.
    exhausted : bool
        The whole search space was looked at: there are no other solutions.
    counts : dict of str to int
        Exact counts of the search, the same on every machine.
    step_seconds : dict of str to float
        Where the time of the search went, by the steps of the strategy.
    """

    status: Status
    solutions: tuple[Solution, ...] = ()
    exhausted: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    step_seconds: dict[str, float] = field(default_factory=dict)

    @property
    def verdict(self) -> Literal["unique", "multiple", "unsolvable", "unknown"]:
        """What is known about the number of solutions."""
        if len(self.solutions) > 1:
            return "multiple"
        if not self.exhausted:
            return "unknown"
        return "unique" if self.solutions else "unsolvable"


def seconds_of(names: Sequence[str], nanoseconds: npt.NDArray[np.int64]) -> dict[str, float]:
    """Return the time of each step, as kernels measure it."""
    return dict(zip(names, (nanoseconds / 1e9).tolist(), strict=True))


MOST_MOMENTS = 1 << 14
"""So many moments of one search are kept, the first ones."""


class Moment(IntEnum):
    """What had just happened.

    PAINTED: lines told cells. PROBED: probing told cells. GUESSED: a cell was assumed. TAKEN_BACK: what followed
    from an assumption was. RESTARTED: so were all assumptions.
    """

    PAINTED = 0
    PROBED = 1
    GUESSED = 2
    TAKEN_BACK = 3
    RESTARTED = 4


def moments_of(
    kinds: npt.NDArray[np.uint64], black: npt.NDArray[np.uint64], white: npt.NDArray[np.uint64], width: int
) -> Iterator[tuple[Moment, PartialGrid]]:
    """Yield moments as kernels note them.

    Parameters
    ----------
    kinds : uint64 array, shape (moments,)
    black, white : uint64 array, shape (moments, height)
        The known cells of each row; bit x is cell x.
    width : int
    """
    for kind, black_rows, white_rows in zip(kinds.tolist(), black, white, strict=True):
        yield Moment(kind), PartialGrid(cells_of(black_rows, white_rows, width))
