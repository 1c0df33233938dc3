"""Moments of a search: the board as it was, and what had just happened, for people who want to watch."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from nonobot.protocol import PartialGrid

__all__ = ["MOST_MOMENTS", "Moment", "moments_of"]

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
    places = np.arange(width, dtype=np.uint64)
    for kind, black_rows, white_rows in zip(kinds.tolist(), black, white, strict=True):
        is_black, is_white = ((rows[:, np.newaxis] >> places) & np.uint64(1) for rows in (black_rows, white_rows))
        yield Moment(kind), PartialGrid(is_black.astype(np.int8) - (1 - (is_black | is_white)).astype(np.int8))
