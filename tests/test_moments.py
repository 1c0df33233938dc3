"""Moments of a search, as people watch it."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest

from nonobot.bot.champion import ChampionStrategy
from nonobot.bot.papers import PapersStrategy, deduce
from nonobot.bot.result import TraceEvent
from nonobot.protocol import UNKNOWN
from nonobot.tournament_data import load_set

pytestmark = pytest.mark.usefixtures("compiled")

STRATEGIES = {
    "champion": ChampionStrategy,
    "learning": lambda: ChampionStrategy(without=("descents",)),
    "papers": PapersStrategy,
}
PUZZLES = [one.puzzle for one in load_set("boardgen:12x9x12:seed=4").puzzles]


@pytest.fixture(params=STRATEGIES, scope="module")
def watched(request):
    strategy = STRATEGIES[request.param]()
    strategy.watch()
    return strategy


def searches(strategy):
    """Yield each puzzle with its result and its moments."""
    for puzzle in PUZZLES:
        result = strategy.solve(puzzle)
        yield puzzle, result, list(strategy.trace_events())


def test_the_last_moment_is_the_solution(watched):
    for _, result, noted in searches(watched):
        assert np.array_equal(noted[-1][1].cells, result.solutions[0].cells)


def test_known_cells_stay_known_until_something_is_taken_back(watched):
    kinds = set()
    for _, _, noted in searches(watched):
        for (_, before), (kind, after) in pairwise(noted):
            kinds.add(kind)
            if kind not in (TraceEvent.TAKEN_BACK, TraceEvent.RESTARTED):
                stays = before.cells != UNKNOWN
                assert np.array_equal(before.cells[stays], after.cells[stays])
    assert {TraceEvent.PAINTED, TraceEvent.GUESSED} <= kinds


def test_what_is_known_before_the_first_guess_follows_from_the_clues(watched):
    for puzzle, _, noted in searches(watched):
        follows = deduce(puzzle, 1)
        for kind, board in noted:
            if kind is TraceEvent.GUESSED:
                break
            known = board.cells != UNKNOWN
            assert np.array_equal(board.cells[known], follows[known])


@pytest.mark.parametrize("name", STRATEGIES)
def test_watching_changes_nothing(name):
    watched, unwatched = STRATEGIES[name](), STRATEGIES[name]()
    watched.watch()
    for puzzle, result, _ in searches(watched):
        assert unwatched.solve(puzzle).counts == result.counts
        assert list(unwatched.trace_events()) == []


def test_probing_is_told_from_painting():
    strategy = PapersStrategy()
    strategy.watch()
    kinds = {kind for _, _, noted in searches(strategy) for kind, _ in noted}
    assert TraceEvent.PROBED in kinds


@pytest.mark.parametrize("name", STRATEGIES)
def test_only_the_first_moments_are_kept(name):
    every, few = STRATEGIES[name](), STRATEGIES[name]()
    every.watch()
    few.watch(most=3)
    for puzzle in PUZZLES:
        every.solve(puzzle)
        few.solve(puzzle)
        assert list(few.trace_events()) == list(every.trace_events())[:3]


def test_the_time_of_the_steps_is_that_of_the_search(watched):
    before = time.monotonic()
    spent = sum(sum(result.step_seconds.values()) for _, result, _ in searches(watched))
    assert 0 < spent < time.monotonic() - before
