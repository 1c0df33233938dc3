"""Fully probing: FP1, FP2 and FP3 to their fixpoint.

Chen & Hung, section 3; Wu et al. 2013. Probing assumes a cell black, then white, and propagates both. One side
fails: the other colour holds. Both survive: what they agree on holds (FP1). FP2 adds to what a side implies the
contrapositives of what others imply: if (p, c) implies (q, d), then (q, not d) implies (p, not c). FP3 adds the
transitive closure of both.

The result is exact: a probe is done again whenever a line that it painted has changed since, and only then
(where no such line changed, the same painting would be found again).
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.bits import lowest_bit, now_ns, popcount, u64
from nonobot.bot.jit import kernel
from nonobot.bot.papers.propagation import copy_grid, propagate, set_cell
from nonobot.bot.papers.state import BLACK, PROBED, PROBES, WHITE, State, note

__all__ = [
    "CONFLICT",
    "OPEN",
    "OUT_OF_TIME",
    "SOLVED",
    "fully_probe",
    "is_unknown",
    "known_cells",
    "take_over",
]

OPEN, SOLVED, CONFLICT, OUT_OF_TIME = u64(0), u64(1), u64(2), u64(3)
"""How probing ended."""


@kernel
def known_cells(grid: Any, height: Any) -> Any:
    """Return the number of known cells."""
    known = u64(0)
    for y in range(height):
        known += popcount(grid[BLACK, y] | grid[WHITE, y])
    return known


@kernel
def _probe(state: State, solver: Any, width: Any, height: Any, cell: Any, colour: Any) -> Any:
    """Assume a side, propagate, and keep what follows; False if it fails."""
    side = u64(2) * cell + colour
    trial, dirty, seen = state.trial, state.dirty, state.seen
    copy_grid(trial, state.grid)
    dirty[0], dirty[1], seen[0], seen[1] = u64(0), u64(0), u64(0), u64(0)
    set_cell(trial, dirty, height, cell // width, cell % width, colour)
    state.counts[PROBES] += u64(1)
    if not propagate(state, solver, height, trial, dirty, seen, False):
        return False
    copy_grid(state.side_grid[side], trial)
    state.side_seen[side, 0], state.side_seen[side, 1] = seen[0], seen[1]
    state.side_painted[side] = known_cells(trial, height) - known_cells(state.grid, height)
    return True


@kernel
def take_over(state: State, width: Any, height: Any, source: Any) -> None:
    """Add the cells known in `source` to the board, and make probes stale whose lines are changed by them.

    Before: `source` is the board with more cells, painted maximally.
    """
    grid, side_seen, fresh = state.grid, state.side_seen, state.fresh
    changed_rows, changed_columns = u64(0), u64(0)
    for y in range(height):
        new = (source[BLACK, y] | source[WHITE, y]) & ~(grid[BLACK, y] | grid[WHITE, y])
        if new != u64(0):
            changed_rows |= u64(1) << y
            changed_columns |= new
    for line in range(height + width):
        grid[BLACK, line] |= source[BLACK, line]
        grid[WHITE, line] |= source[WHITE, line]
    for cell in range(width * height):
        black, white = u64(2) * cell + BLACK, u64(2) * cell + WHITE
        rows, columns = (
            side_seen[black, 0] | side_seen[white, 0],
            side_seen[black, 1] | side_seen[white, 1],
        )
        if (rows & changed_rows) != u64(0) or (columns & changed_columns) != u64(0):
            fresh[cell] = u64(0)


@kernel
def _merge(state: State, solver: Any, width: Any, height: Any, one: Any, other: Any) -> Any:
    """Paint what the grids `one` and `other` agree on, propagate, and take it over; False on a conflict."""
    grid, trial, dirty, seen = state.grid, state.trial, state.dirty, state.seen
    copied = False
    for y in range(height):
        for colour in (BLACK, WHITE):
            agreed = one[colour, y] & other[colour, y] & ~grid[colour, y]
            if agreed != u64(0) and not copied:
                copy_grid(trial, grid)
                dirty[0], dirty[1], seen[0], seen[1] = u64(0), u64(0), u64(0), u64(0)
                copied = True
            while agreed != u64(0):
                set_cell(trial, dirty, height, y, lowest_bit(agreed), colour)
                agreed &= agreed - u64(1)
    if not copied:
        return True
    if not propagate(state, solver, height, trial, dirty, seen, False):
        return False
    take_over(state, width, height, trial)
    note(state, grid, PROBED)
    return True


@kernel
def _probe_cell(state: State, solver: Any, width: Any, height: Any, cell: Any) -> Any:
    """Probe a cell both ways and draw FP1's conclusion; False on a conflict."""
    black, white = u64(2) * cell + BLACK, u64(2) * cell + WHITE
    black_holds = _probe(state, solver, width, height, cell, BLACK)
    white_holds = _probe(state, solver, width, height, cell, WHITE)
    state.fresh[cell] = u64(1)
    if not (black_holds or white_holds):
        return False
    if not black_holds:
        take_over(state, width, height, state.side_grid[white])
        note(state, state.grid, PROBED)
        return True
    if not white_holds:
        take_over(state, width, height, state.side_grid[black])
        note(state, state.grid, PROBED)
        return True
    return _merge(state, solver, width, height, state.side_grid[black], state.side_grid[white])


