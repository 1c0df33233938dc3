"""Belief propagation: estimates the probability that each cell is black from messages between lines.

Each line is a factor. Its incoming messages (`m.told`) are the odds black : white that the crossing line sends for
each cell. A forward-backward sum over all placements of the line's blocks gives the probability of each cell.
The incoming odds are divided out, and the rest is the outgoing message to the crossing line. This is sum-product
on the factor graph of the lines (Kschischang, Frey & Loeliger 2001).

The sum runs over placements by slack: block j starts at least_j + d with d = 0..slack, where least_j is the sum of
(length + 1) of the blocks before it. d is the lane of a vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nonobot.bot.kernels.compiling import inlined, kernel
from nonobot.bot.kernels.masks import highest
from nonobot.bot.kernels.vectors import (
    at_least,
    at_most,
    load16,
    load32,
    load64,
    rotate_down,
    rotate_up,
    select,
    splat16,
    splat32,
    splat64,
    store,
)

f32 = np.float32

_SCALINGS = 8

_LEAST_TOTAL, _MOST_TOTAL, _INFINITY = f32(1e-30), f32(1e30), f32(np.inf)

_SOFTENING = f32(1e-6)  # share of the total weight added to both weights of a cell, against division by zero


def _make_scans(most_slack: int) -> Any:
    """Return the kernels that sum over a gap, for vectors of `most_slack` + 1 lanes.

    A gap between blocks turns x[d] into the sum of all x[d'] that only open cells separate from d: a segmented
    scan in doubling steps. `lanes_used` masks out lanes that a rotation moved round the end.
    """

    @inlined
    def scan_up(x: Any, before: Any, lanes_used: Any, slack: Any) -> Any:
        """Sum over d' <= d. Bit d of `before`: the cell in front of a block at slack d is open."""
        x = select(before & (lanes_used << 1) & lanes_used, x + rotate_up(x, 1), x)
        before &= before << 1
        x = select(before & (lanes_used << 2) & lanes_used, x + rotate_up(x, 2), x)
        before &= before << 2
        x = select(before & (lanes_used << 4) & lanes_used, x + rotate_up(x, 4), x)
        if slack >= 8:
            before &= before << 4
            x = select(before & (lanes_used << 8) & lanes_used, x + rotate_up(x, 8), x)
        if most_slack > 15 and slack >= 16:
            before &= before << 8
            x = select(before & (lanes_used << 16) & lanes_used, x + rotate_up(x, 16), x)
        if most_slack > 31 and slack >= 32:
            before &= before << 16
            x = select(before & (lanes_used << 32) & lanes_used, x + rotate_up(x, 32), x)
        return x

    @inlined
    def scan_down(x: Any, first_cells: Any, lanes_used: Any, slack: Any) -> Any:
        """Sum over d' >= d. Bit d of `first_cells`: the first cell of a block at slack d is open."""
        x = select(first_cells & (lanes_used >> 1), x + rotate_down(x, 1), x)
        first_cells &= first_cells >> 1
        x = select(first_cells & (lanes_used >> 2), x + rotate_down(x, 2), x)
        first_cells &= first_cells >> 2
        x = select(first_cells & (lanes_used >> 4), x + rotate_down(x, 4), x)
        if slack >= 8:
            first_cells &= first_cells >> 4
            x = select(first_cells & (lanes_used >> 8), x + rotate_down(x, 8), x)
        if most_slack > 15 and slack >= 16:
            first_cells &= first_cells >> 8
            x = select(first_cells & (lanes_used >> 16), x + rotate_down(x, 16), x)
        if most_slack > 31 and slack >= 32:
            first_cells &= first_cells >> 16
            x = select(first_cells & (lanes_used >> 32), x + rotate_down(x, 32), x)
        return x

    return scan_up, scan_down


def _make_sum_placements(most_slack: int, load: Any, splat: Any) -> Any:
    """Return the kernel for lines whose slack is at most `most_slack` = number of lanes - 1."""
    scan_up, scan_down = _make_scans(most_slack)

    @kernel
    def sum_placements(m: Any, line: Any, open_: Any, slack: Any) -> Any:
        """Set `ahead` and `behind` to the sums before and behind each gap; return the weight of all placements.

        Before: `evidence` contains the weight of each cell being black; white has weight 1. `open_` is the set of
        cells that may be white, including the virtual cell after the last one. `least` is set.
        After: ahead[j, d] * behind[j, d] is the weight of the placements in which the gap before block j ends just
        before cell least[j] + d, or continues past it.
        """
        zero, unit = splat(f32(0)), splat(f32(1))
        lanes_used = (m.one << slack << 1) - 1
        blocks = m.blocks[line]

        for block in range(blocks):
            size = m.clue[line, block]
            least = m.least[block]
            weight = select(lanes_used & (open_ >> (least + size)), load(m.evidence, least), zero)
            # Three more cells without a branch, the others in a loop: longer blocks are rare.
            weight = weight * select(m.none - (size > 1), load(m.evidence, least + 1), unit)
            weight = weight * select(m.none - (size > 2), load(m.evidence, least + 2), unit)
            weight = weight * select(m.none - (size > 3), load(m.evidence, least + 3), unit)
            while size > 4:
                size -= 1
                weight = weight * load(m.evidence, least + size)
            store(m.placed[block], 0, weight)

        # Both directions in one loop: each is a chain of dependent steps, but the two chains are independent.
        ahead = scan_up(select(m.one, unit, zero), open_ << 1, lanes_used, slack)
        behind = select(m.one << slack, unit, zero)
        behind = scan_down(behind, open_ >> m.least[blocks], lanes_used, slack)
        store(m.ahead[0], 0, ahead)
        store(m.behind[blocks], 0, behind)
        for done in range(blocks):
            left = blocks - 1 - done
            ahead = ahead * load(m.placed[done], 0)
            behind = behind * load(m.placed[left], 0)
            ahead = scan_up(ahead, open_ >> (m.least[done + 1] - 1), lanes_used, slack)
            behind = scan_down(behind, open_ >> m.least[left], lanes_used, slack)
            store(m.ahead[done + 1], 0, ahead)
            store(m.behind[left], 0, behind)

        # Each product has its own row, so that no store waits for another.
        for block in range(blocks + 1):
            spread = m.spread[block]
            for column in range(0, m.length[line] + 1, 16):
                store(spread, column, splat16(f32(0)))
            store(spread, m.least[block], load(m.ahead[block], 0) * load(m.behind[block], 0))
        return m.ahead[blocks, slack]

    return sum_placements


_sum_16 = _make_sum_placements(15, load16, splat16)
_sum_32 = _make_sum_placements(31, load32, splat32)
_sum_64 = _make_sum_placements(63, load64, splat64)


# --- longer slacks: 64 lanes at a time, with a carry from one stretch of lanes to the next ---

_LANES = 64

_scan_up, _scan_down = _make_scans(_LANES - 1)


@kernel
def _gap_ahead(m: Any, row: Any, before: Any, lanes_used: Any, slack: Any) -> None:
    """Turn a row of sums into the sums after a gap, as `scan_up` does."""
    every = (m.one << _LANES) - 1
    carried = f32(0)
    for lane in range(0, slack + 1, _LANES):
        open_here = before >> lane
        sums = _scan_up(load64(row, lane), open_here, (lanes_used >> lane) & every, _LANES)
        reached = open_here & ~(open_here + 1)  # bits below the lowest zero
        store(row, lane, sums + select(reached, splat64(carried), splat64(f32(0))))
        carried = row[lane + _LANES - 1]


@kernel
def _gap_behind(m: Any, row: Any, open_: Any, lanes_used: Any, slack: Any) -> None:
    """Turn a row of sums into the sums before a gap, as `scan_down` does."""
    every = (m.one << _LANES) - 1
    carried = f32(0)
    lane = slack // _LANES * _LANES
    while lane >= 0:
        open_here = (open_ >> lane) & every
        sums = _scan_down(load64(row, lane), open_here, (lanes_used >> lane) & every, _LANES)
        closed = every & ~open_here
        reached = every
        if closed:
            reached &= ~(((m.one << 1) << highest(closed)) - 1)  # bits above the highest zero
        store(row, lane, sums + select(reached, splat64(carried), splat64(f32(0))))
        carried = row[lane]
        lane -= _LANES


@kernel
def _multiply(target: Any, source: Any, other: Any, slack: Any) -> None:
    """Set a row to the products of two other rows."""
    for lane in range(0, slack + 1, _LANES):
        store(target, lane, load64(source, lane) * load64(other, lane))


@kernel
def _sum_long(m: Any, line: Any, open_: Any, slack: Any) -> Any:
    """Sum placements as `sum_placements` does, for a slack of 64 or more."""
    blocks = m.blocks[line]
    lanes_used = (m.one << slack << 1) - 1
    for block in range(blocks):
        size, least = m.clue[line, block], m.least[block]
        fits = lanes_used & (open_ >> (least + size))
        for lane in range(0, slack + 1, _LANES):
            weight = select(fits >> lane, load64(m.evidence, least + lane), splat64(f32(0)))
            for more in range(1, size):
                weight = weight * load64(m.evidence, least + lane + more)
            store(m.placed[block], lane, weight)
    for lane in range(0, slack + 1, _LANES):
        store(m.ahead[0], lane, splat64(f32(0)))
        store(m.behind[blocks], lane, splat64(f32(0)))
    m.ahead[0, 0] = f32(1)
    m.behind[blocks, slack] = f32(1)
    _gap_ahead(m, m.ahead[0], open_ << 1, lanes_used, slack)
    _gap_behind(m, m.behind[blocks], open_ >> m.least[blocks], lanes_used, slack)
    for done in range(blocks):
        left = blocks - 1 - done
        _multiply(m.ahead[done + 1], m.ahead[done], m.placed[done], slack)
        _multiply(m.behind[left], m.behind[left + 1], m.placed[left], slack)
        _gap_ahead(m, m.ahead[done + 1], open_ >> (m.least[done + 1] - 1), lanes_used, slack)
        _gap_behind(m, m.behind[left], open_ >> m.least[left], lanes_used, slack)
    for block in range(blocks + 1):
        spread = m.spread[block]
        for column in range(0, m.length[line] + 1, 16):
            store(spread, column, splat16(f32(0)))
        for lane in range(0, slack + 1, _LANES):
            store(spread, m.least[block] + lane, load64(m.ahead[block], lane) * load64(m.behind[block], lane))
    return m.ahead[blocks, slack]


@kernel
def _sum(m: Any, line: Any, open_: Any, slack: Any) -> Any:
    if slack < 16:
        return _sum_16(m, line, open_, slack)
    if slack < 32:
        return _sum_32(m, line, open_, slack)
    if slack < 64:
        return _sum_64(m, line, open_, slack)
    return _sum_long(m, line, open_, slack)


@kernel
def believe_line(m: Any, line: Any, black: Any, white: Any, most_odds: Any) -> Any:
    """Set `m.outgoing` to a line's outgoing odds; False if no placement has a weight that float32 can represent.

    Before: `m.told[line]` contains the line's incoming odds; `black` and `white` are its known cells. Outgoing
    odds are kept between 1 / `most_odds` and `most_odds`, a float32.
    """
    m.counts.belief_updates += 1
    length, blocks = m.length[line], m.blocks[line]
    least = 0
    for block in range(blocks):
        m.least[block] = least
        least += m.clue[line, block] + 1
    m.least[blocks] = least
    slack = length + 1 - least
    open_ = ~black & ((m.one << (length + 1)) - 1)
    told = m.told[line]
    zero, unit = splat16(f32(0)), splat16(f32(1))

    # Reads also go beyond the last cell, but only in lanes beyond the slack, which are dropped.
    for cell in range(0, length + 1, 16):
        weight = select(black >> cell, unit, select(white >> cell, zero, load16(told, cell)))
        store(m.evidence, cell, weight)

    total = _sum(m, line, open_, slack)
    # If the total is out of float32's range, scale all odds by one factor: since all placements have the same
    # number of black cells, no probability changes.
    step = most_odds
    for _ in range(_SCALINGS):
        if total > _LEAST_TOTAL and total < _MOST_TOTAL:
            break
        factor = splat16(step if total < f32(1) else f32(1) / step)
        for cell in range(0, length + 1, 16):
            store(m.evidence, cell, select(black >> cell, unit, load16(m.evidence, cell) * factor))
        total = _sum(m, line, open_, slack)
        step = np.sqrt(step)
    if not (total > f32(0) and total < _INFINITY):
        return False

    all_, soft = splat16(total), splat16(_SOFTENING * total)
    most, fewest = splat16(most_odds), splat16(f32(1) / most_odds)
    for cell in range(0, length, 16):
        # Column 1 + i of `spread` is cell i.
        white_weight = load16(m.spread[0], cell + 1)
        for block in range(blocks):
            white_weight = white_weight + load16(m.spread[block + 1], cell + 1)
        black_weight = at_least(all_ - white_weight, zero)
        against = (white_weight + soft) * load16(told, cell)
        odds = (black_weight + soft) / against
        store(m.outgoing, cell, at_least(at_most(odds, most), fewest))
    return True


@kernel
def forget(m: Any) -> None:
    """Set all incoming odds to even."""
    for line in range(m.lines):
        for cell in range(0, m.length[line] + 1, 16):
            store(m.told[line], cell, splat16(f32(1)))


@kernel
def sweep(m: Any, most_odds: Any) -> Any:
    """Send the messages of all rows of the board, then of all columns; False if a line has no placement left.

    After: m.odds[x, y] is the odds of the cell in row y, column x, from both its row and its column.
    """
    height, lines = m.height, m.lines
    for line in range(lines):
        length = m.length[line]
        black, white = m.board.black[line], m.board.white[line]
        if (black | white) + 1 == m.one << length:
            continue
        if not believe_line(m, line, black, white, most_odds):
            return False
        if line < height:
            for x in range(length):
                m.told[height + x, line] = m.outgoing[x]
        else:
            x = line - height
            for cell in range(0, length, 16):
                store(m.odds[x], cell, load16(m.outgoing, cell) * load16(m.told[line], cell))
            for y in range(length):
                m.told[y, x] = m.outgoing[y]
    return True
