"""The stages: propagation, BP descents, conflict learning; each gets the boards that the previous one left open.

A BP descent repeats: sweep, paint the few cells with the strongest beliefs, propagate. This solves most puzzles
with many solutions at once. A step that fails is reversed; after a few of those, the descent is given up.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nonobot.bot.board import (
    copy_board,
    end_phase,
    is_budget_spent,
    is_full,
    is_on,
    known_cells,
    paint_cell,
    propagate,
    start_board,
    start_phases,
    trace,
)
from nonobot.bot.champion.beliefs import forget, sweep
from nonobot.bot.champion.search import learn, start_learning
from nonobot.bot.champion.state import MOST_PICKED, OUTCOME, PHASE, STAGE, WANTED
from nonobot.bot.kernels.compiling import kernel
from nonobot.bot.kernels.masks import lowest
from nonobot.bot.result import TraceEvent

f32 = np.float32

MOST_ODDS = f32(20)
FIRST_SWEEPS = 3
MOST_TURNS = 3
CELLS_OF_A_PART = 62 * 62
CELLS_AT_ONCE = (10, 3)  # cells painted in a step of the first descent and of the second


@kernel
def _pick(m: Any, most: Any) -> Any:
    """Put the unknown cells with the strongest odds into `m.picked`, strongest first; return their number.

    An item is 2 * cell + 1 for a cell believed white, 2 * cell for one believed black.
    """
    width = m.width
    picked = 0
    threshold = f32(0)
    every = (m.one << width) - 1
    for y in range(m.height):
        unknown = every & ~known_cells(m, y)
        while unknown:
            x = lowest(unknown)
            unknown &= unknown - 1
            odds = m.odds[x, y]
            if picked == most and odds <= threshold and odds * threshold >= f32(1):
                continue
            white = odds <= f32(1)
            bias = f32(1) / odds if white else odds
            # Insert in order; the weakest falls out.
            place = picked if picked < most else most - 1
            while place > 0 and m.picked_bias[place - 1] < bias:
                m.picked_bias[place] = m.picked_bias[place - 1]
                m.picked[place] = m.picked[place - 1]
                place -= 1
            m.picked_bias[place] = bias
            m.picked[place] = 2 * (y * width + x) + white
            if picked < most:
                picked += 1
            threshold = m.picked_bias[picked - 1]
    return picked


@kernel
def descend(m: Any, at_once: Any) -> Any:
    """Descend from the root, `at_once` cells a step; True if the board is a solution.

    A step on a larger board paints as many cells per 62x62 part: a sweep costs more, and more beliefs are sure.
    Before: the root is a fixpoint of propagation with cells unknown.
    """
    parts = max(1, m.cells // CELLS_OF_A_PART)
    most_picked = min(at_once * parts, MOST_PICKED)
    m.counts.descents += 1
    copy_board(m, m.board, m.root)
    trace(m, TraceEvent.RESTARTED)
    forget(m)
    for _ in range(FIRST_SWEEPS):
        if not sweep(m, MOST_ODDS):
            return False
    turns = 0
    while True:
        picked = _pick(m, most_picked)
        for i in range(picked):
            choice = m.picked[i]
            cell, white = choice >> 1, choice & 1
            y, x = m.row_of[cell], m.column_of[cell]
            if (known_cells(m, y) >> x) & 1:
                continue
            copy_board(m, m.undo, m.board)
            paint_cell(m, y, x, white)
            trace(m, TraceEvent.GUESSED)
            if propagate(m):
                continue
            turns += 1
            if turns > MOST_TURNS:
                return False
            copy_board(m, m.board, m.undo)
            paint_cell(m, y, x, 1 - white)
            trace(m, TraceEvent.TAKEN_BACK)
            if not propagate(m):
                return False
        if is_full(m):
            return True
        if is_budget_spent(m) or not sweep(m, MOST_ODDS):
            return False


@kernel
def _descend_all(m: Any) -> Any:
    """Try the descents one after the other; True if the board is a solution."""
    solved = descend(m, CELLS_AT_ONCE[0]) or descend(m, CELLS_AT_ONCE[1])
    end_phase(m, PHASE.descents)
    return solved


@kernel
def propagate_root(m: Any) -> Any:
    """Propagate the puzzle in the memory, and return an OUTCOME; solved: the board is its only solution."""
    start_phases(m)
    start_board(m)
    consistent = propagate(m)
    copy_board(m, m.root, m.board)
    end_phase(m, PHASE.propagation)
    if not consistent:
        return OUTCOME.unsolvable
    return OUTCOME.solved if is_full(m) else OUTCOME.open


@kernel
def search(m: Any, wanted: Any) -> Any:
    """Search for a solution of a puzzle that propagation left open, and return an OUTCOME.

    `wanted` is one of WANTED; only a search for any solution uses the descents.
    """
    start_phases(m)
    if wanted == WANTED.next:
        return learn(m, True)
    if wanted == WANTED.any and is_on(m, STAGE.descents) and not is_budget_spent(m) and _descend_all(m):
        return OUTCOME.solved
    if not is_on(m, STAGE.learning) or is_budget_spent(m):
        return OUTCOME.late
    outcome = start_learning(m)
    end_phase(m, PHASE.learning_start)
    return learn(m, False) if outcome == OUTCOME.open else outcome
