"""BP descents: follow the beliefs straight down into a solution.

Most puzzles with many solutions fall at once: sweep, take the few cells the beliefs are surest of, paint them as
believed, propagate, and again. A step that fails is turned round; after a few of those the descent is given up.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nonobot.bot.access import get, get2, put, read
from nonobot.bot.bits import lowest_bit, u64
from nonobot.bot.champion.beliefs import forget, sweep
from nonobot.bot.champion.board import copy_board, is_full, known_row, paint_cell, propagate
from nonobot.bot.champion.control import is_late
from nonobot.bot.champion.moments import note
from nonobot.bot.champion.state import (
    BOARD,
    COLUMN_OF,
    COUNTS,
    DESCENTS,
    GUESSED,
    HEIGHT,
    ODDS,
    PICKED,
    PICKED_BIAS,
    RESTARTED,
    ROOT,
    ROW_OF,
    TAKEN_BACK,
    UNDO,
    WIDTH,
)
from nonobot.bot.jit import kernel

__all__ = ["descend"]

f32 = np.float32

MOST_ODDS = f32(20)
FIRST_SWEEPS = 3
MOST_TURNS = 3


@kernel
def _pick(m: Any, most: Any) -> Any:
    """Put the unknown cells with the strongest odds into PICKED, strongest first; return their number.

    PICKED holds 2 * cell + 1 for a cell believed white, 2 * cell for one believed black.
    """
    width = read(m, WIDTH)
    picked = u64(0)
    threshold = f32(0)
    every = (u64(1) << width) - u64(1)
    for y in range(read(m, HEIGHT)):
        unknown = every & ~known_row(m, y)
        while unknown != u64(0):
            x = lowest_bit(unknown)
            unknown &= unknown - u64(1)
            odds = get2(m, ODDS, x, y)
            if picked == most and odds <= threshold and odds * threshold >= f32(1):
                continue
            white = odds <= f32(1)
            bias = f32(1) / odds if white else odds
            # Insert in order; the weakest falls out.
            at = picked if picked < most else most - u64(1)
            while at > u64(0) and get(m, PICKED_BIAS, at - u64(1)) < bias:
                put(m, PICKED_BIAS, at, get(m, PICKED_BIAS, at - u64(1)))
                put(m, PICKED, at, get(m, PICKED, at - u64(1)))
                at -= u64(1)
            put(m, PICKED_BIAS, at, bias)
            put(m, PICKED, at, u64(2) * (y * width + x) + u64(white))
            if picked < most:
                picked += u64(1)
            threshold = get(m, PICKED_BIAS, picked - u64(1))
    return picked


@kernel
def descend(m: Any, at_once: Any) -> Any:
    """Descend from ROOT, `at_once` cells a step; True if BOARD is a solution.

    Before: ROOT is a fixpoint of propagation with cells unknown.
    """
    put(m, COUNTS, DESCENTS, get(m, COUNTS, DESCENTS) + u64(1))
    copy_board(m, BOARD, ROOT)
    note(m, RESTARTED)
    forget(m)
    for _ in range(FIRST_SWEEPS):
        if not sweep(m, MOST_ODDS):
            return False
    turns = u64(0)
    while True:
        picked = _pick(m, at_once)
        for i in range(picked):
            choice = get(m, PICKED, i)
            cell, white = choice >> u64(1), choice & u64(1)
            y, x = get(m, ROW_OF, cell), get(m, COLUMN_OF, cell)
            if (known_row(m, y) >> x) & u64(1) != u64(0):
                continue
            copy_board(m, UNDO, BOARD)
            paint_cell(m, y, x, white)
            note(m, GUESSED)
            if propagate(m):
                continue
            turns += u64(1)
            if turns > u64(MOST_TURNS):
                return False
            copy_board(m, BOARD, UNDO)
            paint_cell(m, y, x, u64(1) - white)
            note(m, TAKEN_BACK)
            if not propagate(m):
                return False
        if is_full(m):
            return True
        if is_late(m) or not sweep(m, MOST_ODDS):
            return False
