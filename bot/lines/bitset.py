"""The bitset line kernel: maximal painting of a line with additions and shifts of whole words.

The line has cells 0..n-1 and a virtual white cell n, so that every block is followed by a white cell. `open_`
is the set of cells that may be white, virtual cell included; `fits[j]` the starts at which block j covers no
white cell and is followed by a cell that may be white.

Forward, `reach[j]` is the set of cells at which the part from block j on may begin once the blocks before j
lie behind it; backward, `tail` is the same from the other end. A start of block j that both allow is valid: it
belongs to a placement of the whole line.

Source: own derivation; the painting it computes is that of Chen & Hung, section 2.2.
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.bits import u64
from nonobot.bot.jit import kernel

__all__ = ["dilated", "fill_down", "fill_up", "paint_bitset", "run_starts"]


@kernel
def fill_up(seeds: Any, through: Any) -> Any:
    """Return `seeds` and all cells that one reaches from them upward, stepping from cells in `through`."""
    # The carry of one addition runs up each stretch of `through` that holds a seed.
    return seeds | ((through + (seeds & through)) ^ through)


@kernel
def fill_down(seeds: Any, through: Any) -> Any:
    """Return `seeds` and all cells that one reaches from them downward, stepping onto cells in `through`."""
    # Stretches of 1, 2, 4, ... cells at a time: an addition carries upward only.
    reached = seeds | ((seeds >> u64(1)) & through)
    through &= through >> u64(1)
    reached |= (reached >> u64(2)) & through
    through &= through >> u64(2)
    reached |= (reached >> u64(4)) & through
    through &= through >> u64(4)
    reached |= (reached >> u64(8)) & through
    through &= through >> u64(8)
    reached |= (reached >> u64(16)) & through
    through &= through >> u64(16)
    reached |= (reached >> u64(32)) & through
    return reached


@kernel
def run_starts(cells: Any, length: Any) -> Any:
    """Return the cells at which a run of `length` (1 or more) cells of `cells` starts."""
    starts = cells
    have = u64(1)
    while have < length:
        step = min(have, length - have)
        starts &= starts >> step
        have += step
    return starts


@kernel
def dilated(starts: Any, length: Any) -> Any:
    """Return all cells of blocks of `length` (1 or more) cells that start at `starts`."""
    cells = starts
    have = u64(1)
    while have < length:
        step = min(have, length - have)
        cells |= cells << step
        have += step
    return cells


@kernel
def paint_bitset(clues: Any, line: Any, blocks: Any, length: Any, black: Any, white: Any, scratch: Any) -> Any:
    """Paint a line maximally.

    Before: `black` and `white` are disjoint sets of cells 0..length-1, and the clue fits the line.
    After: a conflict if no placement agrees with them; otherwise the cells that are black, and those that are
    white, in every placement that agrees.

    Parameters
    ----------
    clues : uint64[:, :]
        Block lengths, one row a line.
    line, blocks, length : uint64
        Row of `clues`, number of blocks in it, number of cells of the line.
    black, white : uint64
    scratch : uint64[:, :]
        Shape (3, blocks + 1) or more.

    Returns
    -------
    consistent : bool
    black, white : uint64
    """
    one = u64(1)
    cells = (one << length) - one
    open_ = ~black & ((one << (length + one)) - one)
    fillable = ~white & cells
    reach, starts, fits = scratch[0], scratch[1], scratch[2]

    begin = fill_up(one, open_)
    for block in range(blocks):
        size = clues[line, block]
        fitting = run_starts(fillable, size) & (open_ >> size)
        reach[block] = begin
        fits[block] = fitting
        starts[block] = begin & fitting
        begin = fill_up(starts[block] << (size + one), open_)
    if not (begin >> (length + one)) & one:
        return False, black, white

    tail = fill_down(one << (length + one), open_)
    may_white = begin & open_ & (tail >> one)
    may_black = u64(0)
    block = blocks
    while block > u64(0):
        block -= one
        size = clues[line, block]
        ends_well = fits[block] & (tail >> (size + one))
        valid = starts[block] & ends_well
        may_black |= dilated(valid, size)
        may_white |= valid << size  # the white cell behind the block
        tail = fill_down(ends_well, open_)
        may_white |= reach[block] & open_ & (tail >> one)
    return True, cells & ~may_white, cells & ~may_black
