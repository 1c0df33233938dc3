"""Line solvers: what follows for the cells of one line from its clue and the cells already known.

`bot.line` has the fast one, `paint_recurrence` is the paper's, readable; they must agree on every input.
`paint_line` is for a single line of up to 1,022 cells.

The recurrence is P = merge(P0, P1) of Chen & Hung, section 2.2. A painting is a string of 2-bit cells: 00 none,
01 white, 10 black, 11 unknown, so that merging two paintings is their bitwise OR. Here a string is two masks:
`low` holds the low bits of all cells, `high` the high bits. Cell 0 is a virtual white cell in front of the line,
as the paper's P1 asks for a white cell before every block; a line of n cells is the string s[0..n].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from nonobot.bot import LONGEST_SIDE
from nonobot.bot.kernels.compiling import kernel
from nonobot.bot.kernels.loading import load_kernel
from nonobot.bot.kernels.memory import MASK_BITS, Memory, Struct, i2, mask_of, u1
from nonobot.bot.line import paint
from nonobot.bot.papers.state import SOLVER


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


@kernel
def paint_with(m: Any, solver: Any, line: Any, black: Any, white: Any) -> Any:
    """Paint a line with one of SOLVER; the contract is that of :func:`nonobot.bot.line.paint`."""
    if solver == SOLVER.bitset:
        return paint(m, line, black, white)
    return paint_recurrence(m, line, black, white)


@cache
def line_map(bits: int) -> Struct:
    """Return the map for a single line of up to bits - 2 cells, with masks of so many bits."""
    mask, blocks = mask_of(bits), bits // 2
    return Struct(
        f"Line{bits}",
        none=mask.constant(0),
        one=mask.constant(1),  # cell 0
        length=i2[1],
        blocks=i2[1],
        clue=i2[1, blocks],
        black=mask,  # cells known to be black
        white=mask,
        reach=mask[blocks + 1],  # scratch, as in `bot.papers.state`
        starts=mask[blocks + 1],
        fits=mask[blocks + 1],
        low=mask[blocks + 1, bits],
        high=mask[blocks + 1, bits],
        fixable=u1[blocks + 1, bits],
    )


@kernel
def paint_one(m: Any, solver: Any) -> Any:
    """Paint the line in the memory; 0 on a conflict."""
    consistent, black, white = paint_with(m, solver, 0, m.black, m.white)
    m.black = black
    m.white = white
    return 1 if consistent else 0


_painters: dict[int, tuple[Memory, Callable[..., int]]] = {}


def _painter(bits: int, on_compile: Callable[[], None]) -> tuple[Memory, Callable[..., int]]:
    if bits not in _painters:
        struct = line_map(bits)
        kernel = load_kernel("nonobot.bot.papers.lines", "paint_one", struct, 1, on_compile)
        _painters[bits] = Memory(struct), kernel
    return _painters[bits]


def paint_line(
    clue: Sequence[int],
    length: int,
    black: int,
    white: int,
    solver: str = "bitset",
    on_compile: Callable[[], None] = lambda: None,
) -> tuple[int, int] | None:
    """Return the cells that are black, and those that are white, in every placement of the blocks.

    Only placements that agree with the known cells count, `black` and `white` (bit i is cell i); None: there is
    no such placement. `on_compile` is called before the kernel for lines of such a length is compiled.

    Raises
    ------
    ValueError
        If the clue does not fit the line, a cell lies outside of it, or a cell is both black and white.

    Examples
    --------
    >>> paint_line([3], 4, 0, 0)
    (6, 0)
    """
    if not 1 <= length <= LONGEST_SIDE:
        raise ValueError(f"a line has 1 to {LONGEST_SIDE} cells, not {length}")
    if any(size < 1 for size in clue):
        raise ValueError(f"block lengths are 1 or more: {list(clue)}")
    if sum(clue) + len(clue) - 1 > length:
        raise ValueError(f"the clue {list(clue)} does not fit {length} cells")
    if black < 0 or white < 0 or (black | white) >> length:
        raise ValueError(f"a cell outside of the line's {length}")
    if black & white:
        raise ValueError("a cell is both black and white")
    if solver not in SOLVER._fields:
        raise ValueError(f"no line solver {solver!r}; there are {', '.join(SOLVER._fields)}")
    bits = next(bits for bits in MASK_BITS if length <= bits - 2)
    memory, paint_it = _painter(bits, on_compile)
    memory.items("length")[0] = length
    memory.items("blocks")[0] = len(clue)
    for block, size in enumerate(clue):
        memory.items("clue")[block] = size
    memory.put_masks("black", [black])
    memory.put_masks("white", [white])
    if not paint_it(memory.address, getattr(SOLVER, solver)):
        return None
    return memory.masks("black", 1)[0], memory.masks("white", 1)[0]
