"""Whole runs: which times are compared, what counts as a run, and how often chance is taken for a difference."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("scipy", reason="the extra `compare` is not installed")

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from nonobot.harness.ranking.compared_runs import Side
from nonobot.harness.ranking.whole_runs import (
    BUSY_CPU_SPREAD,
    BUSY_WALL_SPREAD,
    QUIET_SPREAD,
    SIDE_BY_SIDE_SPREAD,
    compare_whole,
)
from nonobot.harness.results.run_result import Verdict
from nonobot.harness.results.terms import Terms
from nonobot.harness.statistics import EXPECTED_FREEDOM
from tests.ranked import MACHINE, run_result

BUSY = structs.replace(MACHINE, busy_share=1.0)
PUZZLES = np.random.default_rng(0).lognormal(-5, 1.0, 40)
T_OF_TWO = 4.302652729911275  # Student's t, 2 degrees of freedom, 0.975


def side(*runs):
    by_set = {}
    for run in runs:
        by_set.setdefault(run.set.sha256, []).append(run)
    return Side("side", "bot", by_set, [])


def whole(before, after, *, confidence=0.95, on_cpu=False):
    """Compare two lists of runs by all their puzzles."""
    sides = side(*before), side(*after)
    compared = {digest: np.ones(len(runs[0].score.puzzles), bool) for digest, runs in sides[0].runs.items()}
    return compare_whole(*sides, compared, confidence, on_cpu)


def simulated(random, count, *, spread, slower=1.0, noise=0.2, puzzles=PUZZLES, machine=MACHINE):
    """Return runs whose puzzles are longer or shorter by one factor for each run, and by noise."""
    return [
        run_result(
            times=puzzles * slower * random.lognormal(0, spread) * random.lognormal(0, noise, len(puzzles)),
            machine=machine,
        )
        for _ in range(count)
    ]


def told(found, tolerance=0.02):
    """Return -1, 0 or 1: all of the interval faster, or slower, beyond the tolerance, or neither."""
    return int(found.ratio.low > 1 + tolerance) - int(found.ratio.high < 1 / (1 + tolerance))


@pytest.mark.parametrize("count", [1, pytest.param(3, marks=pytest.mark.slow), 5])
@pytest.mark.parametrize(("spread", "machine"), [(0.01, MACHINE), (0.04, MACHINE), (0.08, BUSY), (0.25, BUSY)])
def test_the_same_code_is_seldom_told_from_itself(count, spread, machine):
    random = np.random.default_rng(count)
    trials = 120
    alarms = sum(
        told(whole(*(simulated(random, count, spread=spread, machine=machine) for _ in range(2)))) != 0
        for _ in range(trials)
    )
    assert alarms <= trials * 0.05


def test_puzzles_that_were_taken_for_the_sample_would_tell_it_nearly_always():
    """The spread of the runs is what makes the last test hard: so many false alarms without it."""
    random = np.random.default_rng(1)
    alarms = 0
    for _ in range(100):
        before, after = (simulated(random, 1, spread=0.1, noise=0.05) for _ in range(2))
        found = whole(before, after)
        alarms += abs(math.log(found.ratio.estimate)) > math.log1p(found.puzzles_margin) + math.log(1.02)
    assert alarms >= 50


def test_a_tenth_is_found_with_five_runs_a_side():
    random = np.random.default_rng(2)
    found = [
        told(
            whole(
                simulated(random, 5, spread=0.02, noise=0.05),
                simulated(random, 5, spread=0.02, noise=0.05, slower=1.1),
            )
        )
        for _ in range(90)
    ]
    assert sum(one == 1 for one in found) >= 90 * 28 / 30
    assert min(found) >= 0


def test_one_run_a_side_tells_only_what_runs_do_not_do_by_themselves():
    one = [run_result(times=PUZZLES)]
    limit = math.expm1(T_OF_TWO * QUIET_SPREAD * math.sqrt(2))
    assert whole(one, one).runs_margin == pytest.approx(limit)
    for slower, expected in ((0.98 * limit, 0), (1.02 * limit, 1)):
        assert told(whole(one, [run_result(times=PUZZLES * (1 + slower))]), tolerance=0.0) == expected


@pytest.mark.parametrize(
    ("machines", "on_cpu", "spread"),
    [
        ((MACHINE, MACHINE), True, QUIET_SPREAD),
        ((BUSY, BUSY), True, BUSY_CPU_SPREAD),
        ((BUSY, BUSY), False, BUSY_WALL_SPREAD),
        ((MACHINE, BUSY), True, math.sqrt((QUIET_SPREAD**2 + BUSY_CPU_SPREAD**2) / 2)),
        ((structs.replace(MACHINE, busy_share=None), MACHINE), False, QUIET_SPREAD),
    ],
)
def test_more_is_expected_of_a_busy_machine(machines, on_cpu, spread):
    runs = [[run_result(times=PUZZLES, machine=machine)] for machine in machines]
    margin = whole(*runs, on_cpu=on_cpu).runs_margin
    assert math.log1p(margin) == pytest.approx(T_OF_TWO * spread * math.sqrt(2))


def at(second, factor=1.0):
    return run_result(times=PUZZLES * factor, started_at=f"2026-01-01T00:00:{second:02}Z")


@pytest.mark.parametrize(
    ("before", "after", "turns"),
    [
        ((1, 3, 5), (2, 4, 6), 3),
        ((1, 2, 3), (4, 5, 6), 1),
        ((1, 2, 5), (3, 4, 6), 2),
        ((5, 1, 3), (6, 2, 4), 3),
        ((1, 6), (3,), 1),
    ],
)
def test_runs_of_a_side_that_no_run_of_the_other_parts_count_as_one(before, after, turns):
    assert whole(map(at, before), map(at, after)).turns == turns


def test_runs_that_are_alike_but_not_by_turns_do_not_hide_the_drift():
    after = [at(second, 1.2) for second in (6, 7, 8)]
    by_turns = [at(second, 1.2) for second in (2, 4, 6)]
    assert told(whole([at(1), at(2), at(3)], after)) == 0
    assert told(whole([at(1), at(3), at(5)], by_turns)) == 1


def test_what_moves_slowly_moves_both_of_a_pair():
    """A machine that becomes slower by a third in the course of ten runs does not hide a tenth."""
    drift = np.linspace(0.0, 0.3, 10)
    before = [at(second, math.exp(drift[second])) for second in range(0, 10, 2)]
    after = [at(second, 1.1 * math.exp(drift[second])) for second in range(1, 10, 2)]
    assert told(whole(before, after)) == 1
    assert told(whole(before, [at(second, 1.1) for second in range(10, 15)])) == 0


def test_cpu_time_is_that_of_a_run_with_the_core_to_itself():
    alone = run_result(times=PUZZLES, wall=2.0, cpu=2.0, terms=Terms(core=1))
    shared = run_result(times=PUZZLES * 1.7, wall=3.4, cpu=2.0, terms=Terms(core=1))
    assert whole([alone], [shared], on_cpu=True).ratio.estimate == pytest.approx(1.0)
    assert whole([alone], [shared]).ratio.estimate == pytest.approx(1.7)


@pytest.mark.parametrize(
    ("terms", "cpu", "has"),
    [
        (Terms(core=0), 1.0, True),
        (Terms(), 1.0, False),
        (Terms(core=(0, 1)), 1.0, False),
        (Terms(core=0), 0.0, False),
    ],
)
def test_cpu_time_is_believed_of_one_core(terms, cpu, has):
    assert side(run_result(terms=terms, cpu=cpu)).has_cpu_time is has


def test_a_change_that_favours_some_puzzles_is_not_told_of_all():
    """Runs without any spread, but another search: every puzzle is a new draw, and few have most of the time."""
    random = np.random.default_rng(3)
    alarms = 0
    for _ in range(100):
        hard = random.lognormal(-5, 1.2, 200)
        sides = (hard * random.lognormal(0, 0.5, 200) for _ in range(2))
        found = whole(*(simulated(random, 2, spread=0.0, noise=0.01, puzzles=puzzles) for puzzles in sides))
        assert found.puzzles_margin > 0.08
        alarms += told(found, tolerance=0.0) != 0
    assert alarms <= 10


def test_a_puzzle_that_a_run_did_not_have_right_counts_with_its_median():
    before = [run_result(times=[1.0, 2.0, 3.0])]
    after = [
        run_result(times=one, verdicts=wrong) for one, wrong in (([1, 2, 3], {}), ([1, 2, 9], {3: Verdict.WRONG}))
    ]
    assert whole(before, after).ratio.estimate == pytest.approx(1.0)


def test_sets_weigh_as_much_as_they_take():
    def runs(x, y):
        return [run_result(times=[x] * 6, set_name="x"), run_result(times=[y] * 6, set_name="y")]

    found = whole(runs(1.0, 3.0), runs(2.0, 3.0))
    assert (found.before_seconds, found.after_seconds) == pytest.approx((24.0, 30.0))
    assert found.ratio.estimate == pytest.approx(30 / 24)


def test_runs_side_by_side_are_pairs_that_differ_by_little():
    """Whatever the speed of the machine, and in whatever order they stand."""
    random = np.random.default_rng(3)
    sides = [], []
    for name, speed in zip("abcde", random.lognormal(0, 0.1, 5), strict=True):
        for side, slower in zip(sides, (1.0, 1.05), strict=True):
            took = PUZZLES * speed * slower * random.lognormal(0, 0.003)
            terms = Terms(core=1, beside=name)
            side.append(run_result(times=2 * took, wall=2 * took.sum(), cpu=took.sum(), terms=terms))
    before, after = sides
    found = whole(before, after[::-1], on_cpu=True)
    assert found.turns == 5
    assert told(found) == 1
    assert math.log1p(found.runs_margin) < 0.02
    assert found.before_seconds == pytest.approx(sum(run.usage.cpu_seconds for run in before) / 5, rel=0.02)
    alone = [structs.replace(run, terms=Terms(core=1)) for run in after]
    assert told(whole(before, alone, on_cpu=True)) == 0
    resumed = structs.replace(after[0], legs=after[0].legs * 2)  # the second leg had the core to itself
    assert told(whole(before, [resumed, *after[1:]], on_cpu=True)) == 0


def test_one_pair_side_by_side_tells_what_two_runs_apart_do_not():
    pair = [run_result(times=PUZZLES, terms=Terms(core=1, beside="a")) for _ in range(2)]
    margin = whole(pair[:1], pair[1:], on_cpu=True).runs_margin
    assert math.log1p(margin) == pytest.approx(T_OF_TWO * SIDE_BY_SIDE_SPREAD * math.sqrt(2))


@given(
    st.lists(st.lists(st.floats(0, 100), min_size=5, max_size=5), min_size=2, max_size=5), st.floats(0.5, 0.999)
)
def test_swapping_the_sides_inverts_the_interval_which_has_finite_ends(times, confidence):
    runs = [run_result(times=one, started_at=str(second)) for second, one in enumerate(times)]
    there, back = (
        whole(*sides, confidence=confidence) for sides in ((runs[::2], runs[1::2]), (runs[1::2], runs[::2]))
    )
    assert 0 < there.ratio.low <= there.ratio.estimate <= there.ratio.high < math.inf
    assert back.ratio.low == pytest.approx(1 / there.ratio.high, rel=1e-6)


def test_what_is_expected_is_worth_little_beside_many_runs():
    random = np.random.default_rng(5)
    found = whole(*(simulated(random, 100, spread=0.001, noise=0.0) for _ in range(2)))
    freedom = EXPECTED_FREEDOM + 99
    expected = math.sqrt((EXPECTED_FREEDOM * QUIET_SPREAD**2 + 99 * 0.001**2) / freedom * 2 / 100) * 1.984
    assert math.log1p(found.runs_margin) == pytest.approx(expected, rel=0.1)
