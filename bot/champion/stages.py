"""The cascade: propagation, BP descents, conflict learning; each stage takes what the one before left."""

from __future__ import annotations

from typing import Any

from nonobot.bot.champion.board import copy_board, is_full, propagate, start_board
from nonobot.bot.champion.control import is_late, is_on, lap, start_laps
from nonobot.bot.champion.descent import descend
from nonobot.bot.champion.search import learn, start_learning
from nonobot.bot.champion.state import OUTCOME, STAGE, STEP, WANTED
from nonobot.bot.jit import kernel

__all__ = ["run_stages"]

CELLS_AT_ONCE = (10, 3)
"""Cells painted in a step of the first descent and of the second."""


@kernel
def _descend_all(m: Any) -> Any:
    """Try the descents one after the other; True if the board is a solution."""
    solved = descend(m, CELLS_AT_ONCE[0]) or descend(m, CELLS_AT_ONCE[1])
    lap(m, STEP.descents)
    return solved


@kernel
def run_stages(m: Any, wanted: Any) -> Any:
    """Look for a solution of the puzzle in the memory; the board is one if it returns OUTCOME.solved.

    Parameters
    ----------
    m : memory
    wanted : int64
        Of WANTED; the descents are left out unless any solution will do.
    """
    start_laps(m)
    if wanted == WANTED.next:
        return learn(m, True)
    start_board(m)
    consistent = propagate(m)
    copy_board(m, m.root, m.board)
    lap(m, STEP.propagation)
    if not consistent:
        return OUTCOME.unsolvable
    if wanted == WANTED.any:
        if is_full(m):
            return OUTCOME.solved
        if is_on(m, STAGE.descents) and not is_late(m) and _descend_all(m):
            return OUTCOME.solved
    if not is_on(m, STAGE.learning) or is_late(m):
        return OUTCOME.late
    consistent = start_learning(m)
    lap(m, STEP.learning_start)
    if not consistent:
        return OUTCOME.unsolvable
    return learn(m, False)
