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

from nonobot.bot.access import address, get, get2, put, put2, read
from nonobot.bot.bits import u64
from nonobot.bot.champion.state import (
    AHEAD,
    BEHIND,
    BELIEF_UPDATES,
    BLOCKS,
    BOARD,
    CLUE,
    COUNTS,
    EVIDENCE,
    HEIGHT,
    LEAST,
    LENGTH,
    LINES,
    MOST_LINES,
    ODDS,
    OUTGOING,
    PLACED,
    ROW,
    SPREAD,
    TOLD,
)
from nonobot.bot.jit import inlined, kernel
from nonobot.bot.vectors import (
    add,
    at_least,
    at_most,
    div,
    load16,
    load32,
    load64,
    mul,
    rotate_down,
    rotate_up,
    select,
    splat16,
    splat32,
    splat64,
    store,
    sub,
)

__all__ = ["believe_line", "forget", "sweep"]

f32 = np.float32

_FLOAT_BYTES = u64(4)
_ROW_BYTES = u64(4 * ROW)

_SCALINGS = 8

_LEAST_TOTAL, _MOST_TOTAL, _INFINITY = f32(1e-30), f32(1e30), f32(np.inf)

_SOFTENING = f32(1e-6)
"""Added to both weights of a cell, as a share of all placements, so that nothing is divided by zero."""


