"""The papers' line solver, kept as the readable reference: the recurrence P = merge(P0, P1).

Chen & Hung, section 2.2. A painting is a string of 2-bit cells: 00 none, 01 white, 10 black, 11 unknown, so that
merging two paintings is their bitwise OR. Here a string is two words: `low` holds the low bits of all cells,
`high` the high bits. Cell 0 is a virtual white cell in front of the line, as the paper's P1 asks for a white
cell before every block; a line of n cells is the string s[0..n].
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.bits import u64
from nonobot.bot.jit import kernel

__all__ = ["paint_recurrence"]


@kernel
def _matches_block(may_white: Any, may_black: Any, end: Any, size: Any) -> Any:
    """Tell whether s[end-size..end] matches one white cell and then `size` black cells."""
    one = u64(1)
    first = end - size
    blocks_cells = ((one << size) - one) << (first + one)
    return ((may_white >> first) & one) != u64(0) and (may_black & blocks_cells) == blocks_cells


@kernel
def paint_recurrence(clues: Any, line: Any, blocks: Any, length: Any, black: Any, white: Any, scratch: Any) -> Any:
    """Paint a line maximally: same contract as :func:`nonobot.bot.lines.bitset.paint_bitset`.

    `scratch` has shape (3 * (blocks + 1), length + 1) or more: planes `low` and `high` of P(i, j), and whether
    P(i, j) is a painting at all (the paper's null string otherwise).
    """
    one = u64(1)
    may_white = ~(black << one)
    may_black = ~(white << one) & ~one
    low, high, fixable = scratch, scratch[blocks + one :], scratch[u64(2) * (blocks + one) :]
    for j in range(blocks + one):
        for i in range(length + one):
            low_ij, high_ij, any_ij = u64(0), u64(0), u64(0)
            # P0(i, j): P(i-1, j) and a white cell
            if (may_white >> i) & one:
                if i == u64(0):
                    if j == u64(0):
                        any_ij = one
                        low_ij = one
                elif fixable[j, i - one]:
                    any_ij = one
                    low_ij = low[j, i - one] | (one << i)
                    high_ij = high[j, i - one]
            # P1(i, j): P(i-d-1, j-1), a white cell, and d black cells
            if j > u64(0):
                size = clues[line, j - one]
                if i >= size and _matches_block(may_white, may_black, i, size):
                    gap = i - size
                    before = gap > u64(0) and fixable[j - one, gap - one]
                    if before or (gap == u64(0) and j == one):
                        any_ij = one
                        low_ij |= one << gap
                        high_ij |= ((one << size) - one) << (gap + one)
                        if before:
                            low_ij |= low[j - one, gap - one]
                            high_ij |= high[j - one, gap - one]
            low[j, i], high[j, i], fixable[j, i] = low_ij, high_ij, any_ij
    if not fixable[blocks, length]:
        return False, black, white
    cells = (one << length) - one
    may_be_white, may_be_black = low[blocks, length] >> one, high[blocks, length] >> one
    return True, cells & ~may_be_white, cells & ~may_be_black
