"""Why did a variable get its value? Explanations are made only when the analysis of a conflict asks.

The line kernel's conclusions are explained by running the line as an automaton. Its pattern is the least
placement of the clue, 1..1 0 1..1 0 .. 1..1, and a state is the number of pattern cells behind; a white cell may
stay in a state at a gap. Forward sets are made with all known cells and the negated conclusion: the end is not
reached. Going backward, a known cell is dropped wherever the states before it, with the cell free, still miss the
forward set. What is left is a minimal explanation.
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.access import get, get2, put, put2, read
from nonobot.bot.bits import i64, lowest_bit, u64
from nonobot.bot.champion.learning.events import BY_NEIGHBOUR, BY_RULE, FROM_RECORD, cell_of_line
from nonobot.bot.champion.state import (
    BLOCKS,
    COLUMN_OF,
    EARLIEST,
    EVENT_A,
    EVENT_B,
    EVENT_LITERAL,
    EVENT_OF,
    EVENT_REASON,
    FIRST,
    FORWARD,
    HEIGHT,
    LATEST,
    LENGTH,
    LINES,
    PATTERN_ALIVE,
    PATTERN_BLACK,
    PATTERN_END,
    PATTERN_GAP,
    PATTERN_WHITE,
    REASONS,
    RECORDS,
    ROOT_KNOWN,
    ROW_OF,
    SEEN_CELLS,
    SIZE,
    TRAIL,
    VALUE,
)
from nonobot.bot.jit import inlined, kernel

__all__ = ["explain_line", "reasons_of", "start_pattern", "update_patterns"]


@kernel
def start_pattern(m: Any, line: Any) -> None:
    """Set the automaton of a line."""
    black, gap, white = u64(0), u64(1), u64(0)
    state = u64(0)
    for block in range(i64(get(m, BLOCKS, line))):
        if block > 0:
            white |= u64(1) << state
            state += u64(1)
            gap |= u64(1) << state
        for _ in range(get2(m, SIZE, line, block)):
            black |= u64(1) << state
            state += u64(1)
    put(m, PATTERN_BLACK, line, black)
    put(m, PATTERN_GAP, line, gap | (u64(1) << state))
    put(m, PATTERN_WHITE, line, white)
    put(m, PATTERN_END, line, u64(1) << state)


@kernel
def _update_pattern(m: Any, line: Any) -> None:
    blocks, length = i64(get(m, BLOCKS, line)), i64(get(m, LENGTH, line))
    every = (get(m, PATTERN_END, line) << u64(1)) - u64(1)
    put2(m, PATTERN_ALIVE, line, 0, u64(1))
    begun = i64(0)  # blocks that start before the cell in any case
    for cell in range(1, length + 1):
        while begun < blocks and get2(m, LATEST, line, begun) < cell:
            begun += 1
        alive = every
        if begun > 0:
            alive &= ~((u64(2) << u64(get2(m, FIRST, line, begun - 1))) - u64(1))
        put2(m, PATTERN_ALIVE, line, cell, alive)
    possible = blocks  # blocks from here on start at cell i or behind in any case
    i = i64(length)
    while i > 0:
        while possible > 0 and get2(m, EARLIEST, line, possible - 1) > i - 1:
            possible -= 1
        if possible < blocks:
            reached = (u64(2) << u64(get2(m, FIRST, line, possible))) - u64(1)
            put2(m, PATTERN_ALIVE, line, i, get2(m, PATTERN_ALIVE, line, i) & reached)
        i -= 1


@kernel
def update_patterns(m: Any) -> None:
    """Take over what is known for good into the automata: bounds need no explanation then."""
    for line in range(i64(read(m, LINES))):
        _update_pattern(m, line)


@inlined
def _all_if(condition: Any) -> Any:
    """Return all ones if the lowest bit of `condition` is set, else 0."""
    return u64(0) - (condition & u64(1))


@kernel
def explain_line(m: Any, line: Any, black: Any, white: Any, target: Any, out: Any) -> Any:
    """Explain why a line has no placement with these cells, and return the end of the explanation.

    Cells in `target` (the negated conclusion) are part of the question; cells known for good come free, and so do
    cells that the learned clause has already. The variables of the others needed go to REASONS[out..].
    """
    length = u64(get(m, LENGTH, line))
    blacks, gaps, whites = get(m, PATTERN_BLACK, line), get(m, PATTERN_GAP, line), get(m, PATTERN_WHITE, line)
    free = get(m, ROOT_KNOWN, line) | target
    known = black | white
    droppable = known & ~free & ~get(m, SEEN_CELLS, line)

    states = u64(1)
    put(m, FORWARD, 0, states)
    for cell in range(length):
        by_black = (states & blacks) << u64(1)
        by_white = (states & gaps) | ((states & whites) << u64(1))
        states = (by_black & _all_if(~white >> cell)) | (by_white & _all_if(~black >> cell))
        states &= get2(m, PATTERN_ALIVE, line, cell + u64(1))
        put(m, FORWARD, cell + u64(1), states)

    states = get(m, PATTERN_END, line)
    needed = known & ~free
    i = u64(length)
    while i > u64(0):
        i -= u64(1)
        by_black = (states >> u64(1)) & blacks
        by_white = (states & gaps) | ((states >> u64(1)) & whites)
        either = by_black | by_white
        if ((droppable >> i) & u64(1)) and (either & get(m, FORWARD, i)) == u64(0):
            needed &= ~(u64(1) << i)
            states = either
        else:
            states = (by_black & _all_if(~white >> i)) | (by_white & _all_if(~black >> i))
        states &= get2(m, PATTERN_ALIVE, line, i)

    while needed:
        put(m, REASONS, out, cell_of_line(m, line, i64(lowest_bit(needed))))
        needed &= needed - u64(1)
        out += 1
    return out


@kernel
def reasons_of(m: Any, variable: Any, out: Any) -> Any:
    """Put the variables that explain the value of `variable` into REASONS[out..], and return their end.

    Before: its reason is no clause, whose literals are the explanation as they stand.
    """
    event = get(m, EVENT_OF, variable)
    reason = get2(m, TRAIL, event, EVENT_REASON)
    a = get2(m, TRAIL, event, EVENT_A)
    if reason == BY_RULE:
        b = get2(m, TRAIL, event, EVENT_B)
        if a >= 0:
            put(m, REASONS, out, a)
            out += 1
        if b >= 0:
            put(m, REASONS, out, b)
            out += 1
        return out
    if reason == BY_NEIGHBOUR:
        # The event may have moved the bound further than is asked for: so much less is needed of the neighbour.
        put(m, REASONS, out, a + variable - (get2(m, TRAIL, event, EVENT_LITERAL) >> 1))
        return out + 1
    record = FROM_RECORD - reason
    line = i64(get2(m, RECORDS, record, 2))
    black, white = get2(m, RECORDS, record, 0), get2(m, RECORDS, record, 1)
    is_row = line < i64(read(m, HEIGHT))
    target = u64(1) << (get(m, COLUMN_OF, variable) if is_row else get(m, ROW_OF, variable))
    if get(m, VALUE, 2 * variable) > 0:
        white |= target
    else:
        black |= target
    return explain_line(m, line, black, white, target, out)