def _make_sum_placements(most_slack: int, load: Any, splat: Any) -> Any:
    """Return the kernel for lines whose slack is at most `most_slack` = number of lanes - 1.

    A gap between blocks turns x[d] into the sum of all x[d'] between which only open cells lie: a segmented scan,
    done in doubling steps. `lanes_used` keeps a step from taking what was rotated round the end.
    """

    @inlined
    def scan_up(x: Any, before: Any, lanes_used: Any, slack: Any) -> Any:
        """Sum over d' <= d. Bit d of `before`: the cell in front of a block at slack d is open."""
        x = select(before & (lanes_used << u64(1)) & lanes_used, add(x, rotate_up(x, 1)), x)
        before &= before << u64(1)
        x = select(before & (lanes_used << u64(2)) & lanes_used, add(x, rotate_up(x, 2)), x)
        before &= before << u64(2)
        x = select(before & (lanes_used << u64(4)) & lanes_used, add(x, rotate_up(x, 4)), x)
        if slack >= u64(8):
            before &= before << u64(4)
            x = select(before & (lanes_used << u64(8)) & lanes_used, add(x, rotate_up(x, 8)), x)
        if most_slack > 15 and slack >= u64(16):
            before &= before << u64(8)
            x = select(before & (lanes_used << u64(16)) & lanes_used, add(x, rotate_up(x, 16)), x)
        if most_slack > 31 and slack >= u64(32):
            before &= before << u64(16)
            x = select(before & (lanes_used << u64(32)) & lanes_used, add(x, rotate_up(x, 32)), x)
        return x

    @inlined
    def scan_down(x: Any, at: Any, lanes_used: Any, slack: Any) -> Any:
        """Sum over d' >= d. Bit d of `at`: the first cell of a block at slack d is open."""
        x = select(at & (lanes_used >> u64(1)), add(x, rotate_down(x, 1)), x)
        at &= at >> u64(1)
        x = select(at & (lanes_used >> u64(2)), add(x, rotate_down(x, 2)), x)
        at &= at >> u64(2)
        x = select(at & (lanes_used >> u64(4)), add(x, rotate_down(x, 4)), x)
        if slack >= u64(8):
            at &= at >> u64(4)
            x = select(at & (lanes_used >> u64(8)), add(x, rotate_down(x, 8)), x)
        if most_slack > 15 and slack >= u64(16):
            at &= at >> u64(8)
            x = select(at & (lanes_used >> u64(16)), add(x, rotate_down(x, 16)), x)
        if most_slack > 31 and slack >= u64(32):
            at &= at >> u64(16)
            x = select(at & (lanes_used >> u64(32)), add(x, rotate_down(x, 32)), x)
        return x

    @kernel
    def sum_placements(m: Any, line: Any, open_: Any, slack: Any) -> Any:
        """Set AHEAD and BEHIND to the sums before and behind each gap, and return the weight of all placements.

        Before: EVIDENCE holds the weight of each cell being black, 1 that of a white one; `open_` is the set of
        cells that may be white, the virtual cell behind the last one included. LEAST is set.
        After: AHEAD[j][d] * BEHIND[j][d] is the weight of the placements in which the gap before block j ends, or
        reaches, just before cell LEAST[j] + d.
        """
        one = u64(1)
        zero, unit = splat(f32(0)), splat(f32(1))
        lanes_used = (one << slack << one) - one
        blocks = get(m, BLOCKS, line)

        for block in range(blocks):
            size = get2(m, CLUE, line, block)
            least = get(m, LEAST, block)
            cell = address(m, EVIDENCE, least)
            weight = select(lanes_used & (open_ >> (least + size)), load(cell), zero)
            # Three more cells without a branch (a longer block is rare), the others in a loop.
            weight = mul(weight, select(-u64(size > u64(1)), load(cell + _FLOAT_BYTES), unit))
            weight = mul(weight, select(-u64(size > u64(2)), load(cell + u64(2) * _FLOAT_BYTES), unit))
            weight = mul(weight, select(-u64(size > u64(3)), load(cell + u64(3) * _FLOAT_BYTES), unit))
            while size > u64(4):
                size -= one
                weight = mul(weight, load(cell + size * _FLOAT_BYTES))
            store(address(m, PLACED, block * u64(ROW)), weight)

        # Both directions at once: each is a chain of dependent steps, and the two do not wait for each other.
        ahead = scan_up(select(one, unit, zero), open_ << one, lanes_used, slack)
        behind = select(one << slack, unit, zero)
        behind = scan_down(behind, open_ >> get(m, LEAST, blocks), lanes_used, slack)
        store(address(m, AHEAD, u64(0)), ahead)
        store(address(m, BEHIND, blocks * u64(ROW)), behind)
        for done in range(blocks):
            left = blocks - one - done
            ahead = mul(ahead, load(address(m, PLACED, done * u64(ROW))))
            behind = mul(behind, load(address(m, PLACED, left * u64(ROW))))
            ahead = scan_up(ahead, open_ >> (get(m, LEAST, done + one) - one), lanes_used, slack)
            behind = scan_down(behind, open_ >> get(m, LEAST, left), lanes_used, slack)
            store(address(m, AHEAD, (done + one) * u64(ROW)), ahead)
            store(address(m, BEHIND, left * u64(ROW)), behind)
        total = get2(m, AHEAD, blocks, slack)

        # Each product goes to its place in a row of its own, so that no store waits for another.
        for block in range(blocks + one):
            row = block * u64(2 * ROW)
            least = get(m, LEAST, block)
            at = u64(0)
            while at <= get(m, LENGTH, line):
                store(address(m, SPREAD, row + at), splat16(f32(0)))
                at += u64(16)
            gap = mul(load(address(m, AHEAD, block * u64(ROW))), load(address(m, BEHIND, block * u64(ROW))))
            store(address(m, SPREAD, row + least), gap)
        return total

    return sum_placements


_sum_16 = _make_sum_placements(15, load16, splat16)
_sum_32 = _make_sum_placements(31, load32, splat32)
_sum_64 = _make_sum_placements(63, load64, splat64)


@kernel
def _sum(m: Any, line: Any, open_: Any, slack: Any) -> Any:
    if slack < u64(16):
        return _sum_16(m, line, open_, slack)
    if slack < u64(32):
        return _sum_32(m, line, open_, slack)
    return _sum_64(m, line, open_, slack)


