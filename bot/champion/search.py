"""Search with conflict learning: decide, propagate, learn, restart.

Decisions follow the beliefs for the first conflicts after a rephase, and activity (VSIDS) after that. Values
follow the beliefs if these are nearly certain, otherwise the target: at first the beliefs, then the longest
consistent trail since (target phases, Biere & Fleury 2020).

A backjump takes back decisions that are unrelated to the conflict. Most of them are made again in the same order,
so that the search stays at its place, as with chronological backtracking (Nadel & Ryvchin 2018). But the literal
that the learned clause implies is set at the level of the backjump.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nonobot.bot.board import end_phase, is_budget_spent, is_on, known_cells, trace
from nonobot.bot.champion.analysis import analyse
from nonobot.bot.champion.clauses import add_learned, is_full_database, reduce_database, start_clauses
from nonobot.bot.champion.guidance import believe, believe_anew
from nonobot.bot.champion.heap import heap_insert, heap_pop
from nonobot.bot.champion.propagate import propagate_all
from nonobot.bot.champion.reasons import start_pattern, update_patterns
from nonobot.bot.champion.state import OUTCOME, PHASE, STAGE
from nonobot.bot.champion.trail import BY_CHOICE, NEVER, NONE, assign, backjump, push_cell
from nonobot.bot.kernels.compiling import kernel
from nonobot.bot.kernels.masks import highest, lowest
from nonobot.bot.line import paint
from nonobot.bot.result import TraceEvent

f32 = np.float32

ACTIVITY_DECAY = 0.97  # of VSIDS, for each conflict; 0.95 was less steady, 0.90 worse
RESTART_UNIT = 400  # conflicts; times Luby's sequence
FIRST_REDUCTION = 2000  # conflicts
REDUCTION_STEP = 300  # more conflicts to each further reduction
# A rephase forms the beliefs again, at every other restart at first, and later seldom: on long puzzles the
# trail's target is worth more (docs/engine.md).
REPHASE_EVERY = 2  # restarts
SELDOM_AFTER = 24  # restarts
SELDOM_EVERY = 16  # restarts
BELIEF_CONFLICTS = 20  # after a rephase that beliefs decide; 5 and 60 were worse
REPHASE_NOISE = f32(0.2)
RECONSIDERED = 20  # levels before a conflict whose decisions are not made again; 10 and 30 saved fewer conflicts
NUMBERED_WHOLE = 62
"""Longest side of boards whose bounds are numbered from the empty line; larger ones have room only for the bounds
that the root leaves open."""

# |probability - 1/2| below which a decision asks for a fresh sweep. Up to the first conflict all do: where the
# search comes to first decides much of what follows (docs/engine.md).
SURE = f32(0.48)
TRUSTED = f32(0.4)  # and above which the value of a decision by activity is what the last beliefs say


@kernel
def _set_bounds(m: Any, line: Any) -> None:
    """Set `first` and `last` of a line's blocks: the bounds on an empty line, of a large board at the root."""
    blocks = m.blocks[line]
    first = 0
    for block in range(blocks):
        m.first[line, block] = first
        first += m.clue[line, block] + 1
    slack = m.length[line] + 1 - first
    for block in range(blocks):
        m.last[line, block] = m.first[line, block] + slack
    if max(m.width, m.height) > NUMBERED_WHOLE:
        paint(m, line, m.root.black[line], m.root.white[line])
        for block in range(blocks):
            m.first[line, block] = lowest(m.starts[block])
            m.last[line, block] = highest(m.starts[block])


@kernel
def _start_line(m: Any, line: Any) -> Any:
    """Number the bound variables of a line; False if the memory has no room for them."""
    height, width = m.height, m.width
    is_row = line < height
    m.cell_base[line] = line * width if is_row else line - height
    m.cell_step[line] = 1 if is_row else width
    _set_bounds(m, line)
    number = m.variables
    for block in range(m.blocks[line]):
        first, last = m.first[line, block], m.last[line, block]
        if number + last - first > m.most_variables:
            return False
        m.bound_base[line, block] = number
        m.earliest[line, block] = first
        m.latest[line, block] = last
        for place in range(first, last):
            m.bound_line[number] = line
            m.bound_block[number] = block
            m.bound_place[number] = place
            number += 1
    m.variables = number
    start_pattern(m, line)
    return True


