"""Sweeps of belief propagation."""

from __future__ import annotations

from typing import Any

import numpy as np

from nonobot.bot.champion import ChampionStrategy
from nonobot.bot.champion.beliefs import forget, sweep
from nonobot.bot.champion.descent import MOST_ODDS
from nonobot.bot.kernels.compiling import entry
from nonobot.bot.kernels.memory import Memory
from nonobot.harness.bench.job import Job, clocked, require
from nonobot.harness.bench.jobs.board_propagation import propagate_board
from nonobot.harness.bench.jobs.positions import positions

__all__ = ["make"]

SWEEPS = 8
"""From even odds on; a descent makes three before its first step, and one before each other."""


@entry
def sweep_often(m: Any, most_odds: Any, sweeps: Any, times: Any) -> Any:
    """Forget everything and sweep, so often; return how many sweeps went well."""
    well = 0
    for _ in range(times):
        forget(m)
        for _ in range(sweeps):
            if sweep(m, most_odds):
                well += 1
    return well


def make(_: str) -> Job:
    """Return the job."""
    puzzles = [one.puzzle for one in positions()]
    memories = [ChampionStrategy().load(puzzle) for puzzle in puzzles]
    for memory in memories:
        propagate_board(memory, 1)

    def work(loops: int) -> int:
        return sum(int(sweep_often(memory, MOST_ODDS, SWEEPS, loops)) for memory in memories)

    def check() -> None:
        require(work(1) == SWEEPS * len(memories), "a sweep met a conflict")
        for memory, puzzle in zip(memories, puzzles, strict=True):
            require(_is_lively(memory, puzzle.width, puzzle.height), "the odds are not those of beliefs")

    return Job(SWEEPS * len(puzzles), clocked(work), check)


def _is_lively(memory: Memory, width: int, height: int) -> bool:
    """Tell whether the odds of a board are numbers within the bounds, and not all even."""
    odds = memory.view("odds")[:width, :height]
    known = memory.view("board.black")[:height] | memory.view("board.white")[:height]
    unknown = (known >> np.arange(width, dtype=np.uint64)[:, np.newaxis] & np.uint64(1)) == 0
    told = odds[unknown]
    return bool(told.size and np.isfinite(told).all() and (told > 0).all() and (told != 1).any())
