"""Reasons of values, as clauses for conflict analysis, made only when it needs them.

An automaton of the line explains a conclusion of the line kernel. Its pattern is the shortest placement of the
clue, 1..1 0 1..1 0 .. 1..1. A state is the number of pattern cells passed; at a gap, a white cell may keep it. The
forward sets use all known cells and the negated conclusion, so they do not reach the end. Then, from the end
backward, a known cell is dropped if the states before it, with the cell free, still miss the forward set. The
remaining cells are a minimal explanation.
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.champion.trail import BY_NEIGHBOUR, BY_RULE, FROM_RECORD, cell_of_line
from nonobot.bot.kernels.compiling import inlined, kernel
from nonobot.bot.kernels.masks import lowest


@kernel
def start_pattern(m: Any, line: Any) -> None:
    """Set the automaton of a line."""
    black, gap, white = m.none, m.one, m.none
    state = 0
    for block in range(m.blocks[line]):
        if block > 0:
            white |= m.one << state
            state += 1
            gap |= m.one << state
        m.pattern_start[line, block] = state
        size = m.clue[line, block]
        black |= ((m.one << size) - 1) << state
        state += size
    m.pattern_black[line] = black
    m.pattern_gap[line] = gap | (m.one << state)
    m.pattern_white[line] = white
    m.pattern_end[line] = m.one << state


@kernel
def _update_pattern(m: Any, line: Any) -> None:
    blocks, length = m.blocks[line], m.length[line]
    every = (m.pattern_end[line] << 1) - 1
    m.pattern_alive[line, 0] = m.one
    begun = 0  # blocks that start before the cell in any case
    for cell in range(1, length + 1):
        while begun < blocks and m.latest[line, begun] < cell:
            begun += 1
        alive = every
        if begun > 0:
            alive &= ~(((m.one << 1) << m.pattern_start[line, begun - 1]) - 1)
        m.pattern_alive[line, cell] = alive
    possible = blocks  # blocks from here on start at cell i or behind in any case
    i = length
    while i > 0:
        while possible > 0 and m.earliest[line, possible - 1] > i - 1:
            possible -= 1
        if possible < blocks:
            m.pattern_alive[line, i] &= ((m.one << 1) << m.pattern_start[line, possible]) - 1
        i -= 1


@kernel
def update_patterns(m: Any) -> None:
    """Put permanent knowledge into the automata, so that its bounds need no explanation."""
    for line in range(m.lines):
        _update_pattern(m, line)


@inlined
def _all_if(condition: Any) -> Any:
    """Return all ones if the lowest bit of `condition` is set, else 0."""
    return 0 - (condition & 1)


@kernel
def explain_line(m: Any, line: Any, black: Any, white: Any, target: Any, out: Any) -> Any:
    """Explain why a line has no placement with these cells, and return the end of the explanation.

    Not explained are cells in `target` (the negated conclusion), permanently known cells, and cells that are
    already in the learned clause. The variables of the other needed cells go to `m.reasons[out..]`.
    """
    length = m.length[line]
    blacks, gaps, whites = m.pattern_black[line], m.pattern_gap[line], m.pattern_white[line]
    free = m.root_known[line] | target
    known = black | white
    droppable = m.none
    candidates = known & ~free
    while candidates:
        i = lowest(candidates)
        candidates &= candidates - 1
        if not m.seen[m.event_of[cell_of_line(m, line, i)]]:
            droppable |= m.one << i

    states = m.one
    m.forward[0] = states
    for cell in range(length):
        by_black = (states & blacks) << 1
        by_white = (states & gaps) | ((states & whites) << 1)
        states = (by_black & _all_if(~white >> cell)) | (by_white & _all_if(~black >> cell))
        states &= m.pattern_alive[line, cell + 1]
        m.forward[cell + 1] = states

    states = m.pattern_end[line]
    needed = known & ~free
    i = length
    while i > 0:
        i -= 1
        by_black = (states >> 1) & blacks
        by_white = (states & gaps) | ((states >> 1) & whites)
        either = by_black | by_white
        if ((droppable >> i) & 1) and not either & m.forward[i]:
            needed &= ~(m.one << i)
            states = either
        else:
            states = (by_black & _all_if(~white >> i)) | (by_white & _all_if(~black >> i))
        states &= m.pattern_alive[line, i]

    while needed:
        m.reasons[out] = cell_of_line(m, line, lowest(needed))
        needed &= needed - 1
        out += 1
    return out


@kernel
def reasons_of(m: Any, variable: Any, out: Any) -> Any:
    """Put the variables that explain the value of `variable` into `m.reasons[out..]`, and return their end.

    Before: its reason is not a clause; the literals of a clause are already the explanation.
    """
    event = m.trail[m.event_of[variable]]
    reason = event.reason
    if reason == BY_RULE:
        if event.a >= 0:
            m.reasons[out] = event.a
            out += 1
        if event.b >= 0:
            m.reasons[out] = event.b
            out += 1
        return out
    if reason == BY_NEIGHBOUR:
        # The event may have moved the bound further than needed; then less is needed of the neighbour, and nothing
        # if it already follows at the root.
        line, block = m.bound_line[event.a], m.bound_block[event.a]
        place = m.bound_place[event.a] + variable - (event.literal >> 1)
        first = m.first[line, block]
        if first <= place < m.last[line, block]:
            m.reasons[out] = m.bound_base[line, block] + place - first
            out += 1
        return out
    record = m.records[FROM_RECORD - reason]
    line, black, white = record.line, record.black, record.white
    target = m.one << (m.column_of[variable] if line < m.height else m.row_of[variable])
    if m.value[2 * variable] > 0:
        white |= target
    else:
        black |= target
    return explain_line(m, line, black, white, target, out)
