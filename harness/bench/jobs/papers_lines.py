"""The line kernels of the papers' strategy."""

from __future__ import annotations

from typing import Any

from nonobot.bot.bits import popcount, u64
from nonobot.bot.jit import entry
from nonobot.bot.lines import SOLVERS, paint_with
from nonobot.bot.papers.state import State
from nonobot.harness.bench.job import Job, clocked, require
from nonobot.harness.bench.jobs.papers_deduction import state_with
from nonobot.harness.bench.jobs.positions import positions

__all__ = ["make"]


@entry
def paint_all(state: State, solver: Any, lines: Any, black: Any, white: Any, times: Any) -> Any:
    """Paint every line state so often, and return how many cells are known afterwards, all added up."""
    clues, blocks, lengths, scratch = state.clues, state.blocks, state.lengths, state.line_scratch
    known = u64(0)
    for _ in range(times):
        for at in range(lines.size):
            line = lines[at]
            consistent, black_now, white_now = paint_with(
                solver, clues, line, blocks[line], lengths[line], black[at], white[at], scratch
            )
            if consistent:
                known += popcount(black_now | white_now)
    return known


def make(name: str) -> Job:
    """Return the job of a line solver."""
    solver = SOLVERS[name.removeprefix("line-")]
    sampled = [(state_with(one.puzzle), one) for one in positions()]

    def work(loops: int) -> int:
        return sum(int(paint_all(state, solver, one.lines, one.black, one.white, loops)) for state, one in sampled)

    def check() -> None:
        require(work(2) == 2 * sum(one.painted for one in positions()), "lines are not painted as they should be")

    return Job(sum(one.lines.size for one in positions()), clocked(work), check)
