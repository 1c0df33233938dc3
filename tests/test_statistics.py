"""Ratios of times and their intervals: against a plain twin, data with known answers, and many seeds."""

from __future__ import annotations

import math
import sys
from itertools import product
from statistics import NormalDist, fmean, geometric_mean

import numpy as np
import pytest

pytest.importorskip("scipy", reason="the extra `compare` is not installed")  # what is heavy of it, tests import

from hypothesis import given
from hypothesis import strategies as st

from nonobot.harness import statistics
from nonobot.harness.errors import UnusableError
from nonobot.harness.statistics import (
    RESOLUTION_SECONDS,
    Ratio,
    floored,
    margin_of_puzzles,
    margin_of_runs,
    needed_pairs,
    paired_ratio,
    ratios,
    spread,
)

# Seconds that one bot took for the same twelve puzzles in two runs, as a judge stamped them.
FIRST_RUN = [0.0121, 0.00098, 0.0451, 0.0023, 0.2669, 0.00061, 0.0019, 0.0088, 0.00052, 0.0014, 0.0073, 0.00079]
SECOND_RUN = [0.0118, 0.00101, 0.0430, 0.0025, 0.2571, 0.00058, 0.0021, 0.0085, 0.00055, 0.0013, 0.0071, 0.00083]

times = st.lists(
    st.tuples(st.floats(-0.001, 1e4, allow_nan=False), st.floats(-0.001, 1e4, allow_nan=False)),
    min_size=1,
    max_size=40,
)


def plain_ratios(before, after, confidence, seed, resamples):
    """Return estimate, low and high of both ratios, by plain loops over the same draws."""
    drawn = (
        np.random.default_rng(seed).integers(len(before), size=(resamples, len(before)), dtype=np.int32).tolist()
    )

    def floor(value):
        return max(value, RESOLUTION_SECONDS)

    def each(places):
        return fmean(math.log(floor(after[at])) - math.log(floor(before[at])) for at in places)

    def total(places):
        return math.log(floor(sum(after[at] for at in places))) - math.log(floor(sum(before[at] for at in places)))

    return [plain_bca(statistic, len(before), drawn, confidence) for statistic in (each, total)]


def plain_bca(statistic, count, drawn, confidence):
    normal = NormalDist()
    everything = range(count)
    estimate = statistic(everything)
    found = sorted(statistic(places) for places in drawn)
    ties = sum(abs(one - estimate) < 1e-12 for one in found)
    below = sum(one < estimate - 1e-12 for one in found)
    bias = normal.inv_cdf((below + ties / 2) / len(found))
    without = [statistic([at for at in everything if at != gone]) for gone in everything]
    deviations = [fmean(without) - one for one in without]
    squares = sum(one**2 for one in deviations)
    acceleration = sum(one**3 for one in deviations) / (6 * squares**1.5) if squares else 0.0
    ends = []
    for share in ((1 - confidence) / 2, (1 + confidence) / 2):
        moved = bias + normal.inv_cdf(share)
        place = normal.cdf(bias + moved / (1 - acceleration * moved)) * (len(found) - 1)
        lower = math.floor(place)
        upper = min(lower + 1, len(found) - 1)
        ends.append(found[lower] + (place - lower) * (found[upper] - found[lower]))
    return [math.exp(one) for one in (estimate, *ends)]


def parts(ratio: Ratio) -> list[float]:
    return [ratio.estimate, ratio.low, ratio.high]


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("seed", [0, 7])
def test_both_ratios_agree_with_a_plain_twin(confidence, seed):
    found = ratios(FIRST_RUN, SECOND_RUN, confidence, seed, resamples=400)
    each, total = plain_ratios(FIRST_RUN, SECOND_RUN, confidence, seed, 400)
    assert parts(found.each) == pytest.approx(each, rel=1e-9)
    assert parts(found.total) == pytest.approx(total, rel=1e-9)


def test_the_twin_agrees_on_skewed_times_too():
    random = np.random.default_rng(5)
    before = random.lognormal(-6, 2.5, 60)
    after = before * random.lognormal(0.1, 0.5, 60)
    found = ratios(before, after, 0.95, 3, resamples=500)
    each, total = plain_ratios(before.tolist(), after.tolist(), 0.95, 3, 500)
    assert parts(found.each) == pytest.approx(each, rel=1e-9)
    assert parts(found.total) == pytest.approx(total, rel=1e-9)


