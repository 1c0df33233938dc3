"""The trail: setting cells and moving bounds, and taking it back.

An event sets one cell, or moves one bound of one block and so sets a range of its bound variables at once. Each
keeps its reason: a code, and up to two variables. Levels count decisions; level 0 is for good.
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.access import get, get2, put, put2, read, write
from nonobot.bot.bits import i64, u64
from nonobot.bot.champion.learning.heap import heap_insert
from nonobot.bot.champion.state import (
    ASSIGNED,
    BOARD,
    BOUND_BASE,
    BOUND_BLOCK,
    BOUND_LINE,
    BOUND_PLACE,
    CELL_BASE,
    CELL_STEP,
    CELLS,
    COLUMN_OF,
    CONFLICT,
    CONFLICT_PARTS,
    DIRTY,
    EARLIEST,
    EVENT_A,
    EVENT_B,
    EVENT_LEVEL,
    EVENT_LITERAL,
    EVENT_OF,
    EVENT_OLD,
    EVENT_REASON,
    FIRST,
    HEAD,
    HEAP_PLACE,
    HEIGHT,
    LAST,
    LATEST,
    LEVEL,
    LEVEL_START,
    MOST_LINES,
    RECORD_COUNT,
    RECORDS,
    ROOT_CHANGED,
    ROOT_KNOWN,
    ROW_OF,
    TRAIL,
    TRAIL_SIZE,
    VALUE,
    VALUE_PAIR,
)
from nonobot.bot.jit import kernel

__all__ = [
    "BY_CHOICE", "BY_NEIGHBOUR", "BY_RULE", "FROM_RECORD", "NONE", "OF_LINE", "OF_RULE", "assign", "backjump",
    "cell_of_line", "conflict_of", "move_beyond", "move_up_to", "push_cell", "set_cell",
]  # fmt: skip

NONE = i64(-1)

# Reasons. 0 and above: a clause, by its place in the arena.
BY_CHOICE = i64(-1)  # a decision, or known for good
BY_RULE = i64(-2)  # an implicit clause: variables A and B
BY_NEIGHBOUR = i64(-3)  # the bound A of the next or the previous block, moved by the same distance
FROM_RECORD = i64(-1000)  # FROM_RECORD - r: the line kernel, call r

# Conflicts. 0 and above: a clause.
OF_RULE = i64(-1_000_000)  # the variables in CONFLICT_PARTS
OF_LINE = i64(-1000)  # OF_LINE - l: line l has no placement

_TRUE, _FALSE = u64(0xFF01), u64(0x01FF)  # VALUE of a variable's two literals, as one number
_WHITE = u64(MOST_LINES)


@kernel
def cell_of_line(m: Any, line: Any, i: Any) -> Any:
    """Return the variable of cell i of a line."""
    return get(m, CELL_BASE, line) + get(m, CELL_STEP, line) * i


@kernel
def conflict_of(m: Any, a: Any, b: Any, c: Any) -> Any:
    """Note a conflict of up to three variables, as they are set, and return False."""
    write(m, CONFLICT, OF_RULE)
    put(m, CONFLICT_PARTS, 0, a)
    put(m, CONFLICT_PARTS, 1, b)
    put(m, CONFLICT_PARTS, 2, c)
    return False


@kernel
def _push(m: Any, literal: Any, old: Any, reason: Any, a: Any, b: Any) -> None:
    event = read(m, TRAIL_SIZE)
    put2(m, TRAIL, event, EVENT_LITERAL, literal)
    put(m, EVENT_OLD, event, old)
    put2(m, TRAIL, event, EVENT_REASON, reason)
    put2(m, TRAIL, event, EVENT_A, a)
    put2(m, TRAIL, event, EVENT_B, b)
    put(m, EVENT_LEVEL, event, u64(read(m, LEVEL)))
    write(m, TRAIL_SIZE, event + 1)


@kernel
def _set_range(m: Any, variable: Any, count: Any, values: Any) -> None:
    event = u64(read(m, TRAIL_SIZE))
    for each in range(variable, variable + count):
        put(m, VALUE_PAIR, each, values)
        put(m, EVENT_OF, each, event)
    write(m, ASSIGNED, read(m, ASSIGNED) + count)


@kernel
def _root_moved(m: Any, line: Any) -> None:
    """Note that a bound was moved for good: the line kernel may find more."""
    write(m, ROOT_CHANGED, u64(1))
    height = i64(read(m, HEIGHT))
    if line < height:
        put(m, DIRTY, 0, get(m, DIRTY, 0) | (u64(1) << u64(line)))
    else:
        put(m, DIRTY, 1, get(m, DIRTY, 1) | (u64(1) << u64(line - height)))


@kernel
def move_up_to(m: Any, line: Any, block: Any, place: Any, reason: Any, a: Any, b: Any) -> Any:
    """Make a block start at `place` or before, which is new; False if it cannot."""
    first = get2(m, FIRST, line, block)
    base = get2(m, BOUND_BASE, line, block) - first
    if place < get2(m, EARLIEST, line, block):
        return conflict_of(m, a, b, NONE if place < first else base + place)
    latest = get2(m, LATEST, line, block)
    _set_range(m, base + place, latest - place, _TRUE)
    _push(m, 2 * (base + place), latest, reason, a, b)
    put2(m, LATEST, line, block, place)
    if read(m, LEVEL) == 0:
        _root_moved(m, line)
    return True


@kernel
def move_beyond(m: Any, line: Any, block: Any, place: Any, reason: Any, a: Any, b: Any) -> Any:
    """Make a block start behind `place`, which is new; False if it cannot."""
    base = get2(m, BOUND_BASE, line, block) - get2(m, FIRST, line, block)
    if place >= get2(m, LATEST, line, block):
        return conflict_of(m, a, b, NONE if place >= get2(m, LAST, line, block) else base + place)
    earliest = get2(m, EARLIEST, line, block)
    _set_range(m, base + earliest, place + 1 - earliest, _FALSE)
    _push(m, 2 * (base + place) + 1, earliest, reason, a, b)
    put2(m, EARLIEST, line, block, place + 1)
    if read(m, LEVEL) == 0:
        _root_moved(m, line)
    return True


@kernel
def push_cell(m: Any, literal: Any, reason: Any, a: Any, b: Any, painted: Any) -> None:
    """Set an unknown cell. Its lines become dirty, but not `painted`, the line that was just painted."""
    cell = literal >> 1
    y, x = get(m, ROW_OF, cell), get(m, COLUMN_OF, cell)
    column = read(m, HEIGHT) + x
    row_bit, column_bit = u64(1) << x, u64(1) << y
    colour = u64(literal & 1) * _WHITE
    _set_range(m, cell, 1, _FALSE if literal & 1 else _TRUE)
    _push(m, literal, 0, reason, a, b)
    put(m, BOARD, colour + y, get(m, BOARD, colour + y) | row_bit)
    put(m, BOARD, colour + column, get(m, BOARD, colour + column) | column_bit)
    if read(m, LEVEL) == 0:
        put(m, ROOT_KNOWN, y, get(m, ROOT_KNOWN, y) | row_bit)
        put(m, ROOT_KNOWN, column, get(m, ROOT_KNOWN, column) | column_bit)
    if painted != i64(y):
        put(m, DIRTY, 0, get(m, DIRTY, 0) | column_bit)
    if painted != i64(column):
        put(m, DIRTY, 1, get(m, DIRTY, 1) | row_bit)


@kernel
def set_cell(m: Any, cell: Any, white: Any, a: Any, b: Any) -> Any:
    """Set a cell by an implicit clause; False if it has the other colour."""
    literal = 2 * cell + white
    value = get(m, VALUE, literal)
    if value == 0:
        push_cell(m, literal, BY_RULE, a, b, NONE)
    elif value < 0:
        return conflict_of(m, cell, a, b)
    return True


@kernel
def assign(m: Any, literal: Any, reason: Any) -> None:
    """Make an unknown literal true."""
    variable = literal >> 1
    if variable < i64(read(m, CELLS)):
        push_cell(m, literal, reason, NONE, NONE, NONE)
        return
    line, block = i64(get(m, BOUND_LINE, variable)), i64(get(m, BOUND_BLOCK, variable))
    place = get(m, BOUND_PLACE, variable)
    if literal & 1:
        move_beyond(m, line, block, place, reason, NONE, NONE)
    else:
        move_up_to(m, line, block, place, reason, NONE, NONE)


@kernel
def _take_back(m: Any, event: Any) -> None:
    literal = get2(m, TRAIL, event, EVENT_LITERAL)
    variable = literal >> 1
    if variable < i64(read(m, CELLS)):
        y, x = get(m, ROW_OF, variable), get(m, COLUMN_OF, variable)
        colour = u64(literal & 1) * _WHITE
        column = read(m, HEIGHT) + x
        put(m, BOARD, colour + y, get(m, BOARD, colour + y) & ~(u64(1) << x))
        put(m, BOARD, colour + column, get(m, BOARD, colour + column) & ~(u64(1) << y))
        begin, end = variable, variable + 1
    else:
        line, block = get(m, BOUND_LINE, variable), get(m, BOUND_BLOCK, variable)
        old = get(m, EVENT_OLD, event)
        base = variable - get(m, BOUND_PLACE, variable)
        if literal & 1:
            begin, end = base + old, variable + 1
            put2(m, EARLIEST, line, block, old)
        else:
            begin, end = variable, base + old
            put2(m, LATEST, line, block, old)
    for each in range(begin, end):
        put(m, VALUE_PAIR, each, u64(0))
        if get(m, HEAP_PLACE, each) < 0:
            heap_insert(m, each)
    write(m, ASSIGNED, read(m, ASSIGNED) - (end - begin))


@kernel
def backjump(m: Any, level: Any) -> None:
    """Take back all decisions above `level` and what followed from them."""
    if read(m, LEVEL) <= level:
        return
    keep = get(m, LEVEL_START, level)
    event = read(m, TRAIL_SIZE)
    while event > keep:
        event -= 1
        _take_back(m, event)
    write(m, TRAIL_SIZE, keep)
    write(m, HEAD, keep)
    write(m, LEVEL, level)
    put(m, DIRTY, 0, u64(0))
    put(m, DIRTY, 1, u64(0))
    records = read(m, RECORD_COUNT)
    while records > 0 and i64(get2(m, RECORDS, records - 1, 3)) >= keep:
        records -= 1
    write(m, RECORD_COUNT, records)
