"""Beliefs in the search: damped messages, kept between uses, with marginals for cells and bounds.

They choose the first decisions after a rephase, set the target values of the search, and choose the value of a
later decision if it is nearly certain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nonobot.bot.board import known_cells, random_float
from nonobot.bot.champion.beliefs import believe_line
from nonobot.bot.kernels.compiling import kernel
from nonobot.bot.kernels.masks import lowest
from nonobot.bot.kernels.vectors import load16, splat16, store

f32 = np.float32

MOST_ODDS = f32(1000)
DAMPING = f32(0.2)  # share of the last message of a line
FEWEST_NEWS = f32(0.02)  # least change of a probability that updates the crossing line
SWEEPS = 10  # sweeps of a rephase

NOISY_CELLS = 64  # noise is drawn for at least this many cells of a line


@kernel
def _is_open(m: Any, line: Any) -> Any:
    """Return whether a line of the board has unknown cells."""
    return known_cells(m, line) + 1 != m.one << m.length[line]


@kernel
def _start_messages(m: Any, noise: Any) -> None:
    """Set all messages to even odds, or with `noise` to nearly even odds."""
    for line in range(m.lines):
        for i in range(max(NOISY_CELLS, m.length[line])):
            likely = f32(0.5)
            if noise > f32(0):
                likely += noise * (random_float(m) - f32(0.5))
            m.told[line, i] = likely / (f32(1) - likely)
    height, width = m.height, m.width
    for y in range(height):
        for x in range(width):
            m.said[y, x] = m.told[height + x, y]
            m.said[height + x, y] = m.told[y, x]


@kernel
def _damp(m: Any, line: Any, length: Any, damping: Any) -> Any:
    """Mix `m.outgoing` with the line's last message, and return the cells that changed enough."""
    unit = splat16(f32(1))
    old_share, new_share = splat16(damping), splat16(f32(1) - damping)
    said = m.said[line]
    for cell in range(0, length, 16):
        new, old = load16(m.outgoing, cell), load16(said, cell)
        new = new / (unit + new)
        old = old / (unit + old)
        mixed = old_share * old + new_share * new
        store(m.change, cell, mixed - old)
        mixed = mixed / (unit - mixed)
        store(m.outgoing, cell, mixed)
        store(said, cell, mixed)
    news = m.none
    for i in range(length):
        if abs(m.change[i]) > FEWEST_NEWS:
            news |= m.one << i
    return news


@kernel
def _keep_bound_marginals(m: Any, line: Any) -> None:
    """Set `m.bound_marginal` of a line from the sums that believe_line left."""
    blocks = m.blocks[line]
    total = m.ahead[blocks, m.length[line] + 1 - m.least[blocks]]
    for block in range(blocks):
        first, least = m.first[line, block], m.least[block]
        base = m.bound_base[line, block] - first
        before = f32(0)
        for place in range(least, m.last[line, block]):
            d = place - least
            placed = m.placed[block, d] * m.ahead[block, d]
            before += placed * m.behind[block + 1, d]
            if place >= first:
                m.bound_marginal[base + place] = before / total


@kernel
def _speak(m: Any, line: Any, is_first: Any, with_bounds: Any) -> None:
    """Send the messages of a line to the lines that cross it."""
    length = m.length[line]
    if not believe_line(m, line, m.board.black[line], m.board.white[line], MOST_ODDS):
        return
    if with_bounds:
        _keep_bound_marginals(m, line)
    news = _damp(m, line, length, f32(0) if is_first else DAMPING)
    news &= ~known_cells(m, line)
    if line < m.height:
        crossing, place = m.height, line
        m.retell.columns |= news
    else:
        crossing, place = 0, line - m.height
        m.retell.rows |= news
    for i in range(length):
        m.told[crossing + i, place] = m.outgoing[i]


@kernel
def _keep_marginals(m: Any) -> None:
    # Both messages about the cells of a row are in the row's own tables. Lanes beyond a row are overwritten by the
    # next row, those beyond the last one end in the room behind the cells.
    width = m.width
    unit = splat16(f32(1))
    for y in range(m.height):
        told, said = m.told[y], m.said[y]
        for first in range(0, width, 16):
            odds = load16(told, first) * load16(said, first)
            store(m.marginal, y * width + first, odds / (unit + odds))


@kernel
def _speak_again(m: Any, speakers: Any, first: Any) -> None:
    while speakers:
        line = first + lowest(speakers)
        speakers &= speakers - 1
        if _is_open(m, line):
            _speak(m, line, False, False)


@kernel
def believe(m: Any) -> None:
    """Send the messages of all lines with new cells or new incoming messages once, and set `m.marginal`."""
    height = m.height
    for line in range(m.lines):
        if known_cells(m, line) != m.heard[line]:
            if line < height:
                m.retell.rows |= m.one << line
            else:
                m.retell.columns |= m.one << (line - height)
    rows = m.retell.rows
    m.retell.rows = m.none
    _speak_again(m, rows, 0)
    columns = m.retell.columns
    m.retell.columns = m.none
    _speak_again(m, columns, height)
    for line in range(m.lines):
        m.heard[line] = known_cells(m, line)
    _keep_marginals(m)


@kernel
def believe_anew(m: Any, noise: Any) -> None:
    """Start again from even odds with `noise`, and set the marginals of cells and bounds."""
    _start_messages(m, noise)
    lines = m.lines
    for turn in range(SWEEPS):
        is_last = turn == SWEEPS - 1
        for line in range(lines):
            if is_last or _is_open(m, line):
                _speak(m, line, turn == 0 and noise == f32(0), is_last)
    m.retell.rows = m.none
    m.retell.columns = m.none
    for line in range(lines):
        m.heard[line] = known_cells(m, line)
    _keep_marginals(m)
