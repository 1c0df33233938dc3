"""Conflict analysis: finds the clause to learn, by first unique implication point and minimisation.

Sources: Zhang et al. 2001 (1UIP), Soerensson & Biere 2009 (recursive minimisation). Here both work on events: of
an event that moved a bound over several variables, the clause needs only the weakest needed variable.
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.champion.clauses import HEADER, note_use
from nonobot.bot.champion.heap import bump
from nonobot.bot.champion.reasons import reasons_of
from nonobot.bot.champion.trail import NEVER
from nonobot.bot.kernels.compiling import kernel

_IMPLIED, _NOT_IMPLIED = 1, 2

DEEPEST = 50  # largest depth of minimisation; `m.frames` has room for it


@kernel
def _falsified(m: Any, variable: Any) -> Any:
    """Return the literal of a set variable that is false."""
    return 2 * variable + (m.value[2 * variable] > 0)


@kernel
def _is_weaker(m: Any, variable: Any, needed: Any) -> Any:
    """Return whether `variable` follows from `needed`; both are bounds set by the same event."""
    return variable > needed if m.value[2 * variable] > 0 else variable < needed


@kernel
def _touch(m: Any, variable: Any) -> None:
    """Note that the value of a variable is needed."""
    event = m.event_of[variable]
    level = m.event_level[event]
    if level == 0:
        return
    if m.seen[event]:
        if _is_weaker(m, m.needed[event], variable):
            m.needed[event] = variable
        return
    m.seen[event] = 1
    m.needed[event] = variable
    m.touched[m.touched_count] = event
    m.touched_count += 1
    bump(m, variable)
    if level == m.level:
        m.open_count += 1


@kernel
def _touch_clause(m: Any, clause: Any, skipped: Any) -> None:
    """Touch the variables of a clause, without the first `skipped` ones (1: the implied variable)."""
    note_use(m, clause)
    for i in range(skipped, clause.size):
        _touch(m, clause.literals[i] >> 1)


@kernel
def _touch_conflict(m: Any) -> None:
    conflict = m.conflict
    if conflict >= 0:
        _touch_clause(m, m.clause[conflict], 0)
    else:
        for i in range(3):
            part = m.conflict_parts[i]
            if part >= 0:
                _touch(m, part)


@kernel
def _touch_reasons(m: Any, end: Any) -> None:
    for i in range(end):
        _touch(m, m.reasons[i])


@kernel
def _find_uip(m: Any) -> Any:
    """Resolve the conflict back to its UIP: the last event of its level that all its reasons go through."""
    event = m.trail_size
    while True:
        event -= 1
        if m.seen[event]:
            m.open_count -= 1
            if m.open_count == 0:
                return event
            reason = m.trail[event].reason
            if reason >= 0:
                _touch_clause(m, m.clause[reason], 1)
            else:
                _touch_reasons(m, reasons_of(m, m.needed[event], 0))


@kernel
def _judge(m: Any, event: Any, verdict: Any) -> None:
    m.verdict[event] = verdict
    m.judged[m.judged_count] = event
    m.judged_count += 1


@kernel
def _known_verdict(m: Any, variable: Any, depth: Any) -> Any:
    """Return the verdict on a variable if it follows at once, otherwise 0."""
    event = m.event_of[variable]
    level = m.event_level[event]
    if level == 0:
        return _IMPLIED
    if m.seen[event] and not _is_weaker(m, m.needed[event], variable):
        return _IMPLIED
    verdict = m.verdict[event]
    if verdict:
        return verdict
    # An event that first follows at this level needs an earlier event of the level, and the clause must have one.
    if event <= m.level_first[level] or depth > DEEPEST:
        _judge(m, event, _NOT_IMPLIED)
        return _NOT_IMPLIED
    return 0


@kernel
def _open_frame(m: Any, depth: Any, event: Any, variable: Any, top: Any) -> None:
    """Start to judge an event by the reasons of `variable`; `m.reasons` is free from `top` on."""
    reason = m.trail[m.event_of[variable]].reason
    frame = m.frames[depth]
    frame.event = event
    if reason >= 0:
        frame.next = reason + HEADER + 1
        frame.end = reason + HEADER + m.clause[reason].size
        frame.in_clause = 1
        frame.top = top
    else:
        end = reasons_of(m, variable, top)
        frame.next = top
        frame.end = end
        frame.in_clause = 0
        frame.top = end


@kernel
def _is_implied(m: Any, variable: Any) -> Any:
    """Return whether the literal of `variable` in the clause follows from the other literals."""
    _open_frame(m, 0, -1, variable, 0)
    depth = 0
    while True:
        frame = m.frames[depth]
        place = frame.next
        if place == frame.end:
            if depth == 0:
                return True
            _judge(m, frame.event, _IMPLIED)
            depth -= 1
            continue
        frame.next = place + 1
        reason = m.arena[place] >> 1 if frame.in_clause else m.reasons[place]
        verdict = _known_verdict(m, reason, depth + 1)
        if verdict == _NOT_IMPLIED:
            while depth > 0:
                _judge(m, m.frames[depth].event, _NOT_IMPLIED)
                depth -= 1
            return False
        if verdict == 0:
            event = m.event_of[reason]
            depth += 1
            _open_frame(m, depth, event, m.trail[event].literal >> 1, frame.top)


@kernel
def _collect(m: Any, uip: Any) -> None:
    """Make the learned clause from the needed events, without those that the others imply."""
    present = m.level
    touched = m.touched_count
    # From here on only events in the clause count: events of the current level except the UIP are resolved.
    m.level_first[present] = uip
    kept = 0
    for i in range(touched):
        event = m.touched[i]
        level = m.event_level[event]
        if level < present:
            m.level_first[level] = min(m.level_first[level], event)
            m.touched[kept] = event
            kept += 1
        elif event != uip:
            m.seen[event] = 0
    m.judged_count = 0
    m.learned[0] = _falsified(m, m.needed[uip])
    size = 1
    for i in range(kept):
        event = m.touched[i]
        variable = m.needed[event]
        if event == m.level_first[m.event_level[event]] or not _is_implied(m, variable):
            m.learned[size] = _falsified(m, variable)
            size += 1
    m.learned_size = size
    for i in range(m.judged_count):
        m.verdict[m.judged[i]] = 0
    m.seen[uip] = 0
    m.level_first[present] = NEVER
    for i in range(kept):
        event = m.touched[i]
        m.seen[event] = 0
        m.level_first[m.event_level[event]] = NEVER


@kernel
def _level_of(m: Any, literal: Any) -> Any:
    return m.event_level[m.event_of[literal >> 1]]


@kernel
def _order(m: Any) -> Any:
    """Move the literal with the second highest level to second place, set the LBD, and return that level."""
    size = m.learned_size
    m.stamp += 1
    levels, second, highest = 0, 0, 0
    for i in range(size):
        level = _level_of(m, m.learned[i])
        if m.level_stamp[level] != m.stamp:
            m.level_stamp[level] = m.stamp
            levels += 1
        if i > 0 and level > highest:
            second, highest = i, level
    m.learned_lbd = levels
    if second > 0:
        literal = m.learned[second]
        m.learned[second] = m.learned[1]
        m.learned[1] = literal
    return highest


@kernel
def analyse(m: Any) -> Any:
    """Put the clause learned from the conflict into `m.learned`, and return the level to jump back to.

    The first literal is the one to assert. Before: `propagate_all` ended with a conflict at a level above 0.
    """
    m.touched_count = 0
    m.open_count = 0
    _touch_conflict(m)
    _collect(m, _find_uip(m))
    return _order(m)
