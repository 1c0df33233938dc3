"""The trail: set cells, move bounds, and undo both.

An event sets one cell, or moves one bound of one block and so sets a range of its bound variables at once. Each
has a reason: a code, and up to two variables. Levels count decisions; level 0 is permanent.
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.champion.heap import heap_insert
from nonobot.bot.kernels.compiling import kernel

NONE = -1
NEVER = 2**31 - 1  # later than all events

# Reasons. 0 and above: a clause, by its place in the arena.
BY_CHOICE = -1  # a decision, or known for good
BY_RULE = -2  # an implicit clause: the variables a and b
BY_NEIGHBOUR = -3  # the bound a of the next or the previous block, moved by the same distance
FROM_RECORD = -1000  # FROM_RECORD - r: the line kernel, call r

# Conflicts. 0 and above: a clause.
OF_RULE = -1  # the variables in `conflict_parts`

_TRUE, _FALSE, _UNKNOWN = 0xFF01, 0x01FF, 0  # `value` of a variable's two literals, as one number


@kernel
def cell_of_line(m: Any, line: Any, i: Any) -> Any:
    """Return the variable of cell i of a line."""
    return m.cell_base[line] + m.cell_step[line] * i


@kernel
def conflict_of(m: Any, a: Any, b: Any, c: Any) -> Any:
    """Note a conflict of up to three variables, as they are set, and return False."""
    m.conflict = OF_RULE
    m.conflict_parts[0] = a
    m.conflict_parts[1] = b
    m.conflict_parts[2] = c
    return False


@kernel
def _push(m: Any, literal: Any, old: Any, reason: Any, a: Any, b: Any) -> None:
    number = m.trail_size
    event = m.trail[number]
    event.literal = literal
    event.reason = reason
    event.a = a
    event.b = b
    m.event_old[number] = old
    m.event_level[number] = m.level
    m.trail_size = number + 1


@kernel
def _set_range(m: Any, variable: Any, count: Any, values: Any) -> None:
    event = m.trail_size
    for assigned in range(variable, variable + count):
        m.value_pair[assigned] = values
        m.event_of[assigned] = event
    m.assigned += count


@kernel
def move_up_to(m: Any, line: Any, block: Any, place: Any, reason: Any, a: Any, b: Any) -> Any:
    """Make a block start at `place` or before, which is new; False if it cannot."""
    first = m.first[line, block]
    base = m.bound_base[line, block] - first
    if place < m.earliest[line, block]:
        return conflict_of(m, a, b, NONE if place < first else base + place)
    latest = m.latest[line, block]
    _set_range(m, base + place, latest - place, _TRUE)
    _push(m, 2 * (base + place), latest, reason, a, b)
    m.latest[line, block] = place
    if m.level == 0:
        m.root_changed = 1
    return True


@kernel
def move_beyond(m: Any, line: Any, block: Any, place: Any, reason: Any, a: Any, b: Any) -> Any:
    """Make a block start behind `place`, which is new; False if it cannot."""
    base = m.bound_base[line, block] - m.first[line, block]
    if place >= m.latest[line, block]:
        return conflict_of(m, a, b, NONE if place >= m.last[line, block] else base + place)
    earliest = m.earliest[line, block]
    _set_range(m, base + earliest, place + 1 - earliest, _FALSE)
    _push(m, 2 * (base + place) + 1, earliest, reason, a, b)
    m.earliest[line, block] = place + 1
    if m.level == 0:
        m.root_changed = 1
    return True


@kernel
def push_cell(m: Any, literal: Any, reason: Any, a: Any, b: Any, painted: Any) -> None:
    """Set an unknown cell. Its lines become dirty, but not `painted`, the line that was just painted."""
    cell = literal >> 1
    y, x = m.row_of[cell], m.column_of[cell]
    column = m.height + x
    in_row, in_column = m.one << x, m.one << y
    _set_range(m, cell, 1, _FALSE if literal & 1 else _TRUE)
    _push(m, literal, 0, reason, a, b)
    colour = m.board.white if literal & 1 else m.board.black
    colour[y] |= in_row
    colour[column] |= in_column
    if m.level == 0:
        m.root_known[y] |= in_row
        m.root_known[column] |= in_column
    if painted != y:
        m.dirty.rows |= in_column
    if painted != column:
        m.dirty.columns |= in_row


@kernel
def set_cell(m: Any, cell: Any, white: Any, a: Any, b: Any) -> Any:
    """Set a cell by an implicit clause; False if it has the other colour."""
    literal = 2 * cell + white
    value = m.value[literal]
    if value == 0:
        push_cell(m, literal, BY_RULE, a, b, NONE)
    elif value < 0:
        return conflict_of(m, cell, a, b)
    return True


@kernel
def assign(m: Any, literal: Any, reason: Any) -> None:
    """Make an unknown literal true."""
    variable = literal >> 1
    if variable < m.cells:
        push_cell(m, literal, reason, NONE, NONE, NONE)
        return
    line, block = m.bound_line[variable], m.bound_block[variable]
    place = m.bound_place[variable]
    if literal & 1:
        move_beyond(m, line, block, place, reason, NONE, NONE)
    else:
        move_up_to(m, line, block, place, reason, NONE, NONE)


@kernel
def _take_back(m: Any, event: Any) -> None:
    literal = m.trail[event].literal
    variable = literal >> 1
    if variable < m.cells:
        y, x = m.row_of[variable], m.column_of[variable]
        colour = m.board.white if literal & 1 else m.board.black
        colour[y] &= ~(m.one << x)
        colour[m.height + x] &= ~(m.one << y)
        begin, end = variable, variable + 1
    else:
        line, block = m.bound_line[variable], m.bound_block[variable]
        old = m.event_old[event]
        base = variable - m.bound_place[variable]
        if literal & 1:
            begin, end = base + old, variable + 1
            m.earliest[line, block] = old
        else:
            begin, end = variable, base + old
            m.latest[line, block] = old
    for freed in range(begin, end):
        m.value_pair[freed] = _UNKNOWN
        if m.heap_place[freed] < 0:
            heap_insert(m, freed)
    m.assigned -= end - begin


@kernel
def forget_dirty(m: Any) -> None:
    """Clear the set of dirty lines."""
    m.dirty.rows = 0
    m.dirty.columns = 0


@kernel
def backjump(m: Any, level: Any) -> None:
    """Take back all decisions above `level` and what followed from them."""
    if m.level <= level:
        return
    keep = m.level_start[level]
    event = m.trail_size
    while event > keep:
        event -= 1
        _take_back(m, event)
    m.trail_size = keep
    m.head = keep
    m.level = level
    forget_dirty(m)
    records = m.record_count
    while records > 0 and m.records[records - 1].events >= keep:
        records -= 1
    m.record_count = records
