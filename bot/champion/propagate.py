"""Propagation in the search: implicit and learned clauses to their fixpoint, and only then the line kernel.

The order matters: with the kernel first the search needs twice the conflicts.
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.champion.clauses import propagate_watches
from nonobot.bot.champion.control import is_on
from nonobot.bot.champion.rules import apply_rules
from nonobot.bot.champion.state import STAGE
from nonobot.bot.champion.trail import (
    BY_CHOICE,
    FROM_RECORD,
    NONE,
    OF_LINE,
    cell_of_line,
    forget_dirty,
    move_beyond,
    move_up_to,
    push_cell,
)
from nonobot.bot.jit import kernel
from nonobot.bot.line import paint
from nonobot.bot.masks import highest, lowest

__all__ = ["propagate_all"]


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
def _set_root_bounds(m: Any, line: Any) -> Any:
    """At level 0, move a line's bounds to the valid starts in `m.starts`; False if the two exclude each other."""
    for block in range(m.blocks[line]):
        starts = m.starts[block]
        earliest, latest = lowest(starts), highest(starts)
        ends = latest < m.latest[line, block]
        if ends and not move_up_to(m, line, block, latest, BY_CHOICE, NONE, NONE):
            return False
        begins = earliest > m.earliest[line, block]
        if begins and not move_beyond(m, line, block, earliest - 1, BY_CHOICE, NONE, NONE):
            return False
    return True


@kernel
def _paint_dirty(m: Any) -> Any:
    """Paint one dirty line; False on a conflict."""
    if m.dirty.rows:
        line = lowest(m.dirty.rows)
        m.dirty.rows &= m.dirty.rows - 1
    else:
        line = m.height + lowest(m.dirty.columns)
        m.dirty.columns &= m.dirty.columns - 1
    m.counts.line_solves += 1
    black, white = m.board.black[line], m.board.white[line]
    consistent, new_black, new_white = paint(m, line, black, white)
    if not consistent:
        m.conflict = OF_LINE - line
        return False
    new_black &= ~black
    new_white &= ~white
    reason = BY_CHOICE
    if m.level == 0:
        if not _set_root_bounds(m, line):
            return False
    elif new_black | new_white:
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
    return True


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
        if not _paint_dirty(m):
            forget_dirty(m)
            return False
