"""Boards: propagation without learning, as the root and the descents need it."""

from __future__ import annotations

from typing import Any

from nonobot.bot.access import get, put, read
from nonobot.bot.bits import lowest_bit, popcount, u64
from nonobot.bot.champion.line import paint
from nonobot.bot.champion.moments import note
from nonobot.bot.champion.state import (
    BOARD,
    CELLS,
    COUNTS,
    DIRTY,
    HEIGHT,
    LINE_SOLVES,
    LINES,
    MOST_LINES,
    PAINTED,
    START,
    WIDTH,
)
from nonobot.bot.jit import kernel

__all__ = ["copy_board", "is_full", "known_row", "paint_cell", "propagate", "start_board"]

_WHITE = u64(MOST_LINES)


@kernel
def start_board(m: Any) -> None:
    """Make BOARD what is known from the beginning, and all lines dirty."""
    copy_board(m, BOARD, START)
    put(m, DIRTY, u64(0), (u64(1) << read(m, HEIGHT)) - u64(1))
    put(m, DIRTY, u64(1), (u64(1) << read(m, WIDTH)) - u64(1))


@kernel
def copy_board(m: Any, target: Any, source: Any) -> None:
    """Copy one board field over another."""
    for line in range(read(m, LINES)):
        put(m, target, line, get(m, source, line))
        put(m, target, _WHITE + line, get(m, source, _WHITE + line))


@kernel
def known_row(m: Any, y: Any) -> Any:
    """Return the known cells of row y of BOARD."""
    return get(m, BOARD, y) | get(m, BOARD, _WHITE + y)


@kernel
def is_full(m: Any) -> Any:
    """Tell whether every cell of BOARD is known."""
    known = u64(0)
    for y in range(read(m, HEIGHT)):
        known += popcount(known_row(m, y))
    return known == read(m, CELLS)


@kernel
def paint_cell(m: Any, y: Any, x: Any, white: Any) -> None:
    """Paint an unknown cell of BOARD, white (1) or black (0), and make its lines dirty."""
    colour = white * _WHITE
    row, column = colour + y, colour + read(m, HEIGHT) + x
    put(m, BOARD, row, get(m, BOARD, row) | (u64(1) << x))
    put(m, BOARD, column, get(m, BOARD, column) | (u64(1) << y))
    put(m, DIRTY, u64(0), get(m, DIRTY, u64(0)) | (u64(1) << y))
    put(m, DIRTY, u64(1), get(m, DIRTY, u64(1)) | (u64(1) << x))


@kernel
def propagate(m: Any) -> Any:
    """Paint the dirty lines of BOARD, rows and columns by turns, until nothing changes; False on a conflict.

    After a conflict BOARD is unfinished and DIRTY is empty.
    """
    height = read(m, HEIGHT)
    solves = u64(0)
    rows_dirty, columns_dirty = get(m, DIRTY, u64(0)), get(m, DIRTY, u64(1))
    put(m, DIRTY, u64(0), u64(0))
    put(m, DIRTY, u64(1), u64(0))
    consistent = True
    todo, triggered, first, crossing = rows_dirty, columns_dirty, u64(0), height
    while consistent and (todo | triggered) != u64(0):
        while todo != u64(0):
            place = lowest_bit(todo)
            todo &= todo - u64(1)
            line = first + place
            black, white = get(m, BOARD, line), get(m, BOARD, _WHITE + line)
            solves += u64(1)
            consistent, black_now, white_now = paint(m, line, black, white)
            if not consistent:
                break
            new_black, new_white = black_now ^ black, white_now ^ white
            if (new_black | new_white) == u64(0):
                continue
            triggered |= new_black | new_white
            put(m, BOARD, line, black_now)
            put(m, BOARD, _WHITE + line, white_now)
            bit = u64(1) << place
            while new_black != u64(0):
                cross = crossing + lowest_bit(new_black)
                put(m, BOARD, cross, get(m, BOARD, cross) | bit)
                new_black &= new_black - u64(1)
            while new_white != u64(0):
                cross = _WHITE + crossing + lowest_bit(new_white)
                put(m, BOARD, cross, get(m, BOARD, cross) | bit)
                new_white &= new_white - u64(1)
            note(m, PAINTED)
        todo, triggered = triggered, u64(0)
        first, crossing = crossing, first
    put(m, COUNTS, LINE_SOLVES, get(m, COUNTS, LINE_SOLVES) + solves)
    return consistent
