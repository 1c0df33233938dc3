"""What surrounds the search: its time, its random numbers, the moments that somebody watches."""

from __future__ import annotations

from typing import Any

import numpy as np

from nonobot.bot.clock import now_ns
from nonobot.bot.jit import kernel

__all__ = ["is_late", "is_on", "lap", "note", "random_float", "start_laps"]


@kernel
def is_on(m: Any, stage: Any) -> Any:
    """Tell whether a stage is on."""
    return (m.stages & stage) != 0


@kernel
def is_late(m: Any) -> Any:
    """Tell whether the time is up, or as many lines are painted as may be; asking takes 20 ns."""
    return now_ns() > m.deadline or m.counts.line_solves > m.most_lines


@kernel
def start_laps(m: Any) -> None:
    """Begin to measure."""
    m.lap = now_ns()


@kernel
def lap(m: Any, step: Any) -> Any:
    """Add the time since the last lap to that of `step`, and return what time it is."""
    now = now_ns()
    m.spent[step] += now - m.lap
    m.lap = now
    return now


@kernel
def random_float(m: Any) -> Any:
    """Return a random float32 in [0, 1): xorshift64 (Marsaglia 2003), the same on every machine."""
    m.random ^= m.random << np.uint64(13)
    m.random ^= m.random >> np.uint64(7)
    m.random ^= m.random << np.uint64(17)
    return np.float32(m.random >> np.uint64(40)) * np.float32(2.0**-24)


@kernel
def _write_down(m: Any, kind: Any, moment: Any) -> None:
    moment.kind = kind
    for y in range(m.height):
        moment.black[y] = m.board.black[y]
        moment.white[y] = m.board.white[y]


@kernel
def note(m: Any, kind: Any) -> None:
    """Note what has just happened, and the board, if somebody watches and there is room."""
    if m.moment_count < m.moment_room:
        _write_down(m, kind, m.moments[m.moment_count])
        m.moment_count += 1
