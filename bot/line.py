"""The line kernel: maximal painting of a line with additions and shifts of whole masks.

The line has cells 0..n-1 and a virtual white cell n, so that a white cell follows every block. `open_` is the set
of cells that may be white, including the virtual cell. `m.fits[j]` is the set of starts at which block j covers no
white cell and a cell that may be white follows it.

`m.reach[j]` is the set of cells at which the part from block j on may begin, given the blocks before j. `tail` is
the same from the other end. A start of block j that both allow is valid: some placement of the whole line has it.

Source: own derivation. It computes the painting of Chen & Hung, section 2.2.
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.kernels.compiling import kernel
from nonobot.bot.kernels.masks import fill_down


@kernel
def fill_up(seeds: Any, through: Any) -> Any:
    """Return `seeds` and all cells reached from them upward by steps from cells in `through`."""
    # The carry of one addition runs up each stretch of `through` that contains a seed.
    return seeds | ((through + (seeds & through)) ^ through)


@kernel
def run_starts(cells: Any, length: Any) -> Any:
    """Return the cells at which a run of `length` (1 or more) cells of `cells` starts."""
    starts = cells
    have = 1
    while have < length:
        step = min(have, length - have)
        starts &= starts >> step
        have += step
    return starts


@kernel
def dilated(starts: Any, length: Any) -> Any:
    """Return all cells of blocks of `length` (1 or more) cells that start at `starts`."""
    cells = starts
    have = 1
    while have < length:
        step = min(have, length - have)
        cells |= cells << step
        have += step
    return cells


@kernel
def paint(m: Any, line: Any, black: Any, white: Any) -> Any:
    """Paint a line maximally.

    Before: `black` and `white` are disjoint sets of the line's cells, and its clue fits its length.
    After: True, with the cells that are black and those that are white in every placement that agrees with the
    known cells; `m.starts` contains the valid starts of each block. False if no placement agrees (a conflict).

    The memory `m` needs `length`, `blocks`, `clue`, and the scratch members `reach`, `starts` and `fits`.
    """
    length, blocks = m.length[line], m.blocks[line]
    cells = (m.one << length) - 1
    open_ = ~black & ((cells << 1) | 1)
    fillable = ~white & cells

    begin = fill_up(m.one, open_)
    for block in range(blocks):
        size = m.clue[line, block]
        fitting = run_starts(fillable, size) & (open_ >> size)
        m.reach[block] = begin
        m.fits[block] = fitting
        m.starts[block] = begin & fitting
        begin = fill_up((begin & fitting) << (size + 1), open_)
    if not (begin >> (length + 1)) & 1:
        return False, black, white

    tail = fill_down(m.one << (length + 1), open_)
    may_white = begin & open_ & (tail >> 1)
    may_black = m.none
    block = blocks
    while block > 0:
        block -= 1
        size = m.clue[line, block]
        ends_well = m.fits[block] & (tail >> (size + 1))
        valid = m.starts[block] & ends_well
        m.starts[block] = valid
        may_black |= dilated(valid, size)
        may_white |= valid << size  # the white cell after the block
        tail = fill_down(ends_well, open_)
        may_white |= m.reach[block] & open_ & (tail >> 1)
    return True, cells & ~may_white, cells & ~may_black
