"""Search with conflict learning: decide, propagate, learn, restart.

Decisions follow the beliefs for the first conflicts of an episode and activity (VSIDS) after that; values follow
the target: the beliefs at first, then the longest consistent trail since (target phases, Biere & Fleury 2020).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nonobot.bot.access import get, get2, put, put2, read, write
from nonobot.bot.bits import i64, lowest_bit, u64
from nonobot.bot.champion.control import is_late, is_on, lap
from nonobot.bot.champion.learning.analysis import analyse
from nonobot.bot.champion.learning.beliefs import believe, believe_anew
from nonobot.bot.champion.learning.clauses import add_learned, is_full_database, reduce_database, start_clauses
from nonobot.bot.champion.learning.events import BY_CHOICE, NONE, assign, backjump, push_cell
from nonobot.bot.champion.learning.explain import start_pattern, update_patterns
from nonobot.bot.champion.learning.fixpoint import propagate_all
from nonobot.bot.champion.learning.heap import heap_insert, heap_pop
from nonobot.bot.champion.moments import note
from nonobot.bot.champion.state import (
    ACTIVITY,
    ANALYSING,
    ASSIGNED,
    BELIEFS,
    BELIEVED_AT,
    BLOCKS,
    BOARD,
    BOUND_BASE,
    BOUND_BLOCK,
    BOUND_LINE,
    BOUND_MARGINAL,
    BOUND_PLACE,
    BUMP,
    CELL_BASE,
    CELL_STEP,
    CELLS,
    CONFLICTS,
    CONFLICTS_MET,
    COUNTS,
    DEADLINE,
    DECIDING,
    DECISIONS,
    DIRTY,
    EARLIEST,
    EPISODE_END,
    EVENT_LITERAL,
    EVENT_OLD,
    FIRST,
    GUESSED,
    HEAD,
    HEAP_PLACE,
    HEAP_SIZE,
    HEIGHT,
    INFERRING,
    LAST,
    LATE,
    LATEST,
    LEARNED,
    LEARNED_LBD,
    LEARNED_LITERALS,
    LEARNED_SIZE,
    LENGTH,
    LEVEL,
    LEVEL_STAMP,
    LEVEL_START,
    LINES,
    MARGINAL,
    MOST_ASSIGNED,
    MOST_LINES,
    NEXT_REDUCTION,
    NEXT_RESTART,
    PAINTED,
    RECORD_COUNT,
    REDUCTIONS_MADE,
    RESTARTED,
    RESTARTS,
    RESTARTS_MADE,
    ROOT,
    ROOT_CHANGED,
    ROOT_KNOWN,
    SEEN_CELLS,
    SIZE,
    SOLVED,
    STAMP,
    TAKEN_BACK,
    TARGET,
    TRAIL,
    TRAIL_SIZE,
    UNSOLVABLE,
    UPKEEP,
    VALUE,
    VALUE_PAIR,
    VARIABLES,
    WIDTH,
)
from nonobot.bot.jit import kernel

__all__ = ["learn", "start_learning"]

f32 = np.float32

ACTIVITY_DECAY = 0.97  # of VSIDS, for each conflict; 0.95 was less steady, 0.90 worse
RESTART_UNIT = 400  # conflicts; times Luby's sequence
FIRST_REDUCTION = 2000  # conflicts
REDUCTION_STEP = 300  # more conflicts to each further reduction
# An episode begins with fresh beliefs, at every other restart at first, and later seldom: on long puzzles the
# trail's target is worth more (docs/engine.md).
EPISODE_EVERY = 2  # restarts
SELDOM_AFTER = 24  # restarts
SELDOM_EVERY = 16  # restarts
EPISODE_CONFLICTS = 20  # of an episode that beliefs decide; 5 and 60 were worse
EPISODE_NOISE = f32(0.2)
SURE = f32(0.48)  # |probability - 1/2| below which a decision asks for a fresh sweep

_WHITE = u64(MOST_LINES)


@kernel
def _start_line(m: Any, line: Any) -> None:
    """Number the bound variables of a line and set their widest bounds."""
    height, width = i64(read(m, HEIGHT)), i64(read(m, WIDTH))
    is_row = line < height
    put(m, CELL_BASE, line, line * width if is_row else line - height)
    put(m, CELL_STEP, line, 1 if is_row else width)
    blocks = i64(get(m, BLOCKS, line))
    first = i64(0)
    for block in range(blocks):
        put2(m, FIRST, line, block, first)
        first += get2(m, SIZE, line, block) + 1
    slack = i64(get(m, LENGTH, line)) + 1 - first
    number = read(m, VARIABLES)
    for block in range(blocks):
        first = get2(m, FIRST, line, block)
        put2(m, BOUND_BASE, line, block, number)
        put2(m, EARLIEST, line, block, first)
        put2(m, LATEST, line, block, first + slack)
        put2(m, LAST, line, block, first + slack)
        for place in range(first, first + slack):
            put(m, BOUND_LINE, number, u64(line))
            put(m, BOUND_BLOCK, number, u64(block))
            put(m, BOUND_PLACE, number, place)
            number += 1
    write(m, VARIABLES, number)
    start_pattern(m, line)


@kernel
def _start(m: Any) -> None:
    """Make all state that of a search at level 0 that knows nothing but ROOT."""
    lines, height, width = i64(read(m, LINES)), i64(read(m, HEIGHT)), i64(read(m, WIDTH))
    write(m, VARIABLES, i64(read(m, CELLS)))
    for line in range(lines):
        _start_line(m, line)
        put(m, BOARD, line, u64(0))
        put(m, BOARD, _WHITE + u64(line), u64(0))
        put(m, ROOT_KNOWN, line, u64(0))
        put(m, SEEN_CELLS, line, u64(0))
    for variable in range(read(m, VARIABLES)):
        put(m, VALUE_PAIR, variable, u64(0))
        put(m, HEAP_PLACE, variable, -1)
        put(m, BOUND_MARGINAL, variable, f32(0.5))
    for level in range(read(m, VARIABLES) + 2):
        put(m, LEVEL_STAMP, level, 0)
    write(m, TRAIL_SIZE, 0)
    write(m, HEAD, 0)
    write(m, ASSIGNED, 0)
    write(m, LEVEL, 0)
    write(m, RECORD_COUNT, 0)
    write(m, HEAP_SIZE, 0)
    write(m, STAMP, 0)
    write(m, MOST_ASSIGNED, 0)
    write(m, BUMP, 1.0)
    write(m, ROOT_CHANGED, u64(1))
    start_clauses(m)
    for y in range(height):
        black, white = get(m, ROOT, y), get(m, ROOT, _WHITE + u64(y))
        while black:
            push_cell(m, 2 * (y * width + i64(lowest_bit(black))), BY_CHOICE, NONE, NONE, NONE)
            black &= black - u64(1)
        while white:
            push_cell(m, 2 * (y * width + i64(lowest_bit(white))) + 1, BY_CHOICE, NONE, NONE, NONE)
            white &= white - u64(1)
    # Every line once more, for the bounds.
    put(m, DIRTY, 0, (u64(1) << u64(height)) - u64(1))
    put(m, DIRTY, 1, (u64(1) << u64(width)) - u64(1))


@kernel
def _aim_at_beliefs(m: Any) -> None:
    """Make the likelier value of every variable its target."""
    cells = i64(read(m, CELLS))
    for cell in range(cells):
        put(m, TARGET, cell, u64(0) if get(m, MARGINAL, cell) > f32(0.5) else u64(1))
    for bound in range(cells, read(m, VARIABLES)):
        put(m, TARGET, bound, u64(0) if get(m, BOUND_MARGINAL, bound) > f32(0.5) else u64(1))


@kernel
def _aim_at_trail(m: Any) -> None:
    """Make the values of the trail before the last decision the targets, if it is the longest yet."""
    events = get(m, LEVEL_START, read(m, LEVEL) - 1)
    if events <= read(m, MOST_ASSIGNED):
        return
    write(m, MOST_ASSIGNED, events)
    cells = i64(read(m, CELLS))
    for event in range(events):
        literal = get2(m, TRAIL, event, EVENT_LITERAL)
        variable = literal >> 1
        if variable < cells:
            put(m, TARGET, variable, u64(literal & 1))
            continue
        old = variable - get(m, BOUND_PLACE, variable) + get(m, EVENT_OLD, event)
        if literal & 1:
            for each in range(old, variable + 1):
                put(m, TARGET, each, u64(1))
        else:
            for each in range(variable, old):
                put(m, TARGET, each, u64(0))


@kernel
def _start_heap(m: Any) -> None:
    cells = i64(read(m, CELLS))
    for variable in range(read(m, VARIABLES)):
        likely = get(m, MARGINAL, variable) if variable < cells else f32(0.5)
        put(m, ACTIVITY, variable, abs(likely - f32(0.5)) * 1e-3)
        if get(m, VALUE, 2 * variable) == 0:
            heap_insert(m, variable)


@kernel
def _surest_cell(m: Any) -> Any:
    """Return the unknown cell that the beliefs are surest of, and how sure; NONE if all are known."""
    width = read(m, WIDTH)
    every = (u64(1) << width) - u64(1)
    best, best_bias = NONE, f32(-1)
    for y in range(read(m, HEIGHT)):
        unknown = every & ~(get(m, BOARD, y) | get(m, BOARD, _WHITE + y))
        while unknown:
            cell = y * width + lowest_bit(unknown)
            unknown &= unknown - u64(1)
            bias = abs(get(m, MARGINAL, cell) - f32(0.5))
            if bias > best_bias:
                best, best_bias = i64(cell), bias
    return best, best_bias


@kernel
def _decide_by_belief(m: Any, is_fresh: Any) -> Any:
    """Return the cell to decide, or NONE; `is_fresh`: the beliefs are not older than the last conflict."""
    cell, bias = NONE, f32(-1)
    if is_fresh:
        cell, bias = _surest_cell(m)
    if cell < 0 or bias < SURE:
        believe(m)
        for each in range(i64(read(m, CELLS))):
            if get(m, VALUE, 2 * each) == 0:
                put(m, TARGET, each, u64(0) if get(m, MARGINAL, each) > f32(0.5) else u64(1))
        cell, bias = _surest_cell(m)
    return cell


@kernel
def _decide_by_activity(m: Any) -> Any:
    """Return the most active unknown variable; there is one."""
    while True:
        variable = heap_pop(m)
        if get(m, VALUE, 2 * variable) == 0:
            return variable


@kernel
def _open_level(m: Any) -> None:
    level = read(m, LEVEL)
    if level == 0 and read(m, ROOT_CHANGED):
        update_patterns(m)
        write(m, ROOT_CHANGED, u64(0))
    put(m, LEVEL_START, level, read(m, TRAIL_SIZE))
    write(m, LEVEL, level + 1)


@kernel
def _luby(i: Any) -> Any:
    """Return item i (from 1) of Luby's sequence 1 1 2 1 1 2 4 ..."""
    k = i64(1)
    while (i64(1) << k) - 1 < i:
        k += 1
    while (i64(1) << k) - 1 != i:
        i -= (i64(1) << (k - 1)) - 1
        k = i64(1)
        while (i64(1) << k) - 1 < i:
            k += 1
    return i64(1) << (k - 1)


