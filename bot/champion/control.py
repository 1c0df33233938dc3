"""What a call may do: the stages that are on, and the time it has and has spent."""

from __future__ import annotations

from typing import Any

from nonobot.bot.access import get, put, read, write
from nonobot.bot.bits import now_ns, u64
from nonobot.bot.champion.state import DEADLINE, LAP, SPENT, STAGES
from nonobot.bot.jit import kernel

__all__ = ["is_late", "is_on", "lap", "start_laps"]


@kernel
def is_on(m: Any, stage: Any) -> Any:
    """Tell whether a stage is on."""
    return (read(m, STAGES) & stage) != u64(0)


@kernel
def is_late(m: Any) -> Any:
    """Tell whether the time is up; asking takes 20 ns."""
    return now_ns() > read(m, DEADLINE)


@kernel
def start_laps(m: Any) -> None:
    """Begin to measure."""
    write(m, LAP, now_ns())


@kernel
def lap(m: Any, step: Any) -> Any:
    """Add the time since the last lap to that of `step`, and return what time it is."""
    now = now_ns()
    put(m, SPENT, step, get(m, SPENT, step) + now - read(m, LAP))
    write(m, LAP, now)
    return now