def test_estimates_are_what_the_standard_library_says():
    found = ratios(FIRST_RUN, SECOND_RUN, resamples=200)
    pairs = zip(FIRST_RUN, SECOND_RUN, strict=True)
    assert found.each.estimate == pytest.approx(geometric_mean(after / before for before, after in pairs))
    assert found.total.estimate == pytest.approx(sum(SECOND_RUN) / sum(FIRST_RUN))


def test_ratios_known_beforehand():
    halves_and_doubles = ratios([1.0, 1.0, 4.0, 4.0], [2.0, 0.5, 8.0, 2.0], resamples=500)
    assert halves_and_doubles.each.estimate == pytest.approx(1.0)
    assert halves_and_doubles.total.estimate == pytest.approx(1.25)
    assert halves_and_doubles.each.low == pytest.approx(1 / halves_and_doubles.each.high, rel=0.05)
    thrice = ratios(FIRST_RUN, [3 * one for one in FIRST_RUN], resamples=500)
    for ratio in (thrice.each, thrice.total):
        assert parts(ratio) == pytest.approx([3.0, 3.0, 3.0])


def test_the_interval_of_even_noise_is_the_textbook_one():
    random = np.random.default_rng(11)
    logs = random.normal(0.05, 0.3, 2000)
    found = ratios(np.ones(2000), np.exp(logs))
    error = 1.96 * logs.std() / math.sqrt(2000)
    assert math.log(found.each.low) == pytest.approx(logs.mean() - error, abs=0.1 * error)
    assert math.log(found.each.high) == pytest.approx(logs.mean() + error, abs=0.1 * error)


def lognormal_60() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    before = random.lognormal(-6, 2.5, 60)
    return before, before * random.lognormal(0.1, 0.5, 60)


@pytest.mark.parametrize(
    ("pairs", "confidence", "each", "total"),
    [
        (
            (FIRST_RUN, SECOND_RUN),
            0.95,
            (1.001826615039765, 0.9734108506205095, 1.0382659062378414),
            (0.9646400917694294, 0.9573148788327446, 0.9855555899734827),
        ),
        (
            (FIRST_RUN, SECOND_RUN),
            0.8,
            (1.001826615039765, 0.982731307256663, 1.025119200130218),
            (0.9646400917694294, 0.9614452855734253, 0.9716991643637335),
        ),
        (
            lognormal_60(),
            0.95,
            (1.0550461717449013, 0.96645652389883, 1.1659131461661765),
            (0.9797440071490754, 0.8726442405431714, 1.1936423649983194),
        ),
    ],
)
def test_intervals_are_those_of_the_bootstrap_that_this_project_wrote_itself(pairs, confidence, each, total):
    """Taken down before scipy's took its place; another version of it may draw other resamples."""
    found = ratios(*pairs, confidence, seed=0)
    for ratio, known in ((found.each, each), (found.total, total)):
        assert ratio.estimate == pytest.approx(known[0], rel=1e-12)
        noise = 0.15 * math.log(known[2] / known[1])  # between two seeds: up to 0.11 of the width
        assert math.log(ratio.low) == pytest.approx(math.log(known[1]), abs=noise)
        assert math.log(ratio.high) == pytest.approx(math.log(known[2]), abs=noise)


def test_one_puzzle_has_an_interval_without_width():
    assert parts(ratios([1.0], [2.0], resamples=50).each) == pytest.approx([2.0, 2.0, 2.0])
    assert parts(ratios([0.0], [0.0], resamples=50).total) == [1.0, 1.0, 1.0]


def test_where_scipy_is_missing_a_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(UnusableError, match=r"needs scipy, .*-m pip install scipy$"):
        ratios(FIRST_RUN, SECOND_RUN)


@given(times, st.integers(0, 2**32))
def test_swapping_the_sides_inverts_everything(pairs, seed):
    before, after = zip(*pairs, strict=True)
    there = ratios(before, after, seed=seed, resamples=150)
    back = ratios(after, before, seed=seed, resamples=150)
    for one, other in ((there.each, back.each), (there.total, back.total)):
        assert one.estimate == pytest.approx(1 / other.estimate, rel=1e-9)
        assert one.low == pytest.approx(1 / other.high, rel=1e-6)
        assert one.high == pytest.approx(1 / other.low, rel=1e-6)


@given(times)
def test_intervals_are_finite_and_in_order(pairs):
    before, after = zip(*pairs, strict=True)
    found = ratios(before, after, confidence=0.999, resamples=150)
    for ratio in (found.each, found.total):
        assert 0 < ratio.low <= ratio.high < math.inf