@kernel
def _count(m: Any, which: Any, more: Any) -> None:
    put(m, COUNTS, which, get(m, COUNTS, which) + u64(more))


@kernel
def _learn_from_conflict(m: Any) -> None:
    _aim_at_trail(m)
    level = analyse(m)
    backjump(m, level)
    reason = BY_CHOICE if read(m, LEARNED_SIZE) == 1 else add_learned(m)
    assign(m, get(m, LEARNED, 0), reason)
    write(m, BUMP, read(m, BUMP) / ACTIVITY_DECAY)
    _count(m, LEARNED_LITERALS, read(m, LEARNED_SIZE))


@kernel
def _start_episode(m: Any, noise: Any) -> None:
    """Form the beliefs anew, aim at them, and let them decide for a while."""
    believe_anew(m, noise)
    _aim_at_beliefs(m)
    write(m, EPISODE_END, read(m, CONFLICTS_MET) + EPISODE_CONFLICTS)
    write(m, BELIEVED_AT, -1)


@kernel
def _restart(m: Any) -> Any:
    """Go back to level 0; every other time start an episode. False if there is no solution."""
    restarts = read(m, RESTARTS_MADE) + 1
    write(m, RESTARTS_MADE, restarts)
    _count(m, RESTARTS, 1)
    write(m, NEXT_RESTART, read(m, CONFLICTS_MET) + RESTART_UNIT * _luby(restarts + 1))
    backjump(m, 0)
    if restarts % (EPISODE_EVERY if restarts < SELDOM_AFTER else SELDOM_EVERY) == 1:
        write(m, MOST_ASSIGNED, 0)
        if not propagate_all(m):
            return False
        if is_on(m, BELIEFS):
            _start_episode(m, EPISODE_NOISE)
    return True


