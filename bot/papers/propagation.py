"""Ordered propagation: paint all dirty rows, then all dirty columns, and so on, each line through the cache.

A line that several others trigger is painted once (Chen & Hung, section 2.3).
"""

from __future__ import annotations

from typing import Any

from nonobot.bot.bits import lowest_bit, u64
from nonobot.bot.jit import kernel
from nonobot.bot.lines import paint_with
from nonobot.bot.papers.state import BLACK, CACHE_HITS, LINE_SOLVES, PAINTED, WHITE, State, note

__all__ = ["copy_grid", "propagate", "set_cell"]

# Odd constants of the multiplicative hash (fractional bits of the golden ratio, of sqrt(2) and of sqrt(3)).
_HASH_BLACK, _HASH_WHITE, _HASH_TAG = (
    u64(0x9E3779B97F4A7C15),
    u64(0x6A09E667F3BCC909),
    u64(0xBB67AE8584CAA73B),
)


@kernel
def copy_grid(target: Any, source: Any) -> None:
    """Copy one grid over another."""
    for line in range(u64(source.shape[1])):
        target[BLACK, line] = source[BLACK, line]
        target[WHITE, line] = source[WHITE, line]


@kernel
def set_cell(grid: Any, dirty: Any, height: Any, y: Any, x: Any, colour: Any) -> None:
    """Paint an unknown cell in its row and its column, and note both as dirty."""
    grid[colour, y] |= u64(1) << x
    grid[colour, height + x] |= u64(1) << y
    dirty[0] |= u64(1) << y
    dirty[1] |= u64(1) << x


@kernel
def propagate(state: State, solver: Any, height: Any, grid: Any, dirty: Any, seen: Any, noting: Any) -> Any:
    """Paint the dirty lines of `grid`, and all lines that they trigger, until nothing changes.

    Before: every line of `grid` that is not in `dirty` is painted maximally.
    After: `dirty` is empty and every line is painted maximally; or False, a conflict, `grid` and `dirty` left
    as they are. `seen` has the rows and columns that were looked at, added to those it had.

    Parameters
    ----------
    state : State
        The problem, the cache, the counts and the scratch are used.
    solver : uint64
        BITSET or RECURRENCE.
    height : uint64
        Number of rows.
    grid : uint64[2, L]
    dirty, seen : uint64[2]
        Rows, and columns.
    noting : bool
        `grid` is the board that people watch.
    """
    # Fields of a tuple are read once: read inside of the loop they cost more than a cache hit.
    clues, blocks, lengths = state.clues, state.blocks, state.lengths
    cache, counts, scratch = state.cache, state.counts, state.line_scratch
    last_entry = u64(cache.shape[0]) - u64(1)
    age = state.cache_age[0] << u64(8)
    solves, hits = u64(0), u64(0)
    consistent = True
    half = u64(0)  # 0: rows, 1: columns
    while consistent and (dirty[0] | dirty[1]) != u64(0):
        todo = dirty[half]
        dirty[half] = u64(0)
        seen[half] |= todo
        first = half * height
        cross_first = height - first
        while todo != u64(0):
            position = lowest_bit(todo)
            todo &= todo - u64(1)
            line = first + position
            black, white = grid[BLACK, line], grid[WHITE, line]
            tag = age | line
            hashed = black * _HASH_BLACK ^ white * _HASH_WHITE ^ tag * _HASH_TAG
            entry = (hashed ^ (hashed >> u64(29))) >> u64(17) & last_entry
            if cache[entry, 0] == tag and cache[entry, 1] == black and cache[entry, 2] == white:
                hits += u64(1)
                black_now, white_now = cache[entry, 3], cache[entry, 4]
                consistent = cache[entry, 5] != u64(0)
            else:
                solves += u64(1)
                consistent, black_now, white_now = paint_with(
                    solver, clues, line, blocks[line], lengths[line], black, white, scratch
                )
                cache[entry, 0], cache[entry, 1], cache[entry, 2] = tag, black, white
                cache[entry, 3], cache[entry, 4], cache[entry, 5] = black_now, white_now, u64(consistent)
            if not consistent:
                break
            new_black, new_white = black_now & ~black, white_now & ~white
            if (new_black | new_white) != u64(0):
                grid[BLACK, line], grid[WHITE, line] = black_now, white_now
                dirty[u64(1) - half] |= new_black | new_white
                bit = u64(1) << position
                while new_black != u64(0):
                    grid[BLACK, cross_first + lowest_bit(new_black)] |= bit
                    new_black &= new_black - u64(1)
                while new_white != u64(0):
                    grid[WHITE, cross_first + lowest_bit(new_white)] |= bit
                    new_white &= new_white - u64(1)
                if noting:
                    note(state, grid, PAINTED)
        half = u64(1) - half
    counts[LINE_SOLVES] += solves
    counts[CACHE_HITS] += hits
    return consistent
