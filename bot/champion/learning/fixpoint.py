"""Propagation in the search: implicit and learned clauses to their fixpoint, and only then the line kernel.

The order matters: with the kernel first the search needs twice the conflicts.
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.access import get, get2, put, put2, read, write
from nonobot.bot.bits import highest_bit, i64, lowest_bit, u64
from nonobot.bot.champion.control import is_on
from nonobot.bot.champion.learning.clauses import propagate_watches
from nonobot.bot.champion.learning.events import (
    BY_CHOICE,
    FROM_RECORD,
    NONE,
    OF_LINE,
    cell_of_line,
    move_beyond,
    move_up_to,
    push_cell,
)
from nonobot.bot.champion.learning.rules import apply_rules
from nonobot.bot.champion.line import paint
from nonobot.bot.champion.state import (
    BLOCKS,
    BOARD,
    BOUND_PLACE,
    CELLS,
    CONFLICT,
    COUNTS,
    DIRTY,
    EARLIEST,
    EVENT_LITERAL,
    EVENT_OLD,
    HEAD,
    HEIGHT,
    LATEST,
    LEVEL,
    LINE_KERNEL,
    LINE_SOLVES,
    MOST_LINES,
    RECORD_COUNT,
    RECORDS,
    STARTS,
    TRAIL,
    TRAIL_SIZE,
    WATCH_COUNT,
    WATCH_LIST,
)
from nonobot.bot.jit import kernel

__all__ = ["propagate_all"]

_WHITE = u64(MOST_LINES)


@kernel
def _visit_watches(m: Any, event: Any) -> Any:
    """Visit the clauses that watch a literal which the event made false; False on a conflict."""
    literal = get2(m, TRAIL, event, EVENT_LITERAL)
    variable = literal >> 1
    count, step = i64(1), i64(0)
    if variable >= i64(read(m, CELLS)):
        place, old = get(m, BOUND_PLACE, variable), get(m, EVENT_OLD, event)
        if literal & 1:
            count, step = place + 1 - old, i64(-2)
        else:
            count, step = old - place, i64(2)
    for _ in range(count):
        if get2(m, WATCH_LIST, literal ^ 1, WATCH_COUNT) and not propagate_watches(m, literal ^ 1):
            return False
        literal += step
    return True


@kernel
def _set_root_bounds(m: Any, line: Any) -> Any:
    """At level 0, move the bounds of a line to the valid starts in STARTS; False if the two exclude each other."""
    for block in range(i64(get(m, BLOCKS, line))):
        starts = get(m, STARTS, block)
        earliest, latest = i64(lowest_bit(starts)), i64(highest_bit(starts))
        ends = latest < get2(m, LATEST, line, block)
        if ends and not move_up_to(m, line, block, latest, BY_CHOICE, NONE, NONE):
            return False
        begins = earliest > get2(m, EARLIEST, line, block)
        if begins and not move_beyond(m, line, block, earliest - 1, BY_CHOICE, NONE, NONE):
            return False
    return True


@kernel
def _paint_dirty(m: Any) -> Any:
    """Paint one dirty line; False on a conflict."""
    height = i64(read(m, HEIGHT))
    half = i64(0) if get(m, DIRTY, 0) else i64(1)
    todo = get(m, DIRTY, half)
    put(m, DIRTY, half, todo & (todo - u64(1)))
    line = half * height + i64(lowest_bit(todo))
    put(m, COUNTS, LINE_SOLVES, get(m, COUNTS, LINE_SOLVES) + u64(1))
    black, white = get(m, BOARD, line), get(m, BOARD, _WHITE + u64(line))
    consistent, new_black, new_white = paint(m, u64(line), black, white)
    if not consistent:
        write(m, CONFLICT, OF_LINE - line)
        return False
    new_black &= ~black
    new_white &= ~white
    reason = BY_CHOICE
    if read(m, LEVEL) == 0:
        if not _set_root_bounds(m, line):
            return False
    elif new_black | new_white:
        record = read(m, RECORD_COUNT)
        put2(m, RECORDS, record, 0, black)
        put2(m, RECORDS, record, 1, white)
        put2(m, RECORDS, record, 2, u64(line))
        put2(m, RECORDS, record, 3, u64(read(m, TRAIL_SIZE)))
        write(m, RECORD_COUNT, record + 1)
        reason = FROM_RECORD - record
    while new_black:
        cell = cell_of_line(m, line, i64(lowest_bit(new_black)))
        new_black &= new_black - u64(1)
        push_cell(m, 2 * cell, reason, NONE, NONE, line)
    while new_white:
        cell = cell_of_line(m, line, i64(lowest_bit(new_white)))
        new_white &= new_white - u64(1)
        push_cell(m, 2 * cell + 1, reason, NONE, NONE, line)
    return True


@kernel
def propagate_all(m: Any) -> Any:
    """Propagate all events and paint all dirty lines; False on a conflict, which is then in CONFLICT."""
    while True:
        while read(m, HEAD) < read(m, TRAIL_SIZE):
            event = read(m, HEAD)
            write(m, HEAD, event + 1)
            if not (apply_rules(m, event) and _visit_watches(m, event)):
                put(m, DIRTY, 0, u64(0))
                put(m, DIRTY, 1, u64(0))
                return False
        if (get(m, DIRTY, 0) | get(m, DIRTY, 1)) == u64(0):
            return True
        if read(m, LEVEL) > 0 and not is_on(m, LINE_KERNEL):
            put(m, DIRTY, 0, u64(0))
            put(m, DIRTY, 1, u64(0))
            return True
        if not _paint_dirty(m):
            put(m, DIRTY, 0, u64(0))
            put(m, DIRTY, 1, u64(0))
            return False