@kernel
def _reduce(m: Any) -> Any:
    """Delete clauses; False if there is no room left all the same."""
    reductions = read(m, REDUCTIONS_MADE) + 1
    write(m, REDUCTIONS_MADE, reductions)
    write(m, NEXT_REDUCTION, read(m, CONFLICTS_MET) + FIRST_REDUCTION + REDUCTION_STEP * reductions)
    reduce_database(m)
    return not is_full_database(m)


@kernel
def _decide(m: Any) -> None:
    """Open a level with the next decision; a variable is unknown."""
    variable = NONE
    conflicts = read(m, CONFLICTS_MET)
    if conflicts < read(m, EPISODE_END):
        variable = _decide_by_belief(m, read(m, BELIEVED_AT) == conflicts)
        write(m, BELIEVED_AT, conflicts)
    if variable < 0:
        variable = _decide_by_activity(m)
    _count(m, DECISIONS, 1)
    _open_level(m)
    assign(m, 2 * variable + i64(get(m, TARGET, variable)), BY_CHOICE)


@kernel
def _exclude_solution(m: Any) -> Any:
    """Make another solution than the present one be looked for; False if there is no other.

    Every variable follows from the decisions, so that another solution breaks at least one of them.
    """
    level = read(m, LEVEL)
    if level == 0:
        return False
    for each in range(level):
        decision = get2(m, TRAIL, get(m, LEVEL_START, level - 1 - each), EVENT_LITERAL)
        put(m, LEARNED, each, decision ^ 1)
    write(m, LEARNED_SIZE, level)
    write(m, LEARNED_LBD, 0)  # never deleted
    backjump(m, level - 1)
    reason = BY_CHOICE if level == 1 else add_learned(m)
    assign(m, get(m, LEARNED, 0), reason)
    return True


