"""The champion's memory with a puzzle in it, for kernels that are called one by one."""

from __future__ import annotations

from nonobot.bot.champion import ChampionStrategy
from nonobot.bot.memory import Memory
from nonobot.protocol import Puzzle

__all__ = ["memory_with"]

_FOREVER_NS = 2**62


def memory_with(puzzle: Puzzle, least_bits: int = 64) -> Memory:
    """Return a memory as it is before the search of `puzzle` begins, for masks of `least_bits` or more."""
    engine = ChampionStrategy(least_bits=least_bits)._engine_for(puzzle.width, puzzle.height)
    engine.load(puzzle, None)
    engine.memory.view("deadline")[0] = _FOREVER_NS
    return engine.memory
