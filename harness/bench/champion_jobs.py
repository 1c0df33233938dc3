"""Benchmarks of the strategy `champion`: line kernel, propagation, belief propagation, learning from conflicts."""

from __future__ import annotations

from typing import Any

import numpy as np

from nonobot.bot.board import copy_board, known_cells, propagate, start_board
from nonobot.bot.champion import ChampionStrategy
from nonobot.bot.champion.analysis import analyse
from nonobot.bot.champion.beliefs import forget, sweep
from nonobot.bot.champion.propagate import propagate_all
from nonobot.bot.champion.search import _decide, _learn_from_conflict, start_learning
from nonobot.bot.champion.stages import MOST_ODDS
from nonobot.bot.champion.state import OUTCOME
from nonobot.bot.kernels.compiling import entry, kernel
from nonobot.bot.kernels.masks import count
from nonobot.bot.kernels.memory import Memory
from nonobot.bot.line import paint
from nonobot.harness.bench.job import Job, clocked, counting_job, require
from nonobot.harness.bench.positions import deduced_cells, painting_job, positions
from nonobot.protocol import Puzzle

SWEEPS = 8  # from even odds; a descent makes three before its first step and one before each later step
CONFLICTS = 300  # conflicts of a search: too few for a restart, so that it only decides, propagates and learns
SAMPLED_CONFLICTS = (25, 100, 250)  # numbers of the conflicts of a search that are analysed


@entry
def paint_all(m: Any, lines: Any, black: Any, white: Any, times: Any) -> Any:
    """Solve every line state `times` times and return the sum of the cells known afterwards."""
    known = 0
    for _ in range(times):
        for i in range(lines.size):
            consistent, black_now, white_now = paint(m, lines[i], m.none | black[i], m.none | white[i])
            if consistent:
                known += count(black_now | white_now)
    return known


@entry
def propagate_board(m: Any, times: Any) -> Any:
    """Propagate the empty board `times` times, and return the sum of the known cells."""
    known = 0
    for _ in range(times):
        start_board(m)
        if propagate(m):
            for y in range(m.height):
                known += count(known_cells(m, y))
    return known


@entry
def sweep_often(m: Any, most_odds: Any, sweeps: Any, times: Any) -> Any:
    """Reset the odds and sweep, `times` times; return the number of sweeps without a conflict."""
    well = 0
    for _ in range(times):
        forget(m)
        for _ in range(sweeps):
            if sweep(m, most_odds):
                well += 1
    return well


@kernel
def _search(m: Any, conflicts: Any) -> Any:
    """Search until conflict number `conflicts`, which is not analysed; return False if there are fewer."""
    start_board(m)
    if not propagate(m):
        return False
    copy_board(m, m.root, m.board)
    if start_learning(m) != OUTCOME.open:
        return False
    while True:
        if propagate_all(m):
            if m.assigned == m.variables:
                return False
            _decide(m)
            continue
        if m.level == 0:
            return False
        m.conflicts_met += 1
        if m.conflicts_met == conflicts:
            return True
        _learn_from_conflict(m)


@entry
def search_often(m: Any, conflicts: Any, times: Any) -> Any:
    """Search from the start `times` times, and return how many searches met that number of conflicts."""
    well = 0
    for _ in range(times):
        if _search(m, conflicts):
            well += 1
    return well


@entry
def analyse_all(memories: Any, times: Any) -> Any:
    """Analyse the conflicts of several memories `times` times; return the sum of the literals learned.

    The memories alternate, so that the processor cannot predict branches.
    """
    literals = 0
    for _ in range(times):
        for m in memories:
            analyse(m)
            literals += m.learned_size
    return literals


def make(name: str) -> Job:
    """Return the job of a benchmark."""
    return {
        "line-champion": _lines,
        "propagation-champion": _propagation,
        "bp-sweep": _sweeps,
        "learning-search": _searching,
        "conflict-analysis": _analysing,
    }[name]()


def _memories() -> list[Memory]:
    return [ChampionStrategy().load(position.puzzle) for position in positions()]


def _lines() -> Job:
    calls = [(memory, *position.states) for memory, position in zip(_memories(), positions(), strict=True)]
    return painting_job(paint_all, calls)


def _propagation() -> Job:
    calls = [(memory,) for memory in _memories()]
    problem = "propagation does not paint the cells that the papers' does"
    return counting_job(len(calls), propagate_board, calls, lambda: deduced_cells(0), problem)


def _sweeps() -> Job:
    memories = _memories()
    for memory in memories:
        propagate_board(memory, 1)

    def work(loops: int) -> int:
        return sum(int(sweep_often(memory, MOST_ODDS, SWEEPS, loops)) for memory in memories)

    def check() -> None:
        require(work(1) == SWEEPS * len(memories), "a sweep met a conflict")
        for memory, position in zip(memories, positions(), strict=True):
            require(_odds_vary(memory, position.puzzle), "the odds are not those of beliefs")

    return Job(SWEEPS * len(memories), clocked(work), check)


def _odds_vary(memory: Memory, puzzle: Puzzle) -> bool:
    """Return whether the odds of the unknown cells are positive, finite and not all even."""
    width, height = puzzle.width, puzzle.height
    odds = memory.view("odds")[:width, :height]
    known = memory.view("board.black")[:height] | memory.view("board.white")[:height]
    unknown = (known >> np.arange(width, dtype=np.uint64)[:, np.newaxis] & np.uint64(1)) == 0
    of_unknown = odds[unknown]
    return bool(
        of_unknown.size and np.isfinite(of_unknown).all() and (of_unknown > 0).all() and (of_unknown != 1).any()
    )


def _searching() -> Job:
    calls = [(memory, CONFLICTS) for memory in _memories()]
    problem = f"a search met fewer than {CONFLICTS} conflicts"
    return counting_job(CONFLICTS * len(calls), search_often, calls, lambda: len(calls), problem)


def _analysing() -> Job:
    # Repeating an analysis changes nothing except the activities: the variables of the conflict are then the most
    # active ones, so that raising them costs a little less than in a search.
    memories = []
    for conflict in SAMPLED_CONFLICTS:
        for memory in _memories():
            require(search_often(memory, conflict, 1) == 1, "a search met too few conflicts")
            memories.append(memory)

    def work(loops: int) -> int:
        return int(analyse_all(tuple(memories), loops))

    def check() -> None:
        once = work(1)
        require(once > len(memories), "nothing is learned")
        require(work(3) == 3 * once, "the same conflict teaches something else each time")

    return Job(len(memories), clocked(work), check)
