"""Backtracking over fully probed boards, branching by Min-logd.

Wu et al. 2013: at each node the board is fully probed; then the cell with the best score is chosen, and the grid
that its probe left becomes the child, without any further propagation.
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.bits import i64, now_ns, u64
from nonobot.bot.jit import entry, kernel
from nonobot.bot.papers.probing import CONFLICT, OPEN, OUT_OF_TIME, SOLVED, fully_probe, is_unknown, take_over
from nonobot.bot.papers.propagation import copy_grid, propagate
from nonobot.bot.papers.state import (
    BACKTRACKS,
    BLACK,
    BRANCHING,
    GUESSED,
    LOG_UNIT_BITS,
    NODES,
    PROBING,
    PROPAGATING,
    TAKEN_BACK,
    WHITE,
    State,
    note,
)

__all__ = ["EXHAUSTED", "FOUND", "LATE", "deduce_kernel", "search_kernel"]

FOUND, EXHAUSTED, LATE = u64(0), u64(1), u64(2)
"""How a search ended: a solution, no (further) solution, out of time."""


@kernel
def _start(state: State, solver: Any, width: Any, height: Any) -> Any:
    """Propagate all lines of the board to start from; False on a conflict."""
    grid, dirty, seen = state.grid, state.dirty, state.seen
    copy_grid(grid, state.start)
    dirty[0] = (u64(1) << height) - u64(1)
    dirty[1] = (u64(1) << width) - u64(1)
    _make_stale(state)
    return propagate(state, solver, height, grid, dirty, seen, True)


@kernel
def _lap(state: State, step: Any) -> None:
    """Add the time since the last lap to that of `step`."""
    now = now_ns()
    state.spent[step] += now - state.lap[0]
    state.lap[0] = now


@kernel
def _make_stale(state: State) -> None:
    fresh = state.fresh
    for cell in range(u64(fresh.shape[0])):
        fresh[cell] = u64(0)


@kernel
def _best_cell(state: State, width: Any, height: Any) -> Any:
    """Return the unknown cell with the highest Min-logd score: min + |log(1 + m0) - log(1 + m1)|.

    m0 and m1 are the numbers of cells that the two probes painted (Wu et al. 2013).
    """
    grid, painted, log_table = state.grid, state.side_painted, state.log_table
    best: Any = u64(0)
    best_score = i64(-1)
    for cell in range(width * height):
        if is_unknown(grid, width, cell):
            black, white = painted[u64(2) * cell + BLACK], painted[u64(2) * cell + WHITE]
            score = (i64(min(black, white)) << LOG_UNIT_BITS) + abs(log_table[black] - log_table[white])
            if score > best_score:
                best, best_score = cell, score
    return best


@kernel
def _branch(state: State, width: Any, height: Any) -> None:
    """Choose a cell, go down to the colour that paints more, and keep the other for later."""
    cell = _best_cell(state, width, height)
    first, second = u64(2) * cell + BLACK, u64(2) * cell + WHITE
    if state.side_painted[first] < state.side_painted[second]:
        first, second = second, first
    other, grid, probed = state.stack[state.depth[0]], state.grid, state.side_grid[second]
    state.depth[0] += u64(1)
    # Both children are fixpoints as they are: a fresh probe painted no line that has changed since.
    for line in range(height + width):
        other[BLACK, line] = grid[BLACK, line] | probed[BLACK, line]
        other[WHITE, line] = grid[WHITE, line] | probed[WHITE, line]
    take_over(state, width, height, state.side_grid[first])
    note(state, grid, GUESSED)


@kernel
def _backtrack(state: State) -> Any:
    """Go back to the last colour not tried yet; False if there is none."""
    if state.depth[0] == u64(0):
        return False
    state.depth[0] -= u64(1)
    copy_grid(state.grid, state.stack[state.depth[0]])
    _make_stale(state)
    note(state, state.grid, TAKEN_BACK)
    state.counts[BACKTRACKS] += u64(1)
    return True


@entry
def search_kernel(
    state: State, solver: Any, level: Any, width: Any, height: Any, deadline: Any, resume: Any
) -> Any:
    """Search for the first solution, or with `resume` for the next one.

    Before: the clues are in `state`; with `resume` the last call returned FOUND.
    After: FOUND, the solution is `state.grid`; or EXHAUSTED, there is no (further) solution; or LATE.

    Parameters
    ----------
    state : State
    solver, level, width, height : uint64
        As for :func:`nonobot.bot.papers.probing.fully_probe`.
    deadline : int64
        Nanoseconds on the clock of `now_ns`.
    resume : bool
    """
    state.lap[0] = now_ns()
    if resume:
        alive = _backtrack(state)
    else:
        state.depth[0] = u64(0)
        alive = _start(state, solver, width, height)
        _lap(state, PROPAGATING)
    while alive:
        state.counts[NODES] += u64(1)
        found = fully_probe(state, solver, level, width, height, deadline)
        _lap(state, PROBING)
        if found == SOLVED:
            return FOUND
        if found == OUT_OF_TIME:
            return LATE
        if found == OPEN:
            _branch(state, width, height)
        else:
            alive = _backtrack(state)
        _lap(state, BRANCHING)
    return EXHAUSTED


@entry
def deduce_kernel(state: State, solver: Any, level: Any, width: Any, height: Any, deadline: Any) -> Any:
    """Propagate all lines and, for `level` 1 to 3, probe fully; False on a conflict."""
    if not _start(state, solver, width, height):
        return False
    return level == u64(0) or fully_probe(state, solver, level, width, height, deadline) != CONFLICT