@kernel
def _start(m: Any) -> Any:
    """Reset all state to a search that starts from the root; False if the memory has no room for it."""
    lines, height, width = m.lines, m.height, m.width
    m.variables = m.cells
    for line in range(lines):
        if not _start_line(m, line):
            return False
        m.board.black[line] = m.none
        m.board.white[line] = m.none
        m.root_known[line] = m.none
    for variable in range(m.variables):
        m.value_pair[variable] = 0
        m.heap_place[variable] = -1
        m.bound_marginal[variable] = f32(0.5)
    for level in range(m.variables + 2):
        m.level_stamp[level] = 0
        m.level_first[level] = NEVER
    m.trail_size = 0
    m.head = 0
    m.assigned = 0
    m.level = 0
    m.record_count = 0
    m.heap_size = 0
    m.stamp = 0
    m.most_assigned = 0
    m.bump = 1.0
    m.root_changed = 1
    start_clauses(m)
    for y in range(height):
        black, white = m.root.black[y], m.root.white[y]
        while black:
            push_cell(m, 2 * (y * width + lowest(black)), BY_CHOICE, NONE, NONE, NONE)
            black &= black - 1
        while white:
            push_cell(m, 2 * (y * width + lowest(white)) + 1, BY_CHOICE, NONE, NONE, NONE)
            white &= white - 1
    # Paint every line once: the root has no reasons.
    m.dirty.rows = (m.one << height) - 1
    m.dirty.columns = (m.one << width) - 1
    return True


@kernel
def _likelihood(m: Any, variable: Any) -> Any:
    """Return the probability that a variable is true, by the latest beliefs."""
    return m.marginal[variable] if variable < m.cells else m.bound_marginal[variable]


@kernel
def _aim_at_beliefs(m: Any) -> None:
    """Set the target of every variable to its likelier value."""
    for variable in range(m.variables):
        m.target[variable] = 0 if _likelihood(m, variable) > f32(0.5) else 1


@kernel
def _aim_at_trail(m: Any) -> None:
    """Make the values of the trail before the last decision the targets, if it is the longest yet."""
    events = m.level_start[m.level - 1]
    if events <= m.most_assigned:
        return
    m.most_assigned = events
    cells = m.cells
    for event in range(events):
        literal = m.trail[event].literal
        variable = literal >> 1
        if variable < cells:
            m.target[variable] = literal & 1
            continue
        old = variable - m.bound_place[variable] + m.event_old[event]
        if literal & 1:
            for bound in range(old, variable + 1):
                m.target[bound] = 1
        else:
            for bound in range(variable, old):
                m.target[bound] = 0


@kernel
def _start_heap(m: Any) -> None:
    cells = m.cells
    for variable in range(m.variables):
        likely = m.marginal[variable] if variable < cells else f32(0.5)
        m.activity[variable] = np.float64(abs(likely - f32(0.5))) * 1e-3
        if m.value[2 * variable] == 0:
            heap_insert(m, variable)


@kernel
def _surest_cell(m: Any) -> Any:
    """Return the unknown cell with the strongest belief, and that strength; NONE if all are known."""
    width = m.width
    every = (m.one << width) - 1
    best, best_bias = NONE, f32(-1)
    for y in range(m.height):
        unknown = every & ~known_cells(m, y)
        while unknown:
            cell = y * width + lowest(unknown)
            unknown &= unknown - 1
            bias = abs(m.marginal[cell] - f32(0.5))
            if bias > best_bias:
                best, best_bias = cell, bias
    return best, best_bias


