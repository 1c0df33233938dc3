"""Conflict analysis alone, and the search with learning of which it is a part."""

from __future__ import annotations

from typing import Any

from nonobot.bot.board import copy_board, propagate, start_board
from nonobot.bot.champion import ChampionStrategy
from nonobot.bot.champion.analysis import analyse
from nonobot.bot.champion.propagate import propagate_all
from nonobot.bot.champion.search import _decide, _learn_from_conflict, start_learning
from nonobot.bot.champion.state import OUTCOME
from nonobot.bot.kernels.compiling import entry, kernel
from nonobot.harness.bench.job import Job, clocked, require
from nonobot.harness.bench.jobs.positions import positions

__all__ = ["make"]

CONFLICTS = 300
"""Of a search: fewer than to the first restart, so that deciding, propagating and learning are all there is."""

SAMPLED_CONFLICTS = (25, 100, 250)
"""Which conflicts of a search are analysed."""


@kernel
def _search(m: Any, conflicts: Any) -> Any:
    """Search until so many conflicts have been met, the last one not analysed; False if there are fewer."""
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
    """Search from the start so often, up to so many conflicts; return how often there were so many."""
    well = 0
    for _ in range(times):
        if _search(m, conflicts):
            well += 1
    return well


@entry
def analyse_all(memories: Any, times: Any) -> Any:
    """Analyse the conflicts at hand in several memories so often; return the literals learned, all added up.

    One after the other, so that no processor remembers its way through one of them.
    """
    literals = 0
    for _ in range(times):
        for m in memories:
            analyse(m)
            literals += m.learned_size
    return literals


def make(name: str) -> Job:
    """Return the job of the search, or of the analysis alone."""
    return _searching() if name == "learning-search" else _analysing()


def _searching() -> Job:
    memories = [ChampionStrategy().load(one.puzzle) for one in positions()]

    def work(loops: int) -> int:
        return sum(int(search_often(memory, CONFLICTS, loops)) for memory in memories)

    def check() -> None:
        require(work(1) == len(memories), f"a search met fewer than {CONFLICTS} conflicts")

    return Job(CONFLICTS * len(memories), clocked(work), check)


def _analysing() -> Job:
    """Return the job of the analysis.

    Nothing but the activities that decisions go by changes when a conflict is analysed again: the variables in it
    are the most active ones then, so that moving them up costs a little less than in a search.
    """
    memories = []
    for one in positions():
        for conflict in SAMPLED_CONFLICTS:
            memories.append(ChampionStrategy().load(one.puzzle))
            require(search_often(memories[-1], conflict, 1) == 1, "a search met too few conflicts")

    def work(loops: int) -> int:
        return int(analyse_all(tuple(memories), loops))

    def check() -> None:
        once = work(1)
        require(once > len(memories), "nothing is learned")
        require(work(3) == 3 * once, "the same conflict teaches something else each time")

    return Job(len(memories), clocked(work), check)
