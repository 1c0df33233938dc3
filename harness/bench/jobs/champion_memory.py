"""The champion's memory with a puzzle in it, for kernels that are called one by one."""

from __future__ import annotations

from nonobot.bot.champion import ChampionStrategy
from nonobot.bot.memory import Memory
from nonobot.protocol import Puzzle

__all__ = ["memory_with"]

_FOREVER_NS = 2**62


def memory_with(puzzle: Puzzle) -> Memory:
    """Return a memory as it is before the search of `puzzle` begins."""
    strategy = ChampionStrategy()
    strategy._load(puzzle, None, _FOREVER_NS)
    return strategy._memory
