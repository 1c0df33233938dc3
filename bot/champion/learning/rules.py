"""Implicit clauses: what an event says about its own line, without any clause being stored.

With S(j, p) for "block j starts at p or before", block j being c_j long:

    S(j, p) -> S(j - 1, p - c_{j-1} - 1)                 blocks keep their order and one white cell between them
    S(j, i) and not S(j, i - c_j) -> cell i black        block j covers cell i
    S(j - 1, i - c_{j-1}) and not S(j, i) -> cell i white      block j - 1 ends before i, block j starts behind it

and all contrapositives. S(j, p) -> S(j, p + 1) is kept by moving bounds whole.
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.access import first_above, get, get2, read
from nonobot.bot.bits import highest_bit, i64, lowest_bit, u64
from nonobot.bot.champion.learning.events import (
    BY_NEIGHBOUR,
    BY_RULE,
    NONE,
    cell_of_line,
    conflict_of,
    move_beyond,
    move_up_to,
    set_cell,
)
from nonobot.bot.champion.state import (
    BLOCKS,
    BOARD,
    BOUND_BASE,
    BOUND_BLOCK,
    BOUND_LINE,
    BOUND_PLACE,
    CELLS,
    COLUMN_OF,
    EARLIEST,
    EVENT_LITERAL,
    EVENT_OLD,
    FIRST,
    HEIGHT,
    LAST,
    LATEST,
    LENGTH,
    MOST_LINES,
    NO_BYTES,
    ROW_OF,
    SIZE,
    TRAIL,
)
from nonobot.bot.jit import inlined, kernel

__all__ = ["apply_rules"]

_WHITE = u64(MOST_LINES)


@inlined
def _cells_between(begin: Any, end: Any) -> Any:
    """Return the cells begin .. end - 1, where 0 <= end <= 63; none if begin >= end."""
    begin = max(begin, 0)
    if begin >= end:
        return u64(0)
    return (u64(1) << u64(end)) - (u64(1) << u64(begin))


@kernel
def _up_to(m: Any, line: Any, block: Any, place: Any) -> Any:
    """Return the variable of S(block, place), or NONE if it holds from the beginning."""
    if place >= get2(m, LAST, line, block):
        return NONE
    return get2(m, BOUND_BASE, line, block) + place - get2(m, FIRST, line, block)


@kernel
def _beyond(m: Any, line: Any, block: Any, place: Any) -> Any:
    """Return the variable of not S(block, place), or NONE if that holds from the beginning."""
    first = get2(m, FIRST, line, block)
    if place < first:
        return NONE
    return get2(m, BOUND_BASE, line, block) + place - first


@kernel
def _after_moving_up(m: Any, event: Any) -> Any:
    """Draw the conclusions of S(block, place) .. S(block, old - 1) having become true."""
    variable = get2(m, TRAIL, event, EVENT_LITERAL) >> 1
    old = get(m, EVENT_OLD, event)
    line, block = i64(get(m, BOUND_LINE, variable)), i64(get(m, BOUND_BLOCK, variable))
    place, size = get(m, BOUND_PLACE, variable), get2(m, SIZE, line, block)
    base = variable - place  # base + p is S(block, p)
    length, last = i64(get(m, LENGTH, line)), i64(get(m, BLOCKS, line)) - 1
    if block > 0:
        before = place - get2(m, SIZE, line, block - 1) - 1
        if before < get2(m, LATEST, line, block - 1) and not move_up_to(
            m, line, block - 1, before, BY_NEIGHBOUR, variable, NONE
        ):
            return False
    # Cells that the block covers for sure now.
    earliest = get2(m, EARLIEST, line, block)
    cells = _cells_between(place, min(old, earliest + size)) & ~get(m, BOARD, line)
    while cells:
        i = i64(lowest_bit(cells))
        cells &= cells - u64(1)
        if not set_cell(m, cell_of_line(m, line, i), 0, base + i, _beyond(m, line, block, i - size)):
            return False
    # A white cell that it would cover if it did not start further up.
    cells = _cells_between(max(place, earliest + size), old) & get(m, BOARD, _WHITE + u64(line))
    if cells:
        i = i64(lowest_bit(cells))
        if i - size < get2(m, LATEST, line, block) and not move_up_to(
            m, line, block, i - size, BY_RULE, base + i, cell_of_line(m, line, i)
        ):
            return False
    # Cells between its end and the next block.
    next_earliest = get2(m, EARLIEST, line, block + 1) if block < last else length
    cells = _cells_between(place + size, min(old + size, next_earliest))
    cells &= ~get(m, BOARD, _WHITE + u64(line))
    while cells:
        i = i64(lowest_bit(cells))
        cells &= cells - u64(1)
        behind = _beyond(m, line, block + 1, i) if block < last else NONE
        if not set_cell(m, cell_of_line(m, line, i), 1, base + i - size, behind):
            return False
    # A black cell behind its end: the next block covers it or starts before it.
    if block < last:
        cells = _cells_between(max(place + size, next_earliest), old + size) & get(m, BOARD, line)
        if cells:
            i = i64(lowest_bit(cells))
            if i < get2(m, LATEST, line, block + 1) and not move_up_to(
                m, line, block + 1, i, BY_RULE, base + i - size, cell_of_line(m, line, i)
            ):
                return False
    return True


@kernel
def _after_moving_beyond(m: Any, event: Any) -> Any:
    """Draw the conclusions of S(block, old) .. S(block, place) having become false."""
    variable = get2(m, TRAIL, event, EVENT_LITERAL) >> 1
    old = get(m, EVENT_OLD, event)
    line, block = i64(get(m, BOUND_LINE, variable)), i64(get(m, BOUND_BLOCK, variable))
    place, size = get(m, BOUND_PLACE, variable), get2(m, SIZE, line, block)
    base = variable - place
    last = i64(get(m, BLOCKS, line)) - 1
    if block < last:
        behind = place + size + 1
        if behind >= get2(m, EARLIEST, line, block + 1) and not move_beyond(
            m, line, block + 1, behind, BY_NEIGHBOUR, variable, NONE
        ):
            return False
    latest = get2(m, LATEST, line, block)
    cells = _cells_between(max(old + size, latest), place + size + 1) & ~get(m, BOARD, line)
    while cells:
        i = i64(lowest_bit(cells))
        cells &= cells - u64(1)
        if not set_cell(m, cell_of_line(m, line, i), 0, base + i - size, _up_to(m, line, block, i)):
            return False
    cells = _cells_between(old + size, min(place + size + 1, latest)) & get(m, BOARD, _WHITE + u64(line))
    if cells:
        i = i64(highest_bit(cells))
        if i >= get2(m, EARLIEST, line, block) and not move_beyond(
            m, line, block, i, BY_RULE, base + i - size, cell_of_line(m, line, i)
        ):
            return False
    size_before = get2(m, SIZE, line, block - 1) if block > 0 else i64(0)
    end_before = get2(m, LATEST, line, block - 1) + size_before if block > 0 else i64(0)
    cells = _cells_between(max(old, end_before), place + 1) & ~get(m, BOARD, _WHITE + u64(line))
    while cells:
        i = i64(lowest_bit(cells))
        cells &= cells - u64(1)
        ends = _up_to(m, line, block - 1, i - size_before) if block > 0 else NONE
        if not set_cell(m, cell_of_line(m, line, i), 1, base + i, ends):
            return False
    if block > 0:
        cells = _cells_between(old, min(place + 1, end_before)) & get(m, BOARD, line)
        if cells:
            i = i64(highest_bit(cells))
            if i - size_before >= get2(m, EARLIEST, line, block - 1) and not move_beyond(
                m, line, block - 1, i - size_before, BY_RULE, base + i, cell_of_line(m, line, i)
            ):
                return False
    return True


@kernel
def _after_black(m: Any, cell: Any, line: Any, i: Any) -> Any:
    """Draw the conclusions of cell i of a line being black: some block covers it."""
    blocks = i64(get(m, BLOCKS, line))
    # Blocks before `first` end before it in any case, blocks from `end` on start behind it.
    first = first_above(m, LATEST, SIZE, line, i, blocks)
    end = first_above(m, EARLIEST, NO_BYTES, line, i, blocks)
    if first == blocks:
        behind = _up_to(m, line, blocks - 1, i - get2(m, SIZE, line, blocks - 1)) if blocks > 0 else NONE
        return conflict_of(m, cell, behind, NONE)
    if get2(m, LATEST, line, first) > i:
        ends = _up_to(m, line, first - 1, i - get2(m, SIZE, line, first - 1)) if first > 0 else NONE
        if not move_up_to(m, line, first, i, BY_RULE, cell, ends):
            return False
    if end == 0:
        return conflict_of(m, cell, _beyond(m, line, 0, i), NONE)
    place = i - get2(m, SIZE, line, end - 1)
    if get2(m, EARLIEST, line, end - 1) <= place:
        starts = _beyond(m, line, end, i) if end < blocks else NONE
        if not move_beyond(m, line, end - 1, place, BY_RULE, cell, starts):
            return False
    return True


@kernel
def _after_white(m: Any, cell: Any, line: Any, i: Any) -> Any:
    """Draw the conclusions of cell i of a line being white: no block covers it."""
    blocks = i64(get(m, BLOCKS, line))
    # The last block that starts at i or before in any case, and the first that ends behind i in any case.
    before = first_above(m, LATEST, NO_BYTES, line, i, blocks) - 1
    behind = first_above(m, EARLIEST, SIZE, line, i, blocks)
    if before >= 0:
        place = i - get2(m, SIZE, line, before)
        if get2(m, LATEST, line, before) > place and not move_up_to(
            m, line, before, place, BY_RULE, cell, _up_to(m, line, before, i)
        ):
            return False
    if behind < blocks and get2(m, EARLIEST, line, behind) <= i:
        place = i - get2(m, SIZE, line, behind)
        return move_beyond(m, line, behind, i, BY_RULE, cell, _beyond(m, line, behind, place))
    return True


@kernel
def apply_rules(m: Any, event: Any) -> Any:
    """Draw all conclusions of an event by implicit clauses; False on a conflict."""
    literal = get2(m, TRAIL, event, EVENT_LITERAL)
    variable = literal >> 1
    if variable >= i64(read(m, CELLS)):
        return _after_moving_beyond(m, event) if literal & 1 else _after_moving_up(m, event)
    y, x = i64(get(m, ROW_OF, variable)), i64(get(m, COLUMN_OF, variable))
    column = i64(read(m, HEIGHT)) + x
    if literal & 1:
        return _after_white(m, variable, y, x) and _after_white(m, variable, column, y)
    return _after_black(m, variable, y, x) and _after_black(m, variable, column, y)
