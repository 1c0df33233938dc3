"""A single line, painted for hints and explanations; its kernel's module, `bot.papers.lines`, is not imported."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache

from nonobot.bot.kernels.loading import load_kernel
from nonobot.bot.kernels.memory import MASK_BITS, Memory, Struct, i2, mask_of, u1
from nonobot.bot.kernels.notices import OnCompile, unnoticed
from nonobot.bot.papers.state import SOLVER


@cache
def line_map(bits: int) -> Struct:
    """Return the map of a single line of up to bits - 2 cells, with masks of so many bits."""
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


_idle: defaultdict[int, list[Memory]] = defaultdict(list)  # by the bits of their masks


def paint_line(
    clue: Sequence[int],
    length: int,
    black: int,
    white: int,
    solver: str = "bitset",
    on_compile: OnCompile = unnoticed,
) -> tuple[int, int] | None:
    """Return the cells that are black, and those that are white, in every placement of the blocks.

    Only placements that agree with the known cells `black` and `white` count (bit i is cell i); None: there is no
    such placement. `on_compile` is called as the kernel for lines of this length is compiled.
    Before: the clue fits the line, and `black` and `white` are disjoint sets of its cells.
    """
    bits = next(bits for bits in MASK_BITS if length <= bits - 2)
    try:
        memory = _idle[bits].pop()  # another thread may use another one
    except IndexError:
        memory = Memory(line_map(bits))
    paint_it = load_kernel("nonobot.bot.papers.lines", "paint_one", memory.struct, 1, on_compile)
    memory.items("length")[0] = length
    memory.items("blocks")[0] = len(clue)
    for block, size in enumerate(clue):
        memory.items("clue")[block] = size
    memory.put_masks("black", [black])
    memory.put_masks("white", [white])
    is_possible = paint_it(memory.address, getattr(SOLVER, solver))
    found = memory.masks("black", 1)[0], memory.masks("white", 1)[0]
    _idle[bits].append(memory)
    return found if is_possible else None
