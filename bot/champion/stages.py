"""The cascade: propagation, BP descents, conflict learning; each stage takes what the one before left."""

from __future__ import annotations

from typing import Any

from nonobot.bot.board import (
    copy_board,
    end_phase,
    is_budget_spent,
    is_full,
    is_on,
    propagate,
    start_board,
    start_phases,
)
from nonobot.bot.champion.descent import descend
from nonobot.bot.champion.search import learn, start_learning
from nonobot.bot.champion.state import OUTCOME, STAGE, STEP, WANTED
from nonobot.bot.kernels.compiling import kernel

__all__ = ["propagate_root", "search"]

CELLS_AT_ONCE = (10, 3)
"""Cells painted in a step of the first descent and of the second."""


@kernel
def _descend_all(m: Any) -> Any:
    """Try the descents one after the other; True if the board is a solution."""
    solved = descend(m, CELLS_AT_ONCE[0]) or descend(m, CELLS_AT_ONCE[1])
    end_phase(m, STEP.descents)
    return solved


@kernel
def propagate_root(m: Any) -> Any:
    """Propagate the puzzle in the memory, and return an OUTCOME: solved if nothing else is left to do.

    The board is then its only solution.
    """
    start_phases(m)
    start_board(m)
    consistent = propagate(m)
    copy_board(m, m.root, m.board)
    end_phase(m, STEP.propagation)
    if not consistent:
        return OUTCOME.unsolvable
    return OUTCOME.solved if is_full(m) else OUTCOME.open


@kernel
def search(m: Any, wanted: Any) -> Any:
    """Look for a solution of a puzzle that propagation left open, and return an OUTCOME.

    Parameters
    ----------
    m : memory
    wanted : int64
        Of WANTED; the descents are left out unless any solution will do.
    """
    start_phases(m)
    if wanted == WANTED.next:
        return learn(m, True)
    if wanted == WANTED.any and is_on(m, STAGE.descents) and not is_budget_spent(m) and _descend_all(m):
        return OUTCOME.solved
    if not is_on(m, STAGE.learning) or is_budget_spent(m):
        return OUTCOME.late
    outcome = start_learning(m)
    end_phase(m, STEP.learning_start)
    return learn(m, False) if outcome == OUTCOME.open else outcome
