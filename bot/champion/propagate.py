"""Propagation in the search: implicit and learned clauses to their fixpoint, and only then the line kernel.

The order matters: with the kernel first, the search needs twice the conflicts. At the fixpoint of the implicit
clauses, every line has a placement: all blocks at their first starts, or all at their last starts. So the kernel
never fails there and moves no bound; it only finds cells.

Implicit clauses are the conclusions from an event for its own line; they are not stored. S(j, p) means "block j
starts at p or before", and c_j is the length of block j:

    S(j, p) -> S(j - 1, p - c_{j-1} - 1)                 blocks keep their order and one white cell between them
    S(j, i) and not S(j, i - c_j) -> cell i black        block j covers cell i
    S(j - 1, i - c_{j-1}) and not S(j, i) -> cell i white      block j - 1 ends before i, block j starts behind it

and all contrapositives. S(j, p) -> S(j, p + 1) holds because a bound moves as a whole.
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.board import is_on
from nonobot.bot.champion.clauses import propagate_watches
from nonobot.bot.champion.state import STAGE
from nonobot.bot.champion.trail import (
    BY_CHOICE,
    BY_NEIGHBOUR,
    BY_RULE,
    FROM_RECORD,
    NONE,
    cell_of_line,
    conflict_of,
    forget_dirty,
    move_beyond,
    move_up_to,
    push_cell,
    set_cell,
)
from nonobot.bot.kernels.compiling import inlined, kernel
from nonobot.bot.kernels.language import first_above
from nonobot.bot.kernels.masks import highest, lowest
from nonobot.bot.line import paint

# --- implicit clauses ---


@inlined
def _cells_between(m: Any, begin: Any, end: Any) -> Any:
    """Return the cells begin .. end - 1, where 0 <= end <= length + 1; none if begin >= end."""
    begin = max(begin, 0)
    if begin >= end:
        return m.none
    return (m.one << end) - (m.one << begin)


@kernel
def _up_to(m: Any, line: Any, block: Any, place: Any) -> Any:
    """Return the variable of S(block, place), or NONE if it always holds."""
    if place >= m.last[line, block]:
        return NONE
    return m.bound_base[line, block] + place - m.first[line, block]


@kernel
def _beyond(m: Any, line: Any, block: Any, place: Any) -> Any:
    """Return the variable of not S(block, place), or NONE if that always holds."""
    first = m.first[line, block]
    if place < first:
        return NONE
    return m.bound_base[line, block] + place - first


@kernel
def _after_moving_up(m: Any, event: Any) -> Any:
    """Draw the conclusions after S(block, place) .. S(block, old - 1) became true."""
    variable = m.trail[event].literal >> 1
    old = m.event_old[event]
    line, block = m.bound_line[variable], m.bound_block[variable]
    place, size = m.bound_place[variable], m.clue[line, block]
    base = variable - place  # base + p is S(block, p)
    length, last = m.length[line], m.blocks[line] - 1
    if block > 0:
        before = place - m.clue[line, block - 1] - 1
        if before < m.latest[line, block - 1] and not move_up_to(
            m, line, block - 1, before, BY_NEIGHBOUR, variable, NONE
        ):
            return False
    # Cells that the block now certainly covers.
    earliest = m.earliest[line, block]
    cells = _cells_between(m, place, min(old, earliest + size)) & ~m.board.black[line]
    while cells:
        i = lowest(cells)
        cells &= cells - 1
        if not set_cell(m, cell_of_line(m, line, i), 0, base + i, _beyond(m, line, block, i - size)):
            return False
    # A white cell that it would cover if it did not start further up.
    cells = _cells_between(m, max(place, earliest + size), old) & m.board.white[line]
    if cells:
        i = lowest(cells)
        if i - size < m.latest[line, block] and not move_up_to(
            m, line, block, i - size, BY_RULE, base + i, cell_of_line(m, line, i)
        ):
            return False
    # Cells between its end and the next block.
    next_earliest = m.earliest[line, block + 1] if block < last else length
    cells = _cells_between(m, place + size, min(old + size, next_earliest))
    cells &= ~m.board.white[line]
    while cells:
        i = lowest(cells)
        cells &= cells - 1
        behind = _beyond(m, line, block + 1, i) if block < last else NONE
        if not set_cell(m, cell_of_line(m, line, i), 1, base + i - size, behind):
            return False
    # A black cell behind its end: the next block covers it or starts before it.
    if block < last:
        cells = _cells_between(m, max(place + size, next_earliest), old + size) & m.board.black[line]
        if cells:
            i = lowest(cells)
            if i < m.latest[line, block + 1] and not move_up_to(
                m, line, block + 1, i, BY_RULE, base + i - size, cell_of_line(m, line, i)
            ):
                return False
    return True


@kernel
def _after_moving_beyond(m: Any, event: Any) -> Any:
    """Draw the conclusions after S(block, old) .. S(block, place) became false."""
    variable = m.trail[event].literal >> 1
    old = m.event_old[event]
    line, block = m.bound_line[variable], m.bound_block[variable]
    place, size = m.bound_place[variable], m.clue[line, block]
    base = variable - place
    last = m.blocks[line] - 1
    if block < last:
        behind = place + size + 1
        if behind >= m.earliest[line, block + 1] and not move_beyond(
            m, line, block + 1, behind, BY_NEIGHBOUR, variable, NONE
        ):
            return False
    latest = m.latest[line, block]
    cells = _cells_between(m, max(old + size, latest), place + size + 1) & ~m.board.black[line]
    while cells:
        i = lowest(cells)
        cells &= cells - 1
        if not set_cell(m, cell_of_line(m, line, i), 0, base + i - size, _up_to(m, line, block, i)):
            return False
    cells = _cells_between(m, old + size, min(place + size + 1, latest)) & m.board.white[line]
    if cells:
        i = highest(cells)
        if i >= m.earliest[line, block] and not move_beyond(
            m, line, block, i, BY_RULE, base + i - size, cell_of_line(m, line, i)
        ):
            return False
    size_before = m.clue[line, block - 1] if block > 0 else 0
    end_before = m.latest[line, block - 1] + size_before if block > 0 else 0
    cells = _cells_between(m, max(old, end_before), place + 1) & ~m.board.white[line]
    while cells:
        i = lowest(cells)
        cells &= cells - 1
        ends = _up_to(m, line, block - 1, i - size_before) if block > 0 else NONE
        if not set_cell(m, cell_of_line(m, line, i), 1, base + i, ends):
            return False
    if block > 0:
        cells = _cells_between(m, old, min(place + 1, end_before)) & m.board.black[line]
        if cells:
            i = highest(cells)
            if i - size_before >= m.earliest[line, block - 1] and not move_beyond(
                m, line, block - 1, i - size_before, BY_RULE, base + i, cell_of_line(m, line, i)
            ):
                return False
    return True


@kernel
def _after_black(m: Any, cell: Any, line: Any, i: Any) -> Any:
    """Draw the conclusions of cell i of a line being black: some block covers it."""
    blocks = m.blocks[line]
    # Blocks before `first` end before it in any case, blocks from `end` on start behind it.
    first = first_above(m.latest[line], m.clue[line], i, blocks)
    end = first_above(m.earliest[line], m.zeros[line], i, blocks)
    if first == blocks:
        behind = _up_to(m, line, blocks - 1, i - m.clue[line, blocks - 1]) if blocks > 0 else NONE
        return conflict_of(m, cell, behind, NONE)
    if m.latest[line, first] > i:
        ends = _up_to(m, line, first - 1, i - m.clue[line, first - 1]) if first > 0 else NONE
        if not move_up_to(m, line, first, i, BY_RULE, cell, ends):
            return False
    if end == 0:
        return conflict_of(m, cell, _beyond(m, line, 0, i), NONE)
    place = i - m.clue[line, end - 1]
    if m.earliest[line, end - 1] <= place:
        starts = _beyond(m, line, end, i) if end < blocks else NONE
        if not move_beyond(m, line, end - 1, place, BY_RULE, cell, starts):
            return False
    return True


@kernel
def _after_white(m: Any, cell: Any, line: Any, i: Any) -> Any:
    """Draw the conclusions of cell i of a line being white: no block covers it."""
    blocks = m.blocks[line]
    # The last block that starts at i or before in any case, and the first that ends behind i in any case.
    before = first_above(m.latest[line], m.zeros[line], i, blocks) - 1
    behind = first_above(m.earliest[line], m.clue[line], i, blocks)
    if before >= 0:
        place = i - m.clue[line, before]
        if m.latest[line, before] > place and not move_up_to(
            m, line, before, place, BY_RULE, cell, _up_to(m, line, before, i)
        ):
            return False
    if behind < blocks and m.earliest[line, behind] <= i:
        place = i - m.clue[line, behind]
        return move_beyond(m, line, behind, i, BY_RULE, cell, _beyond(m, line, behind, place))
    return True


@kernel
def apply_rules(m: Any, event: Any) -> Any:
    """Draw all conclusions of an event by implicit clauses; False on a conflict."""
    literal = m.trail[event].literal
    variable = literal >> 1
    if variable >= m.cells:
        return _after_moving_beyond(m, event) if literal & 1 else _after_moving_up(m, event)
    y, x = m.row_of[variable], m.column_of[variable]
    column = m.height + x
    if literal & 1:
        return _after_white(m, variable, y, x) and _after_white(m, variable, column, y)
    return _after_black(m, variable, y, x) and _after_black(m, variable, column, y)


# --- all clauses and the line kernel ---


@kernel
def _visit_watches(m: Any, event: Any) -> Any:
    """Visit the clauses that watch a literal which the event made false; False on a conflict."""
    literal = m.trail[event].literal
    variable = literal >> 1
    count, step = 1, 0
    if variable >= m.cells:
        place, old = m.bound_place[variable], m.event_old[event]
        if literal & 1:
            count, step = place + 1 - old, -2
        else:
            count, step = old - place, 2
    for _ in range(count):
        if m.watch_list[literal ^ 1].count and not propagate_watches(m, literal ^ 1):
            return False
        literal += step
    return True


@kernel
def _paint_dirty(m: Any) -> None:
    """Paint one dirty line."""
    if m.dirty.rows:
        line = lowest(m.dirty.rows)
        m.dirty.rows &= m.dirty.rows - 1
    else:
        line = m.height + lowest(m.dirty.columns)
        m.dirty.columns &= m.dirty.columns - 1
    m.counts.line_solves += 1
    black, white = m.board.black[line], m.board.white[line]
    _, new_black, new_white = paint(m, line, black, white)
    new_black &= ~black
    new_white &= ~white
    reason = BY_CHOICE
    if m.level > 0 and new_black | new_white:
        record = m.records[m.record_count]
        record.black = black
        record.white = white
        record.line = line
        record.events = m.trail_size
        reason = FROM_RECORD - m.record_count
        m.record_count += 1
    while new_black:
        cell = cell_of_line(m, line, lowest(new_black))
        new_black &= new_black - 1
        push_cell(m, 2 * cell, reason, NONE, NONE, line)
    while new_white:
        cell = cell_of_line(m, line, lowest(new_white))
        new_white &= new_white - 1
        push_cell(m, 2 * cell + 1, reason, NONE, NONE, line)


@kernel
def propagate_all(m: Any) -> Any:
    """Propagate all events and paint all dirty lines; False on a conflict, which is then in `m.conflict`."""
    while True:
        while m.head < m.trail_size:
            event = m.head
            m.head = event + 1
            if not (apply_rules(m, event) and _visit_watches(m, event)):
                forget_dirty(m)
                return False
        if not m.dirty.rows | m.dirty.columns:
            return True
        if m.level > 0 and not is_on(m, STAGE.line_kernel):
            forget_dirty(m)
            return True
        _paint_dirty(m)
