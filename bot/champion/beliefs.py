"""Belief propagation: how likely is each cell black, as far as the lines can tell each other?

Each line is a factor. It is told, for each of its cells, the odds black : white that the crossing line sees; a
forward-backward sum over all placements of its blocks gives the probability of each cell; the odds it was told
are divided out again, and the rest is told to the crossing line. Sum-product on the lines' factor graph
(Kschischang, Frey & Loeliger 2001), the sum over placements by slack: block j starts at least_j + d with
d = 0..slack, where least_j = sum of (length + 1) of the blocks before it. d is the lane of a vector.
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

_SOFTENING = f32(1e-6)
"""Added to both weights of a cell, as a share of all placements, so that nothing is divided by zero."""


def _make_scans(most_slack: int) -> Any:
    """Return the kernels that sum over a gap, for vectors of `most_slack` + 1 lanes.

    A gap between blocks turns x[d] into the sum of all x[d'] between which only open cells lie: a segmented scan,
    done in doubling steps. `lanes_used` keeps a step from taking what was rotated round the end.
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
    def scan_down(x: Any, at: Any, lanes_used: Any, slack: Any) -> Any:
        """Sum over d' >= d. Bit d of `at`: the first cell of a block at slack d is open."""
        x = select(at & (lanes_used >> 1), x + rotate_down(x, 1), x)
        at &= at >> 1
        x = select(at & (lanes_used >> 2), x + rotate_down(x, 2), x)
        at &= at >> 2
        x = select(at & (lanes_used >> 4), x + rotate_down(x, 4), x)
        if slack >= 8:
            at &= at >> 4
            x = select(at & (lanes_used >> 8), x + rotate_down(x, 8), x)
        if most_slack > 15 and slack >= 16:
            at &= at >> 8
            x = select(at & (lanes_used >> 16), x + rotate_down(x, 16), x)
        if most_slack > 31 and slack >= 32:
            at &= at >> 16
            x = select(at & (lanes_used >> 32), x + rotate_down(x, 32), x)
        return x

    return scan_up, scan_down


def _make_sum_placements(most_slack: int, load: Any, splat: Any) -> Any:
    """Return the kernel for lines whose slack is at most `most_slack` = number of lanes - 1."""
    scan_up, scan_down = _make_scans(most_slack)

    @kernel
    def sum_placements(m: Any, line: Any, open_: Any, slack: Any) -> Any:
        """Set `ahead` and `behind` to the sums before and behind each gap; return the weight of all placements.

        Before: `evidence` holds the weight of each cell being black, 1 that of a white one; `open_` is the set of
        cells that may be white, the virtual cell behind the last one included. `least` is set.
        After: ahead[j, d] * behind[j, d] is the weight of the placements in which the gap before block j ends, or
        reaches, just before cell least[j] + d.
        """
        zero, unit = splat(f32(0)), splat(f32(1))
        lanes_used = (m.one << slack << 1) - 1
        blocks = m.blocks[line]

        for block in range(blocks):
            size = m.clue[line, block]
            least = m.least[block]
            weight = select(lanes_used & (open_ >> (least + size)), load(m.evidence, least), zero)
            # Three more cells without a branch (a longer block is rare), the others in a loop.
            weight = weight * select(m.none - (size > 1), load(m.evidence, least + 1), unit)
            weight = weight * select(m.none - (size > 2), load(m.evidence, least + 2), unit)
            weight = weight * select(m.none - (size > 3), load(m.evidence, least + 3), unit)
            while size > 4:
                size -= 1
                weight = weight * load(m.evidence, least + size)
            store(m.placed[block], 0, weight)

        # Both directions at once: each is a chain of dependent steps, and the two do not wait for each other.
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

        # Each product goes to its place in a row of its own, so that no store waits for another.
        for block in range(blocks + 1):
            spread = m.spread[block]
            for at in range(0, m.length[line] + 1, 16):
                store(spread, at, splat16(f32(0)))
            store(spread, m.least[block], load(m.ahead[block], 0) * load(m.behind[block], 0))
        return m.ahead[blocks, slack]

    return sum_placements


_sum_16 = _make_sum_placements(15, load16, splat16)
_sum_32 = _make_sum_placements(31, load32, splat32)
_sum_64 = _make_sum_placements(63, load64, splat64)


# --- longer slacks: 64 lanes at a time, and what goes from one stretch of lanes to the next ---

_LANES = 64

_scan_up, _scan_down = _make_scans(_LANES - 1)


@kernel
def _gap_ahead(m: Any, row: Any, before: Any, lanes_used: Any, slack: Any) -> None:
    """Turn a row of sums into those behind a gap, as `scan_up` does."""
    every = (m.one << _LANES) - 1
    carried = f32(0)
    for at in range(0, slack + 1, _LANES):
        open_here = before >> at
        sums = _scan_up(load64(row, at), open_here, (lanes_used >> at) & every, _LANES)
        reached = open_here & ~(open_here + 1)  # the ones below the lowest zero
        store(row, at, sums + select(reached, splat64(carried), splat64(f32(0))))
        carried = row[at + _LANES - 1]


@kernel
def _gap_behind(m: Any, row: Any, open_: Any, lanes_used: Any, slack: Any) -> None:
    """Turn a row of sums into those in front of a gap, as `scan_down` does."""
    every = (m.one << _LANES) - 1
    carried = f32(0)
    at = slack // _LANES * _LANES
    while at >= 0:
        open_here = (open_ >> at) & every
        sums = _scan_down(load64(row, at), open_here, (lanes_used >> at) & every, _LANES)
        closed = every & ~open_here
        reached = every
        if closed:
            reached &= ~(((m.one << 1) << highest(closed)) - 1)  # the ones above the highest zero
        store(row, at, sums + select(reached, splat64(carried), splat64(f32(0))))
        carried = row[at]
        at -= _LANES


@kernel
def _multiply(target: Any, source: Any, other: Any, slack: Any) -> None:
    """Make a row the products of two others."""
    for at in range(0, slack + 1, _LANES):
        store(target, at, load64(source, at) * load64(other, at))


@kernel
def _sum_long(m: Any, line: Any, open_: Any, slack: Any) -> Any:
    """Do what `sum_placements` does, for a slack of 64 or more."""
    blocks = m.blocks[line]
    lanes_used = (m.one << slack << 1) - 1
    for block in range(blocks):
        size, least = m.clue[line, block], m.least[block]
        fits = lanes_used & (open_ >> (least + size))
        for at in range(0, slack + 1, _LANES):
            weight = select(fits >> at, load64(m.evidence, least + at), splat64(f32(0)))
            for more in range(1, size):
                weight = weight * load64(m.evidence, least + at + more)
            store(m.placed[block], at, weight)
    for at in range(0, slack + 1, _LANES):
        store(m.ahead[0], at, splat64(f32(0)))
        store(m.behind[blocks], at, splat64(f32(0)))
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
        for at in range(0, m.length[line] + 1, 16):
            store(spread, at, splat16(f32(0)))
        for at in range(0, slack + 1, _LANES):
            store(spread, m.least[block] + at, load64(m.ahead[block], at) * load64(m.behind[block], at))
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
    """Set `m.outgoing` to what a line says of its cells; False if no placement has a weight that float32 can tell.

    Before: `m.told[line]` are the odds it is told; `black` and `white` the cells it knows. Odds are kept between
    1 / `most_odds` and `most_odds`, a float32.
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

    # What lies behind the last cell is read too, but only by lanes beyond the slack, which are dropped.
    for at in range(0, length + 1, 16):
        weight = select(black >> at, unit, select(white >> at, zero, load16(told, at)))
        store(m.evidence, at, weight)

    total = _sum(m, line, open_, slack)
    # Out of float32's range? All placements have the same number of black cells: one factor for all odds changes
    # no probability.
    step = most_odds
    for _ in range(_SCALINGS):
        if total > _LEAST_TOTAL and total < _MOST_TOTAL:
            break
        factor = splat16(step if total < f32(1) else f32(1) / step)
        for at in range(0, length + 1, 16):
            store(m.evidence, at, select(black >> at, unit, load16(m.evidence, at) * factor))
        total = _sum(m, line, open_, slack)
        step = np.sqrt(step)
    if not (total > f32(0) and total < _INFINITY):
        return False

    all_, soft = splat16(total), splat16(_SOFTENING * total)
    most, fewest = splat16(most_odds), splat16(f32(1) / most_odds)
    for at in range(0, length, 16):
        # Column 1 + i of `spread` is cell i.
        white_weight = load16(m.spread[0], at + 1)
        for block in range(blocks):
            white_weight = white_weight + load16(m.spread[block + 1], at + 1)
        black_weight = at_least(all_ - white_weight, zero)
        against = (white_weight + soft) * load16(told, at)
        odds = (black_weight + soft) / against
        store(m.outgoing, at, at_least(at_most(odds, most), fewest))
    return True


@kernel
def forget(m: Any) -> None:
    """Start anew: every line is told even odds."""
    for line in range(m.lines):
        for at in range(0, m.length[line] + 1, 16):
            store(m.told[line], at, splat16(f32(1)))


@kernel
def sweep(m: Any, most_odds: Any) -> Any:
    """Let all rows of the board speak, then all columns; False if a line has no placement left.

    After: m.odds[x, y] are the odds of the cell in row y, column x, by what its row and its column say.
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
            for at in range(0, length, 16):
                store(m.odds[x], at, load16(m.outgoing, at) * load16(m.told[line], at))
            for y in range(length):
                m.told[y, x] = m.outgoing[y]
    return True
