"""Benchmarks of the strategy `papers`: line kernels, propagation, and FP1 from the empty board."""

from __future__ import annotations

from typing import Any

from nonobot.bot.board import count_known
from nonobot.bot.kernels.compiling import entry
from nonobot.bot.kernels.masks import count
from nonobot.bot.kernels.memory import Memory
from nonobot.bot.papers import PapersStrategy, search
from nonobot.bot.papers.lines import paint_with
from nonobot.bot.papers.state import OUTCOME, SOLVER
from nonobot.harness.bench.job import Job, counting_job
from nonobot.harness.bench.positions import deduced_cells, painting_job, positions
from nonobot.protocol import Puzzle

LEVELS = {"propagation-papers": 0, "fp1-root": 1}


@entry
def deduce_all(m: Any, times: Any) -> Any:
    """Deduce `times` times, each with an empty line cache, and return the sum of the known cells."""
    known = 0
    for _ in range(times):
        m.cache_age += 1  # empties the cache
        if search.deduce(m) != OUTCOME.unsolvable:
            known += count_known(m, m.board)
    return known


@entry
def paint_all_with(m: Any, solver: Any, lines: Any, black: Any, white: Any, times: Any) -> Any:
    """Solve every line state `times` times and return the sum of the cells known afterwards."""
    known = 0
    for _ in range(times):
        for i in range(lines.size):
            consistent, black_now, white_now = paint_with(
                m, solver, lines[i], m.none | black[i], m.none | white[i]
            )
            if consistent:
                known += count(black_now | white_now)
    return known


def make(name: str) -> Job:
    """Return the job of a benchmark: of a line solver, of propagation or of FP1."""
    return _deduction(LEVELS[name]) if name in LEVELS else _lines(name.removeprefix("line-"))


def _memory(puzzle: Puzzle, level: int) -> Memory:
    memory = PapersStrategy().load(puzzle)
    memory.items("level")[0] = level
    return memory


def _deduction(level: int) -> Job:
    calls = [(_memory(position.puzzle, level),) for position in positions()]
    problem = "not as many cells follow as by the other line solver"
    return counting_job(len(calls), deduce_all, calls, lambda: deduced_cells(level), problem)


def _lines(solver_name: str) -> Job:
    solver = getattr(SOLVER, solver_name)
    calls = [(_memory(position.puzzle, 1), solver, *position.states) for position in positions()]
    return painting_job(paint_all_with, calls)
