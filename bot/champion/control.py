"""What a call may do: the stages that are on, and the time it has."""

from __future__ import annotations

from typing import Any

from bot.access import read
from bot.champion.state import DEADLINE, STAGES
from bot.jit import kernel
from bot.words import now_ns, u64

__all__ = ["is_late", "is_on"]


@kernel
def is_on(m: Any, stage: Any) -> Any:
    """Tell whether a stage is on."""
    return (read(m, STAGES) & stage) != u64(0)


@kernel
def is_late(m: Any) -> Any:
    """Tell whether the time is up; asking takes 20 ns."""
    return now_ns() > read(m, DEADLINE)
