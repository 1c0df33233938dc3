"""The champion's propagation of a whole board."""

from __future__ import annotations

from typing import Any

import numpy as np

from nonobot.bot.board import known_cells, propagate, start_board
from nonobot.bot.champion import ChampionStrategy
from nonobot.bot.kernels.compiling import entry
from nonobot.bot.kernels.masks import count
from nonobot.bot.papers import deduce
from nonobot.harness.bench.job import Job, clocked, require
from nonobot.harness.bench.jobs.positions import positions

__all__ = ["make", "propagate_board"]


@entry
def propagate_board(m: Any, times: Any) -> Any:
    """Propagate the board from the beginning so often; return the number of known cells, all added up."""
    known = 0
    for _ in range(times):
        start_board(m)
        if propagate(m):
            for y in range(m.height):
                known += count(known_cells(m, y))
    return known


def make(_: str) -> Job:
    """Return the job."""
    puzzles = [one.puzzle for one in positions()]
    memories = [ChampionStrategy().load(puzzle) for puzzle in puzzles]

    def work(loops: int) -> int:
        return sum(int(propagate_board(memory, loops)) for memory in memories)

    def check() -> None:
        deduced = [deduce(puzzle, 0, "recurrence") for puzzle in puzzles]
        known = sum(int(np.count_nonzero(cells >= 0)) for cells in deduced if cells is not None)
        require(work(2) == 2 * known, "propagation does not paint what the papers' does")

    return Job(len(puzzles), clocked(work), check)