@kernel
def _decide_by_belief(m: Any, is_fresh: Any) -> Any:
    """Return a literal to decide, or NONE; `is_fresh`: beliefs that are sure need not be formed again."""
    cell, bias = NONE, f32(-1)
    if is_fresh:
        cell, bias = _surest_cell(m)
    if cell < 0 or bias < SURE:
        believe(m)
        for variable in range(m.cells):
            if m.value[2 * variable] == 0:
                m.target[variable] = 0 if m.marginal[variable] > f32(0.5) else 1
        cell, bias = _surest_cell(m)
    return NONE if cell < 0 else 2 * cell + m.target[cell]


@kernel
def _save_replay(m: Any, level: Any) -> None:
    """Note the decisions above `level` that are to be made again: all but the last ones."""
    end = m.level - RECONSIDERED
    for replayed in range(level, end):
        m.replay[replayed] = m.trail[m.level_start[replayed]].literal
    m.replay_next, m.replay_end = level, end


@kernel
def _next_replayed(m: Any) -> Any:
    """Return the next decision to make again, or NONE."""
    while m.replay_next < m.replay_end:
        literal = m.replay[m.replay_next]
        m.replay_next += 1
        if m.value[literal] == 0:
            return literal
    return NONE


@kernel
def _decide_by_activity(m: Any) -> Any:
    """Return a literal of the most active unknown variable: with its nearly certain value, or its target."""
    while True:
        variable = heap_pop(m)
        if m.value[2 * variable] == 0:
            likely = _likelihood(m, variable)
            if abs(likely - f32(0.5)) > TRUSTED and is_on(m, STAGE.beliefs):
                return 2 * variable + (likely < f32(0.5))
            return 2 * variable + m.target[variable]


@kernel
def _open_level(m: Any) -> None:
    level = m.level
    if level == 0 and m.root_changed:
        update_patterns(m)
        m.root_changed = 0
    m.level_start[level] = m.trail_size
    m.level = level + 1


@kernel
def _luby(i: Any) -> Any:
    """Return item i (from 1) of Luby's sequence 1 1 2 1 1 2 4 ..."""
    k = 1
    while (1 << k) - 1 < i:
        k += 1
    while (1 << k) - 1 != i:
        i -= (1 << (k - 1)) - 1
        k = 1
        while (1 << k) - 1 < i:
            k += 1
    return 1 << (k - 1)


@kernel
def _learn_from_conflict(m: Any) -> None:
    _aim_at_trail(m)
    level = analyse(m)
    _save_replay(m, level)
    backjump(m, level)
    reason = BY_CHOICE if m.learned_size == 1 else add_learned(m)
    assign(m, m.learned[0], reason)
    m.bump /= ACTIVITY_DECAY
    m.counts.learned_literals += m.learned_size


@kernel
def _rephase(m: Any, noise: Any) -> None:
    """Compute the beliefs again, make them the targets, and let them decide for a while."""
    believe_anew(m, noise)
    _aim_at_beliefs(m)
    m.belief_end = m.conflicts_met + BELIEF_CONFLICTS
    m.believed_at = -1


@kernel
def _restart(m: Any) -> Any:
    """Go back to level 0, and rephase at some restarts; False if the puzzle has no solution."""
    m.restarts_made += 1
    m.counts.restarts += 1
    restarts = m.restarts_made
    m.next_restart = m.conflicts_met + RESTART_UNIT * _luby(restarts + 1)
    m.replay_end = 0
    backjump(m, 0)
    if restarts % (REPHASE_EVERY if restarts < SELDOM_AFTER else SELDOM_EVERY) == 1:
        m.most_assigned = 0
        if not propagate_all(m):
            return False
        if is_on(m, STAGE.beliefs):
            _rephase(m, REPHASE_NOISE)
    return True


