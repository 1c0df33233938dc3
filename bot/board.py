"""Kernels of both strategies: boards, propagation, time and limits, random numbers, trace events."""

from __future__ import annotations

from typing import Any

import numpy as np

from nonobot.bot.kernels.compiling import kernel
from nonobot.bot.kernels.language import now_ns
from nonobot.bot.kernels.masks import count, lowest
from nonobot.bot.line import paint
from nonobot.bot.result import TraceEvent


@kernel
def is_on(m: Any, stage: Any) -> Any:
    """Return whether a stage is on."""
    return (m.stages & stage) != 0


@kernel
def is_budget_spent(m: Any) -> Any:
    """Return whether the time or the number of line solves is used up; takes 20 ns."""
    return now_ns() > m.deadline or m.counts.line_solves > m.most_lines


@kernel
def start_phases(m: Any) -> None:
    """Start the phase timer."""
    m.phase_start = now_ns()


@kernel
def end_phase(m: Any, phase: Any) -> Any:
    """Add the time since the end of the last phase to `phase`, and return the current time."""
    now = now_ns()
    m.spent[phase] += now - m.phase_start
    m.phase_start = now
    return now


@kernel
def random_float(m: Any) -> Any:
    """Return a random float32 in [0, 1): xorshift64 (Marsaglia 2003), the same on every machine."""
    m.random ^= m.random << np.uint64(13)
    m.random ^= m.random >> np.uint64(7)
    m.random ^= m.random << np.uint64(17)
    return np.float32(m.random >> np.uint64(40)) * np.float32(2.0**-24)


@kernel
def _record(m: Any, kind: Any, event: Any) -> None:
    event.kind = kind
    for y in range(m.height):
        event.black[y] = m.board.black[y]
        event.white[y] = m.board.white[y]


@kernel
def trace(m: Any, kind: Any) -> None:
    """Record a trace event with the board, if tracing is on and there is room."""
    if m.trace_count < m.trace_room:
        _record(m, kind, m.trace_events[m.trace_count])
        m.trace_count += 1


# --- boards ---


@kernel
def start_board(m: Any) -> None:
    """Set the board to the cells known at the start, and mark all lines dirty."""
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
def count_known(m: Any, board: Any) -> Any:
    """Return the number of known cells of a board."""
    known = 0
    for y in range(m.height):
        known += count(board.black[y] | board.white[y])
    return known


@kernel
def is_full(m: Any) -> Any:
    """Return whether every cell of the board is known."""
    return count_known(m, m.board) == m.cells


@kernel
def paint_cell(m: Any, y: Any, x: Any, white: Any) -> None:
    """Paint an unknown cell of the board, white (1) or black (0), and mark its lines dirty."""
    colour = m.board.white if white else m.board.black
    colour[y] |= m.one << x
    colour[m.height + x] |= m.one << y
    m.dirty.rows |= m.one << y
    m.dirty.columns |= m.one << x


@kernel
def paint_crossing(colour: Any, cells: Any, crossing: Any, here: Any) -> None:
    """Paint cells of a line in the lines that cross it; `crossing` is the first of these lines."""
    while cells:
        colour[crossing + lowest(cells)] |= here
        cells &= cells - 1


@kernel
def propagate(m: Any) -> Any:
    """Paint the dirty lines, alternately rows and columns, until nothing changes; False on a conflict."""
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
            paint_crossing(m.board.black, black_now ^ black, crossing, m.one << place)
            paint_crossing(m.board.white, white_now ^ white, crossing, m.one << place)
            trace(m, TraceEvent.PAINTED)
        todo, triggered = triggered, m.none
        first, crossing = crossing, first
    m.counts.line_solves += solves
    return consistent
