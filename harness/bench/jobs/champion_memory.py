"""The champion's memory with a puzzle in it, for kernels that are called one by one."""

from __future__ import annotations

from nonobot.bot.champion import ChampionStrategy
from nonobot.bot.exchange import FOREVER_NS, put_puzzle
from nonobot.bot.memory import Memory
from nonobot.protocol import Puzzle

__all__ = ["memory_with"]


def memory_with(puzzle: Puzzle, least_bits: int = 64) -> Memory:
    """Return a memory as it is before the search of `puzzle` begins, for masks of `least_bits` or more."""
    engine = ChampionStrategy(least_bits=least_bits)._engine_for(puzzle.width, puzzle.height)
    put_puzzle(engine.memory, puzzle, None)
    engine.memory.view("deadline")[0] = FOREVER_NS
    return engine.memory
