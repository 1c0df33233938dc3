"""Noting moments of a search for people who watch; otherwise it costs a comparison."""

from __future__ import annotations

from typing import Any

from nonobot.bot.jit import kernel
from nonobot.bot.papers.state import BLACK, WHITE, State
from nonobot.bot.words import u64

__all__ = ["note"]


@kernel
def note(state: State, grid: Any, kind: Any) -> None:
    """Note what has just happened to `grid`, if somebody watches and there is room."""
    moment = state.moment_count[0]
    if moment >= state.moment_count[1]:
        return
    noted = state.moments[moment]
    last = u64(noted.shape[0]) - u64(1)
    height = last >> u64(1)
    noted[last] = kind
    for y in range(height):
        noted[y] = grid[BLACK, y]
        noted[height + y] = grid[WHITE, y]
    state.moment_count[0] += u64(1)