@kernel
def believe_line(m: Any, line: Any, black: Any, white: Any, most_odds: Any) -> Any:
    """Set OUTGOING to what a line says about its cells; False if no placement has a weight that float32 can tell.

    Before: TOLD[line] are the odds it is told; `black` and `white` the cells it knows.

    Parameters
    ----------
    m, line : uint64
    black, white : uint64
    most_odds : float32
        Odds are kept between 1 / most_odds and most_odds.
    """
    one = u64(1)
    put(m, COUNTS, BELIEF_UPDATES, get(m, COUNTS, BELIEF_UPDATES) + one)
    length, blocks = get(m, LENGTH, line), get(m, BLOCKS, line)
    least = u64(0)
    for block in range(blocks):
        put(m, LEAST, block, least)
        least += get2(m, CLUE, line, block) + one
    put(m, LEAST, blocks, least)
    slack = length + one - least
    open_ = ~black & ((one << (length + one)) - one)
    told = address(m, TOLD, line * u64(ROW))
    zero, unit = splat16(f32(0)), splat16(f32(1))

    # What lies behind the last cell is read too, but only by lanes beyond the slack, which are dropped.
    at = u64(0)
    while at <= length:
        odds = load16(told + at * _FLOAT_BYTES)
        weight = select(black >> at, unit, select(white >> at, zero, odds))
        store(address(m, EVIDENCE, at), weight)
        at += u64(16)

    total = _sum(m, line, open_, slack)
    # Out of float32's range? All placements have the same number of black cells: one factor for all odds changes
    # no probability.
    step = most_odds
    for _ in range(_SCALINGS):
        if total > _LEAST_TOTAL and total < _MOST_TOTAL:
            break
        factor = splat16(step if total < f32(1) else f32(1) / step)
        at = u64(0)
        while at <= length:
            weight = load16(address(m, EVIDENCE, at))
            store(address(m, EVIDENCE, at), select(black >> at, unit, mul(weight, factor)))
            at += u64(16)
        total = _sum(m, line, open_, slack)
        step = np.sqrt(step)
    if not (total > f32(0) and total < _INFINITY):
        return False

    all_, soft = splat16(total), splat16(_SOFTENING * total)
    most, fewest = splat16(most_odds), splat16(f32(1) / most_odds)
    at = u64(0)
    while at < length:
        # Column 1 + i of SPREAD is cell i.
        gap = address(m, SPREAD, at + one)
        white_weight = load16(gap)
        for _ in range(blocks):
            gap += u64(8 * ROW)
            white_weight = add(white_weight, load16(gap))
        black_weight = at_least(sub(all_, white_weight), zero)
        against = mul(add(white_weight, soft), load16(told + at * _FLOAT_BYTES))
        odds = div(add(black_weight, soft), against)
        store(address(m, OUTGOING, at), at_least(at_most(odds, most), fewest))
        at += u64(16)
    return True


@kernel
def forget(m: Any) -> None:
    """Start anew: every line is told even odds."""
    even = splat16(f32(1))
    for line in range(read(m, LINES)):
        at = u64(0)
        while at < u64(ROW):
            store(address(m, TOLD, line * u64(ROW) + at), even)
            at += u64(16)


@kernel
def sweep(m: Any, most_odds: Any) -> Any:
    """Let all rows of BOARD speak, then all columns; False if a line has no placement left.

    After: ODDS[x, y] are the odds of the cell in row y, column x, by what its row and its column say.
    """
    height, lines = read(m, HEIGHT), read(m, LINES)
    for line in range(lines):
        length = get(m, LENGTH, line)
        black, white = get(m, BOARD, line), get(m, BOARD, u64(MOST_LINES) + line)
        if (black | white) + u64(1) == u64(1) << length:
            continue
        if not believe_line(m, line, black, white, most_odds):
            return False
        if line < height:
            for x in range(length):
                put2(m, TOLD, height + x, line, get(m, OUTGOING, x))
        else:
            x = line - height
            at = u64(0)
            while at < length:
                both = mul(load16(address(m, OUTGOING, at)), load16(address(m, TOLD, line * u64(ROW) + at)))
                store(address(m, ODDS, x * u64(ROW) + at), both)
                at += u64(16)
            for y in range(length):
                put2(m, TOLD, y, x, get(m, OUTGOING, y))
    return True
