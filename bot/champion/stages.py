"""The cascade: propagation, BP descents, conflict learning; each stage takes what the one before left."""

from __future__ import annotations

from typing import Any

from nonobot.bot.bits import u64
from nonobot.bot.champion.board import copy_board, is_full, propagate, start_board
from nonobot.bot.champion.control import is_late, is_on, lap, start_laps
from nonobot.bot.champion.descent import descend
from nonobot.bot.champion.learning.search import learn, start_learning
from nonobot.bot.champion.state import (
    ANY,
    BOARD,
    DESCENDING,
    DESCENT_STAGE,
    LATE,
    LEARNING_STAGE,
    NEXT,
    PROPAGATING,
    ROOT,
    SOLVED,
    STARTING,
    UNSOLVABLE,
)
from nonobot.bot.jit import kernel

__all__ = ["run_stages"]

CELLS_AT_ONCE = (u64(10), u64(3))
"""Cells painted in a step of the first descent and of the second."""


@kernel
def _descend_all(m: Any) -> Any:
    """Try the descents one after the other; True if BOARD is a solution."""
    solved = descend(m, CELLS_AT_ONCE[0]) or descend(m, CELLS_AT_ONCE[1])
    lap(m, DESCENDING)
    return solved


@kernel
def run_stages(m: Any, wanted: Any) -> Any:
    """Look for a solution of the puzzle in the memory; BOARD is one if SOLVED is returned.

    Parameters
    ----------
    m : uint64
    wanted : uint64
        ANY, ALL or NEXT; the descents are left out unless any solution will do.
    """
    start_laps(m)
    if wanted == NEXT:
        return learn(m, True)
    start_board(m)
    consistent = propagate(m)
    copy_board(m, ROOT, BOARD)
    lap(m, PROPAGATING)
    if not consistent:
        return UNSOLVABLE
    if wanted == ANY:
        if is_full(m):
            return SOLVED
        if is_on(m, DESCENT_STAGE) and not is_late(m) and _descend_all(m):
            return SOLVED
    if not is_on(m, LEARNING_STAGE) or is_late(m):
        return LATE
    consistent = start_learning(m)
    lap(m, STARTING)
    if not consistent:
        return UNSOLVABLE
    return learn(m, False)
