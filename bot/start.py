"""Boards to start from, as masks of lines."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nonobot.protocol import BLACK, WHITE, PartialGrid

__all__ = ["line_masks"]


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