@given(st.lists(st.floats(-1.0, 1e5, allow_nan=False), min_size=1, max_size=50))
def test_the_same_times_give_one_and_no_width(seconds):
    found = ratios(seconds, seconds, resamples=100)
    assert parts(found.each) == parts(found.total) == [1.0, 1.0, 1.0]


def test_the_same_arguments_give_the_same_interval_and_another_seed_another(monkeypatch):
    first = ratios(FIRST_RUN, SECOND_RUN, seed=1, resamples=300)
    assert ratios(FIRST_RUN, SECOND_RUN, seed=1, resamples=300) == first
    assert ratios(FIRST_RUN, SECOND_RUN, seed=2, resamples=300) != first
    monkeypatch.setattr(statistics, "NUMBERS_AT_ONCE", 24)  # two resamples at a time
    assert ratios(FIRST_RUN, SECOND_RUN, seed=1, resamples=300) == first


def test_times_below_the_resolution_are_alike():
    assert floored([-0.5, 0.0, RESOLUTION_SECONDS / 2, 1.0]).tolist() == [*[RESOLUTION_SECONDS] * 3, 1.0]
    assert ratios([0.0, -0.001, 1e-9], [1e-5, 0.0, 9e-5], resamples=50).each == Ratio(1.0, 1.0, 1.0)


def test_one_stamp_late_and_the_next_early_leave_the_total_as_it_is():
    assert ratios([0.001, 0.001], [0.002, 0.0], resamples=50).total.estimate == pytest.approx(1.0)


@pytest.mark.parametrize(("before", "after"), [([], []), ([1.0], [1.0, 2.0]), ([[1.0]], [[1.0]])])
def test_series_that_do_not_pair_are_refused(before, after):
    with pytest.raises(ValueError, match="as many times"):
        ratios(before, after)


def test_spread_is_the_share_by_which_the_largest_exceeds_the_smallest():
    assert spread(np.log([2.0, 2.1, 1.9])) == pytest.approx(2.1 / 1.9 - 1)
    assert spread([0.3]) == 0.0


