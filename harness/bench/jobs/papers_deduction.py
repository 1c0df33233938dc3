"""The papers' propagation and FP1, from the empty board."""

from __future__ import annotations

from typing import Any

import numpy as np

from nonobot.bot.bits import i64, u64
from nonobot.bot.jit import entry
from nonobot.bot.lines import BITSET
from nonobot.bot.papers import PapersStrategy, deduce
from nonobot.bot.papers.probing import known_cells
from nonobot.bot.papers.search import deduce_kernel
from nonobot.bot.papers.state import State
from nonobot.harness.bench.job import Job, clocked, require
from nonobot.harness.bench.jobs.positions import positions
from nonobot.protocol import Puzzle

__all__ = ["make", "state_with"]

_LEVELS = {"propagation-papers": 0, "fp1-root": 1}

_FOREVER_NS = i64(2**62)


def state_with(puzzle: Puzzle) -> State:
    """Return the state of a search of `puzzle` before it begins."""
    return PapersStrategy()._load(puzzle)


@entry
def deduce_all(state: State, solver: Any, level: Any, width: Any, height: Any, deadline: Any, times: Any) -> Any:
    """Deduce so often, each time with the line cache empty; return the number of known cells, all added up."""
    known = u64(0)
    for _ in range(times):
        state.cache_age[0] += u64(1)  # empties the cache
        if deduce_kernel(state, solver, level, width, height, deadline):
            known += known_cells(state.grid, height)
    return known


def make(name: str) -> Job:
    """Return the job of propagation, or of FP1."""
    level = _LEVELS[name]
    puzzles = [one.puzzle for one in positions()]
    states = [state_with(puzzle) for puzzle in puzzles]

    def work(loops: int) -> int:
        return sum(
            int(deduce_all(state, BITSET, u64(level), u64(one.width), u64(one.height), _FOREVER_NS, loops))
            for state, one in zip(states, puzzles, strict=True)
        )

    def check() -> None:
        deduced = [deduce(puzzle, level, "recurrence") for puzzle in puzzles]
        known = sum(int(np.count_nonzero(cells >= 0)) for cells in deduced if cells is not None)
        require(work(2) == 2 * known, "not as many cells follow as the other line solver finds")

    return Job(len(puzzles), clocked(work), check)
