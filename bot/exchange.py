"""What goes into a strategy and what comes out: boards to start from, results, moments of the search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

import numpy as np
import numpy.typing as npt

from nonobot.protocol import BLACK, UNKNOWN, WHITE, PartialGrid, Solution

__all__ = [
    "MOST_MOMENTS",
    "Moment",
    "Result",
    "Status",
    "cells_of",
    "line_masks",
    "moments_of",
    "seconds_of",
    "unpacked",
]


def line_masks(grid: PartialGrid, words: tuple[int, ...] = ()) -> npt.NDArray[np.uint64]:
    """Return the black and the white cells of every line of a board, rows first.

    Parameters
    ----------
    grid : PartialGrid
    words : tuple of int
        Empty for masks of 64 bits; else the number of words of 64 bits.

    Returns
    -------
    uint64 array, shape (2, height + width, *words)
        Black cells, then white ones; bit i is cell i of the line.
    """
    height, width = grid.cells.shape
    bits = np.zeros((2, height + width, 64 * (words or (1,))[0]), np.bool_)
    for colour, masks in zip((BLACK, WHITE), bits, strict=True):
        masks[:height, :width] = grid.cells == colour
        masks[height:, :height] = (grid.cells == colour).T
    return np.packbits(bits, axis=2, bitorder="little").view("<u8").reshape(2, height + width, *words)


def unpacked(masks: npt.NDArray[np.uint64], length: int) -> npt.NDArray[np.uint8]:
    """Return the first `length` cells of masks, 1 where a cell is in the set.

    Parameters
    ----------
    masks : uint64 array, shape (n,) or (n, words)
    length : int

    Returns
    -------
    uint8 array, shape (n, length)
    """
    words = np.ascontiguousarray(masks).reshape(len(masks), -1)
    return np.unpackbits(words.view(np.uint8), axis=1, count=length, bitorder="little")


def cells_of(black: npt.NDArray[np.uint64], white: npt.NDArray[np.uint64], width: int) -> npt.NDArray[np.int8]:
    """Return a board whose rows have these black and these white cells.

    Parameters
    ----------
    black, white : uint64 array, shape (height,) or (height, words)
        Bit x is cell x of the row.
    width : int

    Returns
    -------
    int8 array, shape (height, width)
    """
    is_black, is_white = unpacked(black, width), unpacked(white, width)
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
    black, white : uint64 array, shape (moments, height) or (moments, height, words)
        The known cells of each row; bit x is cell x.
    width : int
    """
    for kind, black_rows, white_rows in zip(kinds.tolist(), black, white, strict=True):
        yield Moment(kind), PartialGrid(cells_of(black_rows, white_rows, width))
