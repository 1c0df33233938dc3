"""The papers' propagation and FP1, from the empty board."""

from __future__ import annotations

from typing import Any

import numpy as np

from nonobot.bot.kernels.compiling import entry
from nonobot.bot.kernels.memory import Memory
from nonobot.bot.papers import PapersStrategy, deduce, search
from nonobot.bot.papers.probing import count_known
from nonobot.bot.papers.state import OUTCOME
from nonobot.harness.bench.job import Job, clocked, require
from nonobot.harness.bench.jobs.positions import positions
from nonobot.protocol import Puzzle

__all__ = ["make", "papers_memory_with"]

_LEVELS = {"propagation-papers": 0, "fp1-root": 1}


def papers_memory_with(puzzle: Puzzle, level: int = 1) -> Memory:
    """Return the memory of a search of `puzzle` before it begins."""
    memory = PapersStrategy().load(puzzle)
    memory.items("level")[0] = level
    return memory


@entry
def deduce_all(m: Any, times: Any) -> Any:
    """Deduce so often, each time with the line cache empty; return the number of known cells, all added up."""
    known = 0
    for _ in range(times):
        m.cache_age += 1  # empties the cache
        if search.deduce(m) != OUTCOME.unsolvable:
            known += count_known(m, m.board)
    return known


def make(name: str) -> Job:
    """Return the job of propagation, or of FP1."""
    level = _LEVELS[name]
    puzzles = [one.puzzle for one in positions()]
    memories = [papers_memory_with(puzzle, level) for puzzle in puzzles]

    def work(loops: int) -> int:
        return sum(int(deduce_all(memory, loops)) for memory in memories)

    def check() -> None:
        deduced = [deduce(puzzle, level, "recurrence") for puzzle in puzzles]
        known = sum(int(np.count_nonzero(cells >= 0)) for cells in deduced if cells is not None)
        require(work(2) == 2 * known, "not as many cells follow as the other line solver finds")

    return Job(len(puzzles), clocked(work), check)
