"""Propagation in the search: implicit and learned clauses to their fixpoint, and only then the line kernel.

The order matters: with the kernel first the search needs twice the conflicts. At the fixpoint of the implicit
clauses every line has a placement: all blocks at their first starts, or all at their last. So the kernel never
fails then, and moves no bound; it finds cells.
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.board import is_on
from nonobot.bot.champion.clauses import propagate_watches
from nonobot.bot.champion.rules import apply_rules
from nonobot.bot.champion.state import STAGE
from nonobot.bot.champion.trail import BY_CHOICE, FROM_RECORD, NONE, cell_of_line, forget_dirty, push_cell
from nonobot.bot.kernels.compiling import kernel
from nonobot.bot.kernels.masks import lowest
from nonobot.bot.line import paint

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
