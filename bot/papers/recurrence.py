"""The papers' line solver, kept as the readable reference: the recurrence P = merge(P0, P1).

Chen & Hung, section 2.2. A painting is a string of 2-bit cells: 00 none, 01 white, 10 black, 11 unknown, so that
merging two paintings is their bitwise OR. Here a string is two masks: `low` holds the low bits of all cells,
`high` the high bits. Cell 0 is a virtual white cell in front of the line, as the paper's P1 asks for a white
cell before every block; a line of n cells is the string s[0..n].
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.jit import kernel

__all__ = ["paint_recurrence"]


@kernel
def _matches_block(m: Any, may_white: Any, may_black: Any, end: Any, size: Any) -> Any:
    """Tell whether s[end-size..end] matches one white cell and then `size` black cells."""
    first = end - size
    cells = ((m.one << size) - 1) << (first + 1)
    return (may_white >> first) & 1 != 0 and may_black & cells == cells


@kernel
def paint_recurrence(m: Any, line: Any, black: Any, white: Any) -> Any:
    """Paint a line maximally: same contract as :func:`nonobot.bot.line.paint`, but for `m.starts`.

    In the scratch, P(i, j) is `m.low[j, i]` and `m.high[j, i]`, if `m.fixable[j, i]`: else it is the paper's null
    string.
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
