"""Line solvers: what follows for the cells of one line from its clue and the cells already known.

`paint_line` checks > `_paint_line` prepares arrays and picks the solver > the kernels in `bitset.py` (fast) and
`recurrence.py` (the paper's, readable), which must agree on every input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nonobot.bot import LONGEST_SIDE
from nonobot.bot.bits import MASK, u64
from nonobot.bot.jit import entry, kernel
from nonobot.bot.lines.bitset import paint_bitset
from nonobot.bot.lines.recurrence import paint_recurrence

__all__ = ["BITSET", "RECURRENCE", "SOLVERS", "new_scratch", "paint_line", "paint_with"]

BITSET, RECURRENCE = u64(0), u64(1)

SOLVERS = {"bitset": BITSET, "recurrence": RECURRENCE}
"""The line solvers by name."""


def new_scratch(most_blocks: int, longest: int) -> np.ndarray[Any, Any]:
    """Return working memory for lines of up to `longest` cells and `most_blocks` blocks."""
    return np.zeros((3 * (most_blocks + 1), max(longest, most_blocks) + 1), MASK)


@kernel
def paint_with(
    solver: Any, clues: Any, line: Any, blocks: Any, length: Any, black: Any, white: Any, scratch: Any
) -> Any:
    """Paint a line with the chosen solver; the contract is that of :func:`paint_bitset`."""
    if solver == BITSET:
        return paint_bitset(clues, line, blocks, length, black, white, scratch)
    return paint_recurrence(clues, line, blocks, length, black, white, scratch)


@entry
def _paint_line(solver: Any, clues: Any, length: Any, black: Any, white: Any, scratch: Any) -> Any:
    return paint_with(solver, clues, u64(0), u64(clues.shape[1]), length, black, white, scratch)


def paint_line(
    clue: Sequence[int], length: int, black: int, white: int, solver: str = "bitset"
) -> tuple[int, int] | None:
    """Return all cells that are known once a line is painted maximally.

    Parameters
    ----------
    clue : sequence of int
        Block lengths, each 1 or more.
    length : int
        Number of cells, 1 to 62.
    black, white : int
        The cells known so far; bit i is cell i.
    solver : {'bitset', 'recurrence'}

    Returns
    -------
    (int, int) or None
        The cells that are black, and those that are white, in every placement of the blocks that agrees with
        the known cells; None if there is no such placement (a conflict).

    Raises
    ------
    ValueError
        If the clue does not fit the line, a cell lies outside of it, or a cell is both black and white.

    Examples
    --------
    >>> paint_line([3], 4, 0, 0)
    (6, 0)
    """
    if not 1 <= length <= LONGEST_SIDE:
        raise ValueError(f"a line has 1 to {LONGEST_SIDE} cells, not {length}")
    if any(size < 1 for size in clue):
        raise ValueError(f"block lengths are 1 or more: {list(clue)}")
    if sum(clue) + len(clue) - 1 > length:
        raise ValueError(f"the clue {list(clue)} does not fit {length} cells")
    if black < 0 or white < 0 or (black | white) >> length:
        raise ValueError(f"a cell outside of the line's {length}")
    if black & white:
        raise ValueError("a cell is both black and white")
    if solver not in SOLVERS:
        raise ValueError(f"no line solver {solver!r}; there are {', '.join(SOLVERS)}")
    clues = np.array([list(clue)], MASK).reshape(1, len(clue))
    consistent, black_now, white_now = _paint_line(
        SOLVERS[solver], clues, u64(length), u64(black), u64(white), new_scratch(len(clue), length)
    )
    return (int(black_now), int(white_now)) if consistent else None
