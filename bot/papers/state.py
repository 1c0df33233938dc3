"""The map of the `papers` strategy's state: every array with dtype, shape and meaning.

Lines are numbered rows first: line y is row y, line height + x is column x. L = height + width. A cell is
numbered y * width + x. A *grid* is a uint64 array of shape (2, L): `grid[BLACK, l]` the cells of line l known to
be black, `grid[WHITE, l]` those known to be white; every cell stands in it twice, in its row and in its column.
A *side* is a cell with a colour: side 2 * cell + colour, with colour BLACK (1) or WHITE (0) as everywhere.

No kernel keeps state anywhere else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nonobot import protocol
from nonobot.bot.bits import ALL_ONES, MASK, i64, u64
from nonobot.bot.exchange import MOST_MOMENTS, Moment
from nonobot.bot.jit import kernel
from nonobot.bot.lines import new_scratch

__all__ = [
    "BACKTRACKS",
    "BLACK",
    "BRANCHING",
    "CACHE_HITS",
    "COUNT_NAMES",
    "GUESSED",
    "LINE_SOLVES",
    "LOG_UNIT_BITS",
    "NODES",
    "PAINTED",
    "PROBED",
    "PROBES",
    "PROBING",
    "PROPAGATING",
    "STEP_NAMES",
    "TAKEN_BACK",
    "WHITE",
    "State",
    "line_clues",
    "new_state",
    "note",
]

BLACK, WHITE = u64(protocol.BLACK), u64(protocol.WHITE)

CACHE_BITS = 14
"""log2 of the entries of the line cache. Measured on taai2011, first 300 puzzles: see docs/engine.md."""

LOG_UNIT_BITS = i64(20)
"""Scores are integers in units of 2 ** -20, so that they decide alike on every machine."""

COUNT_NAMES = ("line_solves", "cache_hits", "probes", "nodes", "backtracks")
"""What is counted, in the order of `State.counts`."""


LINE_SOLVES, CACHE_HITS, PROBES, NODES, BACKTRACKS = (u64(i) for i in range(len(COUNT_NAMES)))
"""Indices into `State.counts`."""

PAINTED, PROBED, GUESSED, TAKEN_BACK = (
    u64(kind) for kind in (Moment.PAINTED, Moment.PROBED, Moment.GUESSED, Moment.TAKEN_BACK)
)
"""Moments, as kernels note them."""

STEP_NAMES = ("propagation", "probing", "branching")
"""The steps of a search, in the order of `State.spent`."""

PROPAGATING, PROBING, BRANCHING = (u64(i) for i in range(len(STEP_NAMES)))
"""Indices into `State.spent`."""


class State(NamedTuple):
    """All arrays of one board size; see :func:`new_state`."""

    # -- problem
    clues: Any  # uint64[L, most blocks]      block lengths of each line, then zeros
    blocks: Any  # uint64[L]                  number of blocks of each line
    lengths: Any  # uint64[L]                 number of cells of each line
    start: Any  # uint64[2, L]                cells known from the beginning
    # -- state of the search
    grid: Any  # uint64[2, L]                 the board at the present node
    depth: Any  # uint64[1]                   number of open choices
    stack: Any  # uint64[cells + 1, 2, L]     for each open choice the grid of the colour not tried yet
    # -- probing: the result of assuming each side, kept while it is fresh
    side_grid: Any  # uint64[2 * cells, 2, L] the board after assuming a side and propagating
    side_seen: Any  # uint64[2 * cells, 2]    rows, and columns, that were painted on the way
    side_painted: Any  # uint64[2 * cells]    number of cells that became known
    fresh: Any  # uint64[cells]               1: no line that its two probes painted has changed since
    implied: Any  # uint64[2 * cells, 2, L]   FP2, FP3: what a side implies by contraposition too (rows only)
    # -- line cache: direct-mapped, one entry a 64-byte row
    cache: Any  # uint64[2 ** CACHE_BITS, 8]  tag, black, white before; black, white after; 1 if consistent
    cache_age: Any  # uint64[1]               number of the puzzle; part of the tag, so that none is ever cleared
    # -- statistics
    counts: Any  # uint64[len(COUNT_NAMES)]
    spent: Any  # int64[len(STEP_NAMES)]      nanoseconds of each step
    lap: Any  # int64[1]                      when the last step ended, on the clock of now_ns
    # -- moments, noted only for people who watch
    moments: Any  # uint64[MOST_MOMENTS, 2 * height + 1]  black cells of each row, white ones; what happened
    moment_count: Any  # uint64[2]            number of moments; room for them, 0 if nobody watches
    # -- scratch
    dirty: Any  # uint64[2]                   rows, and columns, still to be painted
    seen: Any  # uint64[2]                    rows, and columns, painted by the propagation under way
    trial: Any  # uint64[2, L]                the grid of the probe under way
    line_scratch: Any  # uint64[...]          of the line kernels
    log_table: Any  # int64[cells + 2]        log(1 + m), in units of 2 ** -LOG_UNIT_BITS


def line_clues(puzzle: protocol.Puzzle) -> list[tuple[int, ...]]:
    """Return the clue of every line, rows first."""
    return [*puzzle.rows, *puzzle.columns]


def new_state(width: int, height: int) -> State:
    """Return the state for boards of `width` x `height` cells; a puzzle is put into it later."""
    cells, lines = width * height, width + height
    most_blocks = (max(width, height) + 1) // 2
    grid_shape = (2, lines)
    return State(
        clues=np.zeros((lines, most_blocks), MASK),
        blocks=np.zeros(lines, MASK),
        lengths=np.array([width] * height + [height] * width, MASK),
        start=np.zeros(grid_shape, MASK),
        grid=np.zeros(grid_shape, MASK),
        depth=np.zeros(1, MASK),
        stack=np.zeros((cells + 1, *grid_shape), MASK),
        side_grid=np.zeros((2 * cells, *grid_shape), MASK),
        side_seen=np.zeros((2 * cells, 2), MASK),
        side_painted=np.zeros(2 * cells, MASK),
        fresh=np.zeros(cells, MASK),
        implied=np.zeros((2 * cells, *grid_shape), MASK),
        cache=np.full((1 << CACHE_BITS, 8), ALL_ONES, MASK),
        cache_age=np.zeros(1, MASK),
        counts=np.zeros(len(COUNT_NAMES), MASK),
        spent=np.zeros(len(STEP_NAMES), np.int64),
        lap=np.zeros(1, np.int64),
        moments=np.zeros((MOST_MOMENTS, 2 * height + 1), MASK),
        moment_count=np.zeros(2, MASK),
        dirty=np.zeros(2, MASK),
        seen=np.zeros(2, MASK),
        trial=np.zeros(grid_shape, MASK),
        line_scratch=new_scratch(most_blocks, max(width, height)),
        log_table=np.round(np.log1p(np.arange(cells + 2)) * 2 ** int(LOG_UNIT_BITS)).astype(np.int64),
    )


@kernel
def note(state: State, grid: Any, kind: Any) -> None:
    """Note what has just happened to `grid`, if somebody watches and there is room."""
    moment = state.moment_count[0]
    if moment >= state.moment_count[1]:
        return
    noted = state.moments[moment]
    last = u64(noted.shape[0]) - u64(1)
    height = last >> u64(1)
    noted[last] = kind
    for y in range(height):
        noted[y] = grid[BLACK, y]
        noted[height + y] = grid[WHITE, y]
    state.moment_count[0] += u64(1)