@kernel
def start_learning(m: Any) -> Any:
    """Prepare a search from ROOT; False if there is no solution."""
    _start(m)
    if not propagate_all(m):
        return False
    write(m, CONFLICTS_MET, 0)
    write(m, RESTARTS_MADE, 0)
    write(m, REDUCTIONS_MADE, 0)
    write(m, NEXT_RESTART, RESTART_UNIT)
    write(m, NEXT_REDUCTION, FIRST_REDUCTION)
    write(m, EPISODE_END, 0)
    believe_anew(m, f32(0))
    _aim_at_beliefs(m)
    _start_heap(m)
    if is_on(m, BELIEFS):
        write(m, EPISODE_END, EPISODE_CONFLICTS)
        write(m, BELIEVED_AT, -1)
    return True


@kernel
def learn(m: Any, resume: Any) -> Any:
    """Search until a solution is found, there is none, or the time is up.

    Before: `start_learning` was called; with `resume` the last call found a solution, and another is wanted.
    After: SOLVED, and BOARD is a solution; or UNSOLVABLE: there is no (other) solution; or LATE.
    """
    if resume and (is_late(m) or (is_full_database(m) and not _reduce(m))):
        return LATE
    if resume and not _exclude_solution(m):
        return UNSOLVABLE
    variables = read(m, VARIABLES)
    while True:
        consistent = propagate_all(m)
        now = lap(m, INFERRING)
        if not consistent:
            if read(m, LEVEL) == 0:
                return UNSOLVABLE
            write(m, CONFLICTS_MET, read(m, CONFLICTS_MET) + 1)
            _count(m, CONFLICTS, 1)
            _learn_from_conflict(m)
            if is_full_database(m) and not _reduce(m):
                return LATE
            note(m, TAKEN_BACK)
            lap(m, ANALYSING)
        elif read(m, ASSIGNED) == variables:
            note(m, PAINTED)
            return SOLVED
        elif now > read(m, DEADLINE):
            return LATE
        elif read(m, CONFLICTS_MET) >= read(m, NEXT_RESTART):
            if not _restart(m):
                return UNSOLVABLE
            note(m, RESTARTED)
            lap(m, UPKEEP)
        elif read(m, CONFLICTS_MET) >= read(m, NEXT_REDUCTION):
            if not _reduce(m):
                return LATE
            lap(m, UPKEEP)
        else:
            note(m, PAINTED)
            _decide(m)
            note(m, GUESSED)
            lap(m, DECIDING)
