"""Conflict analysis: the clause to learn, by first unique implication point and minimisation.

Zhang et al. 2001 (1UIP), Soerensson & Biere 2009 (recursive minimisation), here over events: an event that moved
a bound over several variables is needed as far as its weakest needed variable.
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.access import get, get2, put, put2, read, write
from nonobot.bot.bits import i64, u64
from nonobot.bot.champion.learning.clauses import HEADER, note_use
from nonobot.bot.champion.learning.events import BY_CHOICE, OF_LINE, OF_RULE
from nonobot.bot.champion.learning.explain import explain_line, reasons_of
from nonobot.bot.champion.learning.heap import bump
from nonobot.bot.champion.state import (
    ARENA,
    BOARD,
    CELLS,
    COLUMN_OF,
    CONFLICT,
    CONFLICT_PARTS,
    EVENT_LEVEL,
    EVENT_LITERAL,
    EVENT_OF,
    EVENT_REASON,
    FRAME_CLAUSE,
    FRAME_END,
    FRAME_EVENT,
    FRAME_NEXT,
    FRAME_TOP,
    FRAMES,
    HEIGHT,
    JUDGED,
    JUDGED_COUNT,
    LEARNED,
    LEARNED_LBD,
    LEARNED_SIZE,
    LEVEL,
    LEVEL_STAMP,
    MOST_LINES,
    NEEDED,
    OPEN_COUNT,
    REASONS,
    ROW_OF,
    SEEN,
    SEEN_CELLS,
    STAMP,
    TOUCHED,
    TOUCHED_COUNT,
    TRAIL,
    TRAIL_SIZE,
    VALUE,
    VERDICT,
)
from nonobot.bot.jit import kernel

__all__ = ["analyse"]

_WHITE = u64(MOST_LINES)

_IMPLIED, _NOT_IMPLIED = u64(1), u64(2)

DEEPEST = 50
"""Steps that minimisation goes back at most; FRAMES has room for so many."""


@kernel
def _falsified(m: Any, variable: Any) -> Any:
    """Return the literal of a set variable that is false."""
    return 2 * variable + (get(m, VALUE, 2 * variable) > 0)


@kernel
def _see_cell(m: Any, variable: Any) -> None:
    """Note that a cell is in the clause: the explanations of its lines may use it for free."""
    if variable < i64(read(m, CELLS)):
        y, x = get(m, ROW_OF, variable), get(m, COLUMN_OF, variable)
        column = read(m, HEIGHT) + x
        put(m, SEEN_CELLS, y, get(m, SEEN_CELLS, y) | (u64(1) << x))
        put(m, SEEN_CELLS, column, get(m, SEEN_CELLS, column) | (u64(1) << y))


@kernel
def _forget_cell(m: Any, variable: Any) -> None:
    if variable < i64(read(m, CELLS)):
        y = get(m, ROW_OF, variable)
        put(m, SEEN_CELLS, y, u64(0))
        put(m, SEEN_CELLS, read(m, HEIGHT) + get(m, COLUMN_OF, variable), u64(0))


@kernel
def _is_weaker(m: Any, variable: Any, needed: Any) -> Any:
    """Tell whether of two bounds set by one event the first follows from the second."""
    return variable > needed if get(m, VALUE, 2 * variable) > 0 else variable < needed


@kernel
def _touch(m: Any, variable: Any) -> None:
    """Note that the value of a variable is needed."""
    event = get(m, EVENT_OF, variable)
    level = i64(get(m, EVENT_LEVEL, event))
    if level == 0:
        return
    if get(m, SEEN, event):
        if _is_weaker(m, get(m, NEEDED, event), variable):
            put(m, NEEDED, event, variable)
        return
    put(m, SEEN, event, u64(1))
    put(m, NEEDED, event, variable)
    count = read(m, TOUCHED_COUNT)
    put(m, TOUCHED, count, i64(event))
    write(m, TOUCHED_COUNT, count + 1)
    _see_cell(m, variable)
    bump(m, variable)
    if level == read(m, LEVEL):
        write(m, OPEN_COUNT, read(m, OPEN_COUNT) + 1)


@kernel
def _touch_clause(m: Any, clause: Any, skipped: Any) -> None:
    """Touch the variables of a clause, all or all but the first one, which it implied."""
    note_use(m, clause)
    first = clause + HEADER
    for i in range(first + skipped, first + get(m, ARENA, clause)):
        _touch(m, get(m, ARENA, i) >> 1)


@kernel
def _touch_conflict(m: Any) -> None:
    conflict = read(m, CONFLICT)
    if conflict >= 0:
        _touch_clause(m, conflict, i64(0))
    elif conflict == OF_RULE:
        for i in range(3):
            part = get(m, CONFLICT_PARTS, i)
            if part >= 0:
                _touch(m, part)
    else:
        line = OF_LINE - conflict
        black, white = get(m, BOARD, line), get(m, BOARD, _WHITE + u64(line))
        _touch_reasons(m, explain_line(m, line, black, white, u64(0), i64(0)))


@kernel
def _touch_reasons(m: Any, end: Any) -> None:
    for i in range(end):
        _touch(m, get(m, REASONS, i))


@kernel
def _find_uip(m: Any) -> Any:
    """Resolve the conflict back to the first event of its level through which all its reasons go."""
    event = read(m, TRAIL_SIZE)
    while True:
        event -= 1
        if get(m, SEEN, event):
            write(m, OPEN_COUNT, read(m, OPEN_COUNT) - 1)
            if read(m, OPEN_COUNT) == 0:
                return event
            reason = get2(m, TRAIL, event, EVENT_REASON)
            if reason >= 0:
                _touch_clause(m, reason, i64(1))
            else:
                _touch_reasons(m, reasons_of(m, get(m, NEEDED, event), i64(0)))


@kernel
def _judge(m: Any, event: Any, verdict: Any) -> None:
    put(m, VERDICT, event, verdict)
    count = read(m, JUDGED_COUNT)
    put(m, JUDGED, count, event)
    write(m, JUDGED_COUNT, count + 1)


@kernel
def _known_verdict(m: Any, variable: Any, depth: Any, levels: Any) -> Any:
    """Return the verdict on a variable if it can be told at once, else 0."""
    event = i64(get(m, EVENT_OF, variable))
    level = i64(get(m, EVENT_LEVEL, event))
    if level == 0:
        return _IMPLIED
    if get(m, SEEN, event) and not _is_weaker(m, get(m, NEEDED, event), variable):
        return _IMPLIED
    verdict = get(m, VERDICT, event)
    if verdict:
        return verdict
    in_clause = (levels >> u64(level & 63)) & u64(1)
    if get2(m, TRAIL, event, EVENT_REASON) == BY_CHOICE or in_clause == u64(0) or depth > DEEPEST:
        _judge(m, event, _NOT_IMPLIED)
        return _NOT_IMPLIED
    return u64(0)


@kernel
def _open_frame(m: Any, depth: Any, event: Any, variable: Any, top: Any) -> None:
    """Begin to judge an event by the reasons of `variable`; REASONS is free from `top` on."""
    reason = get2(m, TRAIL, get(m, EVENT_OF, variable), EVENT_REASON)
    put2(m, FRAMES, depth, FRAME_EVENT, event)
    if reason >= 0:
        put2(m, FRAMES, depth, FRAME_NEXT, reason + HEADER + 1)
        put2(m, FRAMES, depth, FRAME_END, reason + HEADER + get(m, ARENA, reason))
        put2(m, FRAMES, depth, FRAME_CLAUSE, 1)
        put2(m, FRAMES, depth, FRAME_TOP, top)
    else:
        end = reasons_of(m, variable, top)
        put2(m, FRAMES, depth, FRAME_NEXT, top)
        put2(m, FRAMES, depth, FRAME_END, end)
        put2(m, FRAMES, depth, FRAME_CLAUSE, 0)
        put2(m, FRAMES, depth, FRAME_TOP, end)


@kernel
def _is_implied(m: Any, variable: Any, levels: Any) -> Any:
    """Tell whether a literal of the clause follows from the others.

    `levels` is the set of levels in the clause, modulo 64: an event of another level cannot be implied.
    """
    _open_frame(m, 0, -1, variable, i64(0))
    depth = i64(0)
    while True:
        place, end = get2(m, FRAMES, depth, FRAME_NEXT), get2(m, FRAMES, depth, FRAME_END)
        if place == end:
            if depth == 0:
                return True
            _judge(m, get2(m, FRAMES, depth, FRAME_EVENT), _IMPLIED)
            depth -= 1
            continue
        put2(m, FRAMES, depth, FRAME_NEXT, place + 1)
        reason = get(m, ARENA, place) >> 1 if get2(m, FRAMES, depth, FRAME_CLAUSE) else get(m, REASONS, place)
        verdict = _known_verdict(m, reason, depth + 1, levels)
        if verdict == _NOT_IMPLIED:
            while depth > 0:
                _judge(m, get2(m, FRAMES, depth, FRAME_EVENT), _NOT_IMPLIED)
                depth -= 1
            return False
        if verdict == u64(0):
            event = i64(get(m, EVENT_OF, reason))
            top = get2(m, FRAMES, depth, FRAME_TOP)
            depth += 1
            _open_frame(m, depth, event, get2(m, TRAIL, event, EVENT_LITERAL) >> 1, top)


@kernel
def _collect(m: Any, uip: Any) -> None:
    """Make the learned clause of the needed events, without those that the others imply."""
    present = read(m, LEVEL)
    touched = read(m, TOUCHED_COUNT)
    for i in range(touched):
        _forget_cell(m, get(m, NEEDED, get(m, TOUCHED, i)))
    # Only what is in the clause counts from here on: events of the present level but the UIP are resolved.
    levels = u64(1) << u64(present & 63)
    kept = i64(0)
    for i in range(touched):
        event = get(m, TOUCHED, i)
        level = i64(get(m, EVENT_LEVEL, event))
        if event != uip and level == present:
            put(m, SEEN, event, u64(0))
            continue
        _see_cell(m, get(m, NEEDED, event))
        levels |= u64(1) << u64(level & 63)
        if event != uip:
            put(m, TOUCHED, kept, event)
            kept += 1
    write(m, JUDGED_COUNT, 0)
    put(m, LEARNED, 0, _falsified(m, get(m, NEEDED, uip)))
    size = i64(1)
    for i in range(kept):
        event = get(m, TOUCHED, i)
        variable = get(m, NEEDED, event)
        decided = get2(m, TRAIL, event, EVENT_REASON) == BY_CHOICE
        if decided or not _is_implied(m, variable, levels):
            put(m, LEARNED, size, _falsified(m, variable))
            size += 1
    write(m, LEARNED_SIZE, size)
    for i in range(read(m, JUDGED_COUNT)):
        put(m, VERDICT, get(m, JUDGED, i), u64(0))
    put(m, SEEN, uip, u64(0))
    _forget_cell(m, get(m, NEEDED, uip))
    for i in range(kept):
        event = get(m, TOUCHED, i)
        put(m, SEEN, event, u64(0))
        _forget_cell(m, get(m, NEEDED, event))


@kernel
def _level_of(m: Any, literal: Any) -> Any:
    return i64(get(m, EVENT_LEVEL, get(m, EVENT_OF, literal >> 1)))


@kernel
def _order(m: Any) -> Any:
    """Put the literal of the second highest level second, set the LBD, and return that level."""
    size = read(m, LEARNED_SIZE)
    stamp = read(m, STAMP) + 1
    write(m, STAMP, stamp)
    levels, second, highest = i64(0), i64(0), i64(0)
    for i in range(size):
        level = _level_of(m, get(m, LEARNED, i))
        if get(m, LEVEL_STAMP, level) != stamp:
            put(m, LEVEL_STAMP, level, stamp)
            levels += 1
        if i > 0 and level > highest:
            second, highest = i64(i), level
    write(m, LEARNED_LBD, levels)
    if second > 0:
        literal = get(m, LEARNED, second)
        put(m, LEARNED, second, get(m, LEARNED, 1))
        put(m, LEARNED, 1, literal)
    return highest


@kernel
def analyse(m: Any) -> Any:
    """Learn from the conflict: the clause goes to LEARNED, the literal to assert first; return the level to go to.

    Before: a conflict at a level above 0, as `propagate_all` left it.
    """
    write(m, TOUCHED_COUNT, 0)
    write(m, OPEN_COUNT, 0)
    _touch_conflict(m)
    _collect(m, _find_uip(m))
    return _order(m)