def noisy(seed: int, count: int, noise: float, slower: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    seconds = random.lognormal(-6, 1.5, count)
    before, after = (seconds * random.lognormal(0, noise, count) for _ in range(2))
    return before, after * slower


@pytest.mark.parametrize("confidence", [pytest.param(0.8, marks=pytest.mark.slow), 0.95])
def test_noise_alone_is_seldom_taken_for_a_regression(confidence):
    seeds = 300
    found = [
        ratios(*noisy(seed, 120, 0.2), confidence, seed, resamples=400).each.low > 1.0 for seed in range(seeds)
    ]
    # An interval of two sides leaves (1 - confidence) / 2 on each; the promise is twice that.
    assert sum(found) <= (1 - confidence) * seeds


def test_noise_is_sometimes_taken_for_one_so_the_last_test_can_fail():
    found = [ratios(*noisy(seed, 120, 0.2), 0.5, seed, resamples=400).each.low > 1.0 for seed in range(100)]
    assert 10 <= sum(found) <= 40


def test_a_true_slow_down_is_always_found():
    for seed in range(60):
        before, after = noisy(seed, 1000, 0.2, slower=1.1)
        assert ratios(before, after, seed=seed, resamples=400).each.low > 1.02


# The margins of runs and of puzzles


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_without_an_expectation_the_margin_of_runs_is_the_textbook_one(monkeypatch, confidence):
    from scipy.stats import ttest_1samp

    monkeypatch.setattr(statistics, "EXPECTED_FREEDOM", 0.0)
    differences = [0.1, 0.4, 0.2, -0.1]
    low, high = ttest_1samp(differences, 0.0).confidence_interval(confidence)
    assert margin_of_runs([differences], [1.0], 0.04, confidence) == pytest.approx((high - low) / 2)


def test_what_is_expected_counts_as_two_pairs_more():
    """Of a spread that is twice that expected: the variance between, by degrees of freedom."""
    from scipy.stats import t as student_t

    differences = [[-0.1, 0.0, 0.1], [0.9, 1.0, 1.1]]  # variance 0.01 on either set
    variance = (2 * 2 * 0.05**2 + 4 * 0.1**2) / 6
    expected = student_t.ppf(0.975, 6) * math.sqrt(variance * (0.3**2 / 3 + 0.7**2 / 3))
    assert margin_of_runs(differences, [0.3, 0.7], 0.05, 0.95) == pytest.approx(expected)
    assert margin_of_runs([[0.5]], [1.0], 0.05, 0.95) == pytest.approx(
        student_t.ppf(0.975, 2) * 0.05 * math.sqrt(2)
    )


def test_puzzles_that_keep_their_shares_leave_no_margin():
    shares = np.full((1, 10), 0.1)
    assert margin_of_puzzles(shares, shares, 0.95) == 0.0


def test_the_margin_of_puzzles_is_that_of_a_ratio_estimate():
    from scipy.stats import t as student_t

    before = np.array([[0.3, 0.2, 0.2, 0.2, 0.1]])
    after = np.array([[0.2, 0.3, 0.2, 0.2, 0.1]])
    effective = 1 / (2 * 0.25**2 + 2 * 0.2**2 + 0.1**2)
    expected = student_t.ppf(0.95, effective - 1) * math.sqrt(2 * 0.1**2)
    assert margin_of_puzzles(before, after, 0.9) == pytest.approx(expected)


def test_noise_that_repeats_show_is_taken_off():
    random = np.random.default_rng(6)
    margins = []
    for _ in range(200):
        times = random.lognormal(-5, 1, 100) * random.lognormal(0, 0.2, (2, 5, 100))
        shares = times / times.sum(axis=2, keepdims=True)
        margins.append((margin_of_puzzles(*shares, 0.95), margin_of_puzzles(*shares[:, :1], 0.95)))
    repeated, single = np.mean(margins, axis=0)
    assert repeated < 0.25 * single


# The signed-rank interval


def brute_tail(size, rank_sum):
    """Return the probability that the ranks of positive differences sum to `rank_sum` at most."""
    sums = [sum(rank for rank, sign in enumerate(signs, 1) if sign) for signs in product((0, 1), repeat=size)]
    return sum(one <= rank_sum for one in sums) / len(sums)


@pytest.mark.parametrize(
    ("pairs", "confidence", "cut"),
    [(6, 0.95, 0), (8, 0.95, 3), (10, 0.95, 8), (10, 0.99, 3), (12, 0.95, 13), (10, 0.998, 0)],
)
def test_the_ends_are_those_of_published_tables(pairs, confidence, cut):
    """Critical values of Wilcoxon's signed-rank test, two-sided: the rank sum is this at most."""
    random = np.random.default_rng(pairs)
    after = np.exp(random.normal(size=pairs))
    walsh = sorted((a + b) / 2 for i, a in enumerate(np.log(after)) for b in np.log(after)[i:])
    ratio = paired_ratio([1.0] * pairs, after, confidence)
    assert ratio.low == pytest.approx(math.exp(walsh[cut]))
    assert ratio.high == pytest.approx(math.exp(walsh[-1 - cut]))
    assert brute_tail(pairs, cut) <= (1 - confidence) / 2 < brute_tail(pairs, cut + 1)


@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95])
@pytest.mark.parametrize("seed", range(4))
def test_the_same_code_is_called_equal_as_often_as_promised_whatever_the_noise(confidence, seed):
    """Of all ways in which the noise could have fallen on the two sides, few enough give a false alarm."""
    logs = np.random.default_rng(seed).standard_cauchy(9)  # as heavy a tail as one likes
    alarms = 0
    for signs in product((-1, 1), repeat=9):
        ratio = paired_ratio([1.0] * 9, np.exp(logs * signs), confidence)
        alarms += not ratio.low <= 1 <= ratio.high
    assert alarms / 2**9 <= 1 - confidence


def test_swapping_the_sides_turns_the_interval_round():
    random = np.random.default_rng(3)
    before, after = np.exp(random.normal(size=(2, 11)))
    one, other = paired_ratio(before, after, 0.95), paired_ratio(after, before, 0.95)
    assert other.estimate == pytest.approx(1 / one.estimate)
    assert (other.low, other.high) == pytest.approx((1 / one.high, 1 / one.low))


def test_a_steady_ratio_is_found_under_any_drift():
    drift = np.exp(np.random.default_rng(4).normal(size=10).cumsum())
    ratio = paired_ratio(drift, 2 * drift, 0.99)
    assert (ratio.estimate, ratio.low, ratio.high) == pytest.approx((2, 2, 2))


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99, 1 - 0.05 / 16])
def test_fewer_pairs_than_needed_say_nothing(confidence):
    needed = needed_pairs(confidence)
    assert paired_ratio([1.0] * needed, [2.0] * needed, confidence).low == pytest.approx(2)
    few = paired_ratio([1.0] * (needed - 1), [2.0] * (needed - 1), confidence) if needed > 1 else None
    assert few is None or (few.low, few.high) == (0, math.inf)