@kernel
def _reduce(m: Any) -> Any:
    """Delete clauses; False if the database is still full."""
    m.reductions_made += 1
    m.next_reduction = m.conflicts_met + FIRST_REDUCTION + REDUCTION_STEP * m.reductions_made
    reduce_database(m)
    return not is_full_database(m)


@kernel
def _decide(m: Any) -> None:
    """Open a level with the next decision. Before: a variable is unknown."""
    decision = NONE
    conflicts = m.conflicts_met
    if conflicts < m.belief_end:
        decision = _decide_by_belief(m, conflicts > 0 and m.believed_at == conflicts)
        m.believed_at = conflicts
    if decision < 0:
        decision = _next_replayed(m)
    if decision < 0:
        decision = _decide_by_activity(m)
    m.counts.decisions += 1
    _open_level(m)
    assign(m, decision, BY_CHOICE)


@kernel
def _exclude_solution(m: Any) -> Any:
    """Exclude the current solution, since others break one of its decisions; False if there are no others."""
    level = m.level
    if level == 0:
        return False
    for i in range(level):
        decision = m.trail[m.level_start[level - 1 - i]].literal
        m.learned[i] = decision ^ 1
    m.learned_size = level
    m.learned_lbd = 0  # never deleted
    backjump(m, level - 1)
    reason = BY_CHOICE if level == 1 else add_learned(m)
    assign(m, m.learned[0], reason)
    return True


@kernel
def start_learning(m: Any) -> Any:
    """Prepare a search from the root, and return an OUTCOME: open, unsolvable, or too large."""
    if not _start(m):
        return OUTCOME.too_large
    if not propagate_all(m):
        return OUTCOME.unsolvable
    trace(m, TraceEvent.RESTARTED)
    m.conflicts_met = 0
    m.restarts_made = 0
    m.reductions_made = 0
    m.replay_end = 0
    m.next_restart = RESTART_UNIT
    m.next_reduction = FIRST_REDUCTION
    m.belief_end = 0
    believe_anew(m, f32(0))
    _aim_at_beliefs(m)
    _start_heap(m)
    if is_on(m, STAGE.beliefs):
        m.belief_end = BELIEF_CONFLICTS
        m.believed_at = -1
    return OUTCOME.open


@kernel
def learn(m: Any, resume: Any) -> Any:
    """Search until a solution is found, the search space is exhausted, or the time is up.

    Before: `start_learning` was called; with `resume`, the last call found a solution, and another one is wanted.
    After: OUTCOME.solved, and the board is a solution; or unsolvable, if there is no (further) one; or late.
    """
    if resume and (is_budget_spent(m) or (is_full_database(m) and not _reduce(m))):
        return OUTCOME.late
    if resume and not _exclude_solution(m):
        return OUTCOME.unsolvable
    variables = m.variables
    while True:
        consistent = propagate_all(m)
        now = end_phase(m, PHASE.learning_propagation)
        if not consistent:
            if m.level == 0:
                return OUTCOME.unsolvable
            m.conflicts_met += 1
            m.counts.conflicts += 1
            _learn_from_conflict(m)
            if is_full_database(m) and not _reduce(m):
                return OUTCOME.late
            trace(m, TraceEvent.TAKEN_BACK)
            end_phase(m, PHASE.learning_analysis)
        elif m.assigned == variables:
            trace(m, TraceEvent.PAINTED)
            return OUTCOME.solved
        elif now > m.deadline or m.counts.line_solves > m.most_lines:
            return OUTCOME.late
        elif m.conflicts_met >= m.next_restart:
            if not _restart(m):
                return OUTCOME.unsolvable
            trace(m, TraceEvent.RESTARTED)
            end_phase(m, PHASE.learning_upkeep)
        elif m.conflicts_met >= m.next_reduction:
            if not _reduce(m):
                return OUTCOME.late
            end_phase(m, PHASE.learning_upkeep)
        else:
            trace(m, TraceEvent.PAINTED)
            _decide(m)
            trace(m, TraceEvent.GUESSED)
            end_phase(m, PHASE.learning_decisions)
