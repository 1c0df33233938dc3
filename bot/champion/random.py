"""Random numbers of the search: xorshift64 (Marsaglia 2003), the same on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from nonobot.bot.access import read, write
from nonobot.bot.bits import u64
from nonobot.bot.champion.state import RANDOM
from nonobot.bot.jit import kernel

__all__ = ["random_float"]


@kernel
def random_float(m: Any) -> Any:
    """Return a random float32 in [0, 1)."""
    state = read(m, RANDOM)
    state ^= state << u64(13)
    state ^= state >> u64(7)
    state ^= state << u64(17)
    write(m, RANDOM, state)
    return np.float32(state >> u64(40)) * np.float32(2.0**-24)
