"""Ordered propagation: paint all dirty rows, then all dirty columns, and so on, each line through the cache.

A line that several others trigger is painted once (Chen & Hung, section 2.3).
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.board import paint_crossing, trace
from nonobot.bot.kernels.compiling import kernel
from nonobot.bot.kernels.masks import lowest
from nonobot.bot.papers.lines import paint_with
from nonobot.bot.papers.state import CACHE_BITS
from nonobot.bot.result import TraceEvent

# Odd constants of the multiplicative hash, as int64: fractions of the golden ratio, of sqrt(2) and of sqrt(3).
_HASH_BLACK, _HASH_WHITE, _HASH_LINE = 0x9E3779B97F4A7C15 - 2**64, 0x6A09E667F3BCC909, 0xBB67AE8584CAA73B - 2**64

_LAST_ENTRY = (1 << CACHE_BITS) - 1


@kernel
def _cached(m: Any, board: Any, line: Any) -> Any:
    """Return the place in the cache for a line of a board as it is."""
    hashed = board.black_word[line] * _HASH_BLACK ^ board.white_word[line] * _HASH_WHITE ^ line * _HASH_LINE
    return m.cache[(hashed ^ (hashed >> 29)) >> 17 & _LAST_ENTRY]


@kernel
def propagate(m: Any, board: Any, tracing: Any) -> Any:
    """Paint the dirty lines of `board`, and all that they trigger, until nothing changes; False on a conflict.

    Before: every line of `board` that is not dirty is painted maximally.
    After: no line is dirty, and every line is painted maximally; after a conflict the board is unfinished.
    `m.seen` has the lines that were looked at, added to those it had. `tracing`: trace events are recorded.
    """
    solves, hits = 0, 0
    age = m.cache_age << 8
    todo, triggered, first, crossing = m.dirty.rows, m.dirty.columns, 0, m.height
    m.dirty.rows = 0
    m.dirty.columns = 0
    consistent = True
    while consistent and (todo | triggered):
        if first == 0:
            m.seen.rows |= todo
        else:
            m.seen.columns |= todo
        while todo:
            place = lowest(todo)
            todo &= todo - 1
            line = first + place
            black, white = board.black[line], board.white[line]
            tag = age | line
            painting = _cached(m, board, line)
            if painting.tag == tag and painting.black == black and painting.white == white:
                hits += 1
                consistent, black_now, white_now = (
                    painting.consistent != 0,
                    painting.black_now,
                    painting.white_now,
                )
            else:
                solves += 1
                consistent, black_now, white_now = paint_with(m, m.solver, line, black, white)
                painting.tag = tag
                painting.black = black
                painting.white = white
                painting.black_now = black_now
                painting.white_now = white_now
                painting.consistent = consistent
            if not consistent:
                break
            new = (black_now ^ black) | (white_now ^ white)
            if new:
                triggered |= new
                board.black[line] = black_now
                board.white[line] = white_now
                paint_crossing(board.black, black_now ^ black, crossing, m.one << place)
                paint_crossing(board.white, white_now ^ white, crossing, m.one << place)
                if tracing:
                    trace(m, TraceEvent.PAINTED)
        todo, triggered = triggered, m.none
        first, crossing = crossing, first
    m.counts.line_solves += solves
    m.counts.cache_hits += hits
    return consistent
