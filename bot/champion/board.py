"""Boards: propagation without learning, as the root and the descents need it."""

from __future__ import annotations

from typing import Any

from nonobot.bot.champion.control import note
from nonobot.bot.exchange import MOMENT
from nonobot.bot.jit import kernel
from nonobot.bot.line import paint
from nonobot.bot.masks import count, lowest

__all__ = ["copy_board", "is_full", "known_cells", "paint_cell", "propagate", "start_board"]


@kernel
def start_board(m: Any) -> None:
    """Make the board what is known from the beginning, and all lines dirty."""
    copy_board(m, m.board, m.start)
    m.dirty.rows = (m.one << m.height) - 1
    m.dirty.columns = (m.one << m.width) - 1


@kernel
def copy_board(m: Any, target: Any, source: Any) -> None:
    """Copy one board over another."""
    for line in range(m.lines):
        target.black[line] = source.black[line]
        target.white[line] = source.white[line]


@kernel
def known_cells(m: Any, line: Any) -> Any:
    """Return the known cells of a line of the board."""
    return m.board.black[line] | m.board.white[line]


@kernel
def is_full(m: Any) -> Any:
    """Tell whether every cell of the board is known."""
    known = 0
    for y in range(m.height):
        known += count(known_cells(m, y))
    return known == m.cells


@kernel
def paint_cell(m: Any, y: Any, x: Any, white: Any) -> None:
    """Paint an unknown cell of the board, white (1) or black (0), and make its lines dirty."""
    colour = m.board.white if white else m.board.black
    colour[y] |= m.one << x
    colour[m.height + x] |= m.one << y
    m.dirty.rows |= m.one << y
    m.dirty.columns |= m.one << x


@kernel
def _cross(colour: Any, cells: Any, crossing: Any, here: Any) -> None:
    """Paint cells of a line in the lines that cross it, the first of which is `crossing`."""
    while cells:
        colour[crossing + lowest(cells)] |= here
        cells &= cells - 1


@kernel
def propagate(m: Any) -> Any:
    """Paint the dirty lines of the board, rows and columns by turns, until nothing changes; False on a conflict.

    After a conflict the board is unfinished and no line is dirty.
    """
    solves = 0
    todo, triggered, first, crossing = m.dirty.rows, m.dirty.columns, 0, m.height
    m.dirty.rows = 0
    m.dirty.columns = 0
    consistent = True
    while consistent and (todo | triggered):
        while todo:
            place = lowest(todo)
            todo &= todo - 1
            line = first + place
            black, white = m.board.black[line], m.board.white[line]
            solves += 1
            consistent, black_now, white_now = paint(m, line, black, white)
            if not consistent:
                break
            new = (black_now ^ black) | (white_now ^ white)
            if not new:
                continue
            triggered |= new
            m.board.black[line] = black_now
            m.board.white[line] = white_now
            _cross(m.board.black, black_now ^ black, crossing, m.one << place)
            _cross(m.board.white, white_now ^ white, crossing, m.one << place)
            note(m, MOMENT.painted)
        todo, triggered = triggered, m.none
        first, crossing = crossing, first
    m.counts.line_solves += solves
    return consistent
