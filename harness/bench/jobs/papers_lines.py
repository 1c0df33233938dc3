"""The line kernels of the papers' strategy."""

from __future__ import annotations

from typing import Any

import numpy as np

from nonobot.bot.kernels.compiling import entry
from nonobot.bot.kernels.masks import count
from nonobot.bot.papers.lines import paint_with
from nonobot.bot.papers.state import SOLVER
from nonobot.harness.bench.job import Job, clocked, require
from nonobot.harness.bench.jobs.papers_deduction import papers_memory_with
from nonobot.harness.bench.jobs.positions import positions

__all__ = ["make"]


@entry
def paint_all(m: Any, solver: Any, lines: Any, black: Any, white: Any, times: Any) -> Any:
    """Paint every line state so often, and return how many cells are known afterwards, all added up."""
    known = 0
    for _ in range(times):
        for at in range(lines.size):
            consistent, black_now, white_now = paint_with(
                m, solver, lines[at], m.none | black[at], m.none | white[at]
            )
            if consistent:
                known += count(black_now | white_now)
    return known


def make(name: str) -> Job:
    """Return the job of a line solver."""
    solver = getattr(SOLVER, name.removeprefix("line-"))
    sampled = [
        (papers_memory_with(one.puzzle), *(each.astype(np.int64) for each in (one.lines, one.black, one.white)))
        for one in positions()
    ]

    def work(loops: int) -> int:
        return sum(int(paint_all(memory, solver, *states, loops)) for memory, *states in sampled)

    def check() -> None:
        require(work(2) == 2 * sum(one.painted for one in positions()), "lines are not painted as they should be")

    return Job(sum(one.lines.size for one in positions()), clocked(work), check)
