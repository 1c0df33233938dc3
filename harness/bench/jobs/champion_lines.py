"""The champion's line kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from nonobot.bot.champion import ChampionStrategy
from nonobot.bot.kernels.compiling import entry
from nonobot.bot.kernels.masks import count
from nonobot.bot.line import paint
from nonobot.harness.bench.job import Job, clocked, require
from nonobot.harness.bench.jobs.positions import positions

__all__ = ["make"]


@entry
def paint_all(m: Any, lines: Any, black: Any, white: Any, times: Any) -> Any:
    """Paint every line state so often, and return how many cells are known afterwards, all added up."""
    known = 0
    for _ in range(times):
        for at in range(lines.size):
            consistent, black_now, white_now = paint(m, lines[at], m.none | black[at], m.none | white[at])
            if consistent:
                known += count(black_now | white_now)
    return known


def make(_: str) -> Job:
    """Return the job."""
    sampled = [
        (
            ChampionStrategy().load(one.puzzle),
            *(each.astype(np.int64) for each in (one.lines, one.black, one.white)),
        )
        for one in positions()
    ]

    def work(loops: int) -> int:
        return sum(int(paint_all(*states, loops)) for states in sampled)

    def check() -> None:
        require(work(2) == 2 * sum(one.painted for one in positions()), "lines are not painted as they should be")

    return Job(sum(one.lines.size for one in positions()), clocked(work), check)
