"""Line solvers, and ordered propagation: what follows for the cells of one line, and of all lines.

`bot.line` has the fast solver, `paint_recurrence` is the readable one of the paper; they agree on every input.
Propagation paints all dirty rows, then all dirty columns, and so on: a line that several others trigger is painted
once (Chen & Hung, section 2.3).

The recurrence is P = merge(P0, P1) of Chen & Hung, section 2.2. A painting is a string of 2-bit cells: 00 none,
01 white, 10 black, 11 unknown, so that merging two paintings is their bitwise OR. Here a string is two masks:
`low` contains the low bits of all cells, `high` the high bits. Cell 0 is a virtual white cell before the line,
since the paper's P1 needs a white cell before every block; a line of n cells is the string s[0..n].
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.board import paint_crossing, trace
from nonobot.bot.kernels.compiling import kernel
from nonobot.bot.kernels.masks import lowest
from nonobot.bot.line import paint
from nonobot.bot.papers.state import CACHE_BITS, SOLVER
from nonobot.bot.result import TraceEvent

# Odd constants of the multiplicative hash, as int64: fractions of the golden ratio, of sqrt(2) and of sqrt(3).
_HASH_BLACK, _HASH_WHITE, _HASH_LINE = 0x9E3779B97F4A7C15 - 2**64, 0x6A09E667F3BCC909, 0xBB67AE8584CAA73B - 2**64

_LAST_ENTRY = (1 << CACHE_BITS) - 1


@kernel
def _matches_block(m: Any, may_white: Any, may_black: Any, end: Any, size: Any) -> Any:
    """Return whether s[end-size..end] matches one white cell and then `size` black cells."""
    first = end - size
    cells = ((m.one << size) - 1) << (first + 1)
    return (may_white >> first) & 1 != 0 and may_black & cells == cells


@kernel
def paint_recurrence(m: Any, line: Any, black: Any, white: Any) -> Any:
    """Paint a line maximally, as :func:`nonobot.bot.line.paint` does, but without `m.starts`.

    P(i, j) is `m.low[j, i]` and `m.high[j, i]` if `m.fixable[j, i]`, otherwise the paper's null string.
    """
    length, blocks = m.length[line], m.blocks[line]
    may_white = ~(black << 1)
    may_black = ~(white << 1) & ~m.one
    for j in range(blocks + 1):
        for i in range(length + 1):
            low, high, fixable = m.none, m.none, 0
            # P0(i, j): P(i-1, j) and a white cell
            if (may_white >> i) & 1:
                if i == 0:
                    if j == 0:
                        low, fixable = m.one, 1
                elif m.fixable[j, i - 1]:
                    low = m.low[j, i - 1] | (m.one << i)
                    high = m.high[j, i - 1]
                    fixable = 1
            # P1(i, j): P(i-d-1, j-1), a white cell, and d black cells
            if j > 0:
                size = m.clue[line, j - 1]
                if i >= size and _matches_block(m, may_white, may_black, i, size):
                    gap = i - size
                    before = gap > 0 and m.fixable[j - 1, gap - 1] != 0
                    if before or (gap == 0 and j == 1):
                        low |= m.one << gap
                        high |= ((m.one << size) - 1) << (gap + 1)
                        fixable = 1
                        if before:
                            low |= m.low[j - 1, gap - 1]
                            high |= m.high[j - 1, gap - 1]
            m.low[j, i] = low
            m.high[j, i] = high
            m.fixable[j, i] = fixable
    if not m.fixable[blocks, length]:
        return False, black, white
    cells = (m.one << length) - 1
    return True, cells & ~(m.low[blocks, length] >> 1), cells & ~(m.high[blocks, length] >> 1)


@kernel
def paint_with(m: Any, solver: Any, line: Any, black: Any, white: Any) -> Any:
    """Paint a line with one of SOLVER; the contract is that of :func:`nonobot.bot.line.paint`."""
    if solver == SOLVER.bitset:
        return paint(m, line, black, white)
    return paint_recurrence(m, line, black, white)


# --- propagation ---


@kernel
def _cached(m: Any, board: Any, line: Any) -> Any:
    """Return the cache entry for a line of a board with its present cells."""
    hashed = board.black_word[line] * _HASH_BLACK ^ board.white_word[line] * _HASH_WHITE ^ line * _HASH_LINE
    return m.cache[(hashed ^ (hashed >> 29)) >> 17 & _LAST_ENTRY]


@kernel
def propagate(m: Any, board: Any, tracing: Any) -> Any:
    """Paint the dirty lines of `board`, and those that they trigger, until nothing changes; False on a conflict.

    Before: every line of `board` that is not dirty is painted maximally.
    After: no line is dirty, and every line is painted maximally; after a conflict the board is unfinished.
    `m.seen` gains the lines of this propagation. `tracing`: record trace events.
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
                consistent = painting.consistent != 0
                black_now, white_now = painting.black_now, painting.white_now
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


@kernel
def paint_one(m: Any, solver: Any) -> Any:
    """Paint the line in the memory; 0 on a conflict."""
    consistent, black, white = paint_with(m, solver, 0, m.black, m.white)
    m.black = black
    m.white = white
    return 1 if consistent else 0
