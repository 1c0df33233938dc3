"""Which stages are on."""

from __future__ import annotations

from typing import Any

from bot.access import read
from bot.champion.state import STAGES
from bot.jit import kernel
from bot.words import u64

__all__ = ["is_on"]


@kernel
def is_on(m: Any, stage: Any) -> Any:
    """Tell whether a stage is on."""
    return (read(m, STAGES) & stage) != u64(0)
