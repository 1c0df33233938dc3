"""Beliefs in the search: damped messages, kept warm, with marginals for cells and bounds.

They choose the first decisions of an episode and give the search its target values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nonobot.bot.access import address, get, get2, put, put2, read
from nonobot.bot.bits import lowest_bit, u64
from nonobot.bot.champion.beliefs import believe_line
from nonobot.bot.champion.random import random_float
from nonobot.bot.champion.state import (
    AHEAD,
    BEHIND,
    BLOCKS,
    BOARD,
    BOUND_BASE,
    BOUND_MARGINAL,
    CHANGE,
    FIRST,
    HEARD,
    HEIGHT,
    LAST,
    LENGTH,
    LINES,
    MARGINAL,
    MOST_LINES,
    OUTGOING,
    PLACED,
    RETELL,
    ROW,
    SAID,
    TOLD,
    WIDTH,
)
from nonobot.bot.jit import kernel
from nonobot.bot.vectors import add, div, load16, mul, splat16, store, sub

__all__ = ["believe", "believe_anew"]

f32 = np.float32

MOST_ODDS = f32(1000)
DAMPING = f32(0.2)  # share of what a line said before
FEWEST_NEWS = f32(0.02)  # a line hears again only when a probability changed by so much
SWEEPS = 10  # of an episode's start

_WHITE = u64(MOST_LINES)
_FLOAT_BYTES = u64(4)


@kernel
def _known(m: Any, line: Any) -> Any:
    return get(m, BOARD, line) | get(m, BOARD, _WHITE + line)


@kernel
def _start_messages(m: Any, noise: Any) -> None:
    """Tell every line even odds, or nearly even ones."""
    for line in range(read(m, LINES)):
        for i in range(u64(ROW)):
            likely = f32(0.5)
            if noise > f32(0):
                likely += noise * (random_float(m) - f32(0.5))
            put2(m, TOLD, line, i, likely / (f32(1) - likely))
    height, width = read(m, HEIGHT), read(m, WIDTH)
    for y in range(height):
        for x in range(width):
            put2(m, SAID, y, x, get2(m, TOLD, height + x, y))
            put2(m, SAID, height + x, y, get2(m, TOLD, y, x))


@kernel
def _damp(m: Any, line: Any, length: Any, damping: Any) -> Any:
    """Mix OUTGOING with what the line said before, in SAID, and return the cells about which it has news."""
    unit = splat16(f32(1))
    old_share, new_share = splat16(damping), splat16(f32(1) - damping)
    at = u64(0)
    while at < length:
        said = address(m, SAID, line * u64(ROW) + at)
        out = address(m, OUTGOING, at)
        new, old = load16(out), load16(said)
        new = div(new, add(unit, new))
        old = div(old, add(unit, old))
        mixed = add(mul(old_share, old), mul(new_share, new))
        store(address(m, CHANGE, at), sub(mixed, old))
        mixed = div(mixed, sub(unit, mixed))
        store(out, mixed)
        store(said, mixed)
        at += u64(16)
    news = u64(0)
    for i in range(length):
        if abs(get(m, CHANGE, i)) > FEWEST_NEWS:
            news |= u64(1) << i
    return news


@kernel
def _keep_bound_marginals(m: Any, line: Any) -> None:
    """Set BOUND_MARGINAL of a line from the sums that believe_line left."""
    blocks = get(m, BLOCKS, line)
    if blocks == u64(0):
        return
    slack = get2(m, LAST, line, 0) - get2(m, FIRST, line, 0)
    total = get2(m, AHEAD, blocks, slack)
    for block in range(blocks):
        base = get2(m, BOUND_BASE, line, block)
        before = f32(0)
        for d in range(slack):
            placed = get2(m, PLACED, block, d) * get2(m, AHEAD, block, d)
            before += placed * get2(m, BEHIND, block + u64(1), d)
            put(m, BOUND_MARGINAL, base + d, before / total)


@kernel
def _speak(m: Any, line: Any, is_first: Any, with_bounds: Any) -> None:
    """Let a line say what it believes to the lines that cross it."""
    height = read(m, HEIGHT)
    length = u64(get(m, LENGTH, line))
    if not believe_line(m, line, get(m, BOARD, line), get(m, BOARD, _WHITE + line), MOST_ODDS):
        return
    if with_bounds:
        _keep_bound_marginals(m, line)
    news = _damp(m, line, length, f32(0) if is_first else DAMPING)
    is_row = line < height
    crossing, place = (height, line) if is_row else (u64(0), line - height)
    for i in range(length):
        put2(m, TOLD, crossing + i, place, get(m, OUTGOING, i))
    listeners = u64(1) if is_row else u64(0)
    put(m, RETELL, listeners, get(m, RETELL, listeners) | (news & ~_known(m, line)))


@kernel
def _keep_marginals(m: Any) -> None:
    height, width = read(m, HEIGHT), read(m, WIDTH)
    for y in range(height):
        for x in range(width):
            odds = get2(m, TOLD, y, x) * get2(m, TOLD, height + x, y)
            put(m, MARGINAL, y * width + x, odds / (f32(1) + odds))


@kernel
def believe(m: Any) -> None:
    """Let the lines that know or were told something new speak once, and set MARGINAL."""
    height = read(m, HEIGHT)
    for line in range(read(m, LINES)):
        if _known(m, line) != get(m, HEARD, line):
            half = u64(line >= height)
            put(m, RETELL, half, get(m, RETELL, half) | (u64(1) << (line - half * height)))
    for half in (u64(0), u64(1)):
        speakers = get(m, RETELL, half)
        put(m, RETELL, half, u64(0))
        while speakers:
            line = half * height + lowest_bit(speakers)
            speakers &= speakers - u64(1)
            if _known(m, line) + u64(1) != u64(1) << u64(get(m, LENGTH, line)):
                _speak(m, line, False, False)
    for line in range(read(m, LINES)):
        put(m, HEARD, line, _known(m, line))
    _keep_marginals(m)


@kernel
def believe_anew(m: Any, noise: Any) -> None:
    """Forget all messages, start from even odds with some `noise`, and set MARGINAL and BOUND_MARGINAL."""
    _start_messages(m, noise)
    lines = read(m, LINES)
    for turn in range(SWEEPS):
        is_last = turn == SWEEPS - 1
        for line in range(lines):
            if is_last or _known(m, line) + u64(1) != u64(1) << u64(get(m, LENGTH, line)):
                _speak(m, line, turn == 0 and noise == f32(0), is_last)
    put(m, RETELL, 0, u64(0))
    put(m, RETELL, 1, u64(0))
    for line in range(lines):
        put(m, HEARD, line, _known(m, line))
    _keep_marginals(m)