@kernel
def is_unknown(grid: Any, width: Any, cell: Any) -> Any:
    """Tell whether a cell is not known yet."""
    y, x = cell // width, cell % width
    return (((grid[BLACK, y] | grid[WHITE, y]) >> x) & u64(1)) == u64(0)


@kernel
def _contrapose(state: State, width: Any, height: Any) -> None:
    """Set `implied` to what every side of an unknown cell implies, directly or by contraposition.

    Before: every unknown cell is freshly probed. Only the rows' half of `implied` is used.
    """
    grid, implied, side_grid = state.grid, state.implied, state.side_grid
    for cell in range(width * height):
        if is_unknown(grid, width, cell):
            for side in range(u64(2) * cell, u64(2) * cell + u64(2)):
                for y in range(height):
                    implied[side, BLACK, y] = side_grid[side, BLACK, y]
                    implied[side, WHITE, y] = side_grid[side, WHITE, y]
    for cell in range(width * height):
        if not is_unknown(grid, width, cell):
            continue
        row, bit = cell // width, u64(1) << (cell % width)
        for colour in (BLACK, WHITE):
            opposite = u64(1) - colour
            for y in range(height):
                for consequence in (BLACK, WHITE):
                    new = side_grid[u64(2) * cell + colour, consequence, y] & ~(grid[BLACK, y] | grid[WHITE, y])
                    while new != u64(0):
                        other = y * width + lowest_bit(new)
                        new &= new - u64(1)
                        implied[u64(2) * other + (u64(1) - consequence), opposite, row] |= bit


@kernel
def _close(state: State, width: Any, height: Any) -> None:
    """Close `implied` transitively (Warshall's algorithm, a set of cells at a time)."""
    grid, implied = state.grid, state.implied
    cells = width * height
    for middle in range(cells):
        if not is_unknown(grid, width, middle):
            continue
        row, column = middle // width, middle % width
        for colour in (BLACK, WHITE):
            through = u64(2) * middle + colour
            for side in range(u64(2) * cells):
                if ((implied[side, colour, row] >> column) & u64(1)) != u64(0) and is_unknown(
                    grid, width, side // u64(2)
                ):
                    for y in range(height):
                        implied[side, BLACK, y] |= implied[through, BLACK, y]
                        implied[side, WHITE, y] |= implied[through, WHITE, y]


@kernel
def _conclude(state: State, solver: Any, level: Any, width: Any, height: Any) -> Any:
    """Apply FP1's rule to the relations of FP2 or FP3; False on a conflict."""
    grid = state.grid
    _contrapose(state, width, height)
    if level == u64(3):
        _close(state, width, height)
    for cell in range(width * height):
        if is_unknown(grid, width, cell):
            black, white = u64(2) * cell + BLACK, u64(2) * cell + WHITE
            if not _merge(state, solver, width, height, state.implied[black], state.implied[white]):
                return False
    return True


@kernel
def fully_probe(state: State, solver: Any, level: Any, width: Any, height: Any, deadline: Any) -> Any:
    """Probe every unknown cell of `state.grid` until nothing more follows.

    Before: `state.grid` is painted maximally; `state.fresh` tells which probes still hold.
    After: OPEN, and the grid is the fixpoint of FP1, FP2 or FP3 with every unknown cell freshly probed; or
    SOLVED, CONFLICT or OUT_OF_TIME.

    Parameters
    ----------
    state : State
    solver : uint64
        BITSET or RECURRENCE.
    level : uint64
        1, 2 or 3.
    width, height : uint64
    deadline : int64
        On the clock of `now_ns`.
    """
    cells = width * height
    since_stale = u64(0)  # cells passed since one was found stale: after a whole round nothing is left to do
    cell = u64(0)
    while True:
        if since_stale == cells:
            known = known_cells(state.grid, height)
            if known == cells:
                return SOLVED
            if level == u64(1):
                return OPEN
            if not _conclude(state, solver, level, width, height):
                return CONFLICT
            if known_cells(state.grid, height) == known:
                return OPEN
            since_stale = u64(0)
        since_stale += u64(1)
        if state.fresh[cell] == u64(0) and is_unknown(state.grid, width, cell):
            since_stale = u64(0)
            if now_ns() > deadline:
                return OUT_OF_TIME
            if not _probe_cell(state, solver, width, height, cell):
                return CONFLICT
        cell += u64(1)
        if cell == cells:
            cell = u64(0)
