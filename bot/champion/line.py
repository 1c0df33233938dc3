"""The champion's line kernel: that of :mod:`nonobot.bot.lines.bitset`, on the solver's memory."""

from __future__ import annotations

from typing import Any

from nonobot.bot.access import get, get2, put
from nonobot.bot.bits import u64
from nonobot.bot.champion.state import BLOCKS, CLUE, FITS, LENGTH, REACH, STARTS
from nonobot.bot.jit import kernel
from nonobot.bot.lines.bitset import dilated, fill_down, fill_up, run_starts

__all__ = ["paint"]


@kernel
def paint(m: Any, line: Any, black: Any, white: Any) -> Any:
    """Paint a line maximally.

    Before: `black` and `white` are disjoint sets of the line's cells.
    After: a conflict if no placement agrees with them; otherwise the cells that are black, and those that are
    white, in every placement that agrees. STARTS holds the valid starts of each block.

    Returns
    -------
    consistent : bool
    black, white : uint64
    """
    one = u64(1)
    length, blocks = get(m, LENGTH, line), get(m, BLOCKS, line)
    cells = (one << length) - one
    open_ = ~black & ((cells << one) | one)
    fillable = ~white & cells

    begin = fill_up(one, open_)
    for block in range(blocks):
        size = get2(m, CLUE, line, block)
        fitting = run_starts(fillable, size) & (open_ >> size)
        put(m, REACH, block, begin)
        put(m, FITS, block, fitting)
        put(m, STARTS, block, begin & fitting)
        begin = fill_up((begin & fitting) << (size + one), open_)
    if (begin >> (length + one)) & one == u64(0):
        return False, black, white

    tail = fill_down(one << (length + one), open_)
    may_white = begin & open_ & (tail >> one)
    may_black = u64(0)
    block = blocks
    while block > u64(0):
        block -= one
        size = get2(m, CLUE, line, block)
        ends_well = get(m, FITS, block) & (tail >> (size + one))
        valid = get(m, STARTS, block) & ends_well
        put(m, STARTS, block, valid)
        may_black |= dilated(valid, size)
        may_white |= valid << size  # the white cell behind the block
        tail = fill_down(ends_well, open_)
        may_white |= get(m, REACH, block) & open_ & (tail >> one)
    return True, cells & ~may_white, cells & ~may_black
