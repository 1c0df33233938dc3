"""The statistic of pairs: intervals against published tables and brute force, outcomes, and their words."""

import math
from itertools import product

import numpy as np
import pytest

from nonobot.harness.compare.signed_ranks import paired_ratio, sequential_ratio
from nonobot.harness.compare.statistics import (
    RESOLUTION_SECONDS,
    Outcome,
    Ratio,
    decide,
    first_look,
    floored,
    half_count,
    in_words,
    needed_pairs,
    spread,
)


def brute_tail(size, rank_sum):
    """Return the probability that the ranks of positive differences sum to `rank_sum` at most."""
    sums = [sum(rank for rank, sign in enumerate(signs, 1) if sign) for signs in product((0, 1), repeat=size)]
    return sum(total <= rank_sum for total in sums) / len(sums)


@pytest.mark.parametrize(
    ("pairs", "confidence", "cut"),
    [(6, 0.95, 0), (7, 0.95, 2), (8, 0.95, 3), (10, 0.95, 8), (10, 0.99, 3), (12, 0.95, 13), (10, 0.998, 0)],
)
def test_interval_bounds_match_published_wilcoxon_tables(pairs, confidence, cut):
    """Critical values of Wilcoxon's signed-rank test, two-sided: the rank sum is this at most."""
    random = np.random.default_rng(pairs)
    after = np.exp(random.normal(size=pairs))
    walsh = sorted((a + b) / 2 for i, a in enumerate(np.log(after)) for b in np.log(after)[i:])
    ratio = paired_ratio([1.0] * pairs, after, confidence)
    assert ratio.estimate == pytest.approx(math.exp(np.median(walsh)))
    assert ratio.low == pytest.approx(math.exp(walsh[cut]))
    assert ratio.high == pytest.approx(math.exp(walsh[-1 - cut]))
    assert brute_tail(pairs, cut) <= (1 - confidence) / 2 < brute_tail(pairs, cut + 1)


@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95])
@pytest.mark.parametrize("seed", range(4))
def test_the_interval_for_equal_code_excludes_1_as_rarely_as_its_confidence(confidence, seed):
    """Counted over all ways in which the noise, of a heavy tail, could have fallen on the two versions."""
    logs = np.random.default_rng(seed).standard_cauchy(9)
    alarms = 0
    for signs in product((-1, 1), repeat=9):
        ratio = paired_ratio([1.0] * 9, np.exp(logs * signs), confidence)
        alarms += not ratio.low <= 1 <= ratio.high
    assert alarms / 2**9 <= 1 - confidence


@pytest.mark.parametrize(("confidence", "first"), [(0.5, 3), (0.8, 4), (0.9, 5), (0.95, 6)])
def test_all_looks_together_exclude_1_as_rarely_as_the_confidence(confidence, first):
    """Also if the first look that shows a difference ends it; over all ways the noise could have fallen."""
    assert first_look(confidence) == first
    logs = np.random.default_rng(first).standard_cauchy(10)
    alarms = 0
    for signs in product((-1, 1), repeat=10):
        after = np.exp(logs * signs)
        looks = [sequential_ratio([1.0] * pairs, after[:pairs], confidence) for pairs in range(first, 11, first)]
        assert all(look.low for look in looks)
        alarms += any(not look.low <= 1 <= look.high for look in looks)
    assert 0 < alarms / 2**10 <= 1 - confidence
    between = [pairs for pairs in range(1, 11) if pairs % first]
    assert not any(sequential_ratio([1.0] * pairs, after[:pairs], confidence).low for pairs in between)


def test_swapping_versions_inverts_the_interval_and_outliers_need_more_pairs():
    """The first pair is far off."""
    after = [0.7, *[1.1] * 17]
    for interval, pairs, outcome in (
        (paired_ratio, 12, Outcome.WORSE),
        (sequential_ratio, 6, Outcome.CANNOT_TELL),
        (sequential_ratio, 12, Outcome.CANNOT_TELL),
        (sequential_ratio, 18, Outcome.WORSE),
    ):
        assert decide(interval([1.0] * pairs, after[:pairs], 0.95), 0.02) is outcome
    random = np.random.default_rng(3)
    before, after = np.exp(random.normal(size=(2, 11)))
    ratio, inverse = paired_ratio(before, after, 0.95), paired_ratio(after, before, 0.95)
    assert inverse.estimate == pytest.approx(1 / ratio.estimate)
    assert (inverse.low, inverse.high) == pytest.approx((1 / ratio.high, 1 / ratio.low))


@pytest.mark.parametrize(("confidence", "needed"), [(0.5, 2), (0.9, 5), (0.95, 6), (0.99, 8), (1 - 0.05 / 16, 10)])
def test_too_few_pairs_leave_the_interval_unbounded(confidence, needed):
    assert needed_pairs(confidence) == needed
    assert paired_ratio([1.0] * needed, [2.0] * needed, confidence).low == pytest.approx(2)
    few = paired_ratio([1.0] * (needed - 1), [2.0] * (needed - 1), confidence)
    assert (few.estimate, few.low, few.high) == (pytest.approx(2), 0, math.inf)
    assert decide(few, 0.05) is Outcome.CANNOT_TELL
    phrase = in_words(few, needed - 1, confidence, 0.05)
    assert phrase.endswith(f" needs {needed} pairs of runs, found {needed - 1}")


def test_the_interval_of_more_than_a_thousand_pairs_is_that_of_the_normal_distribution():
    logs = np.random.default_rng(1).normal(0.1, 0.05, 1030)
    ratio = paired_ratio([1.0] * len(logs), np.exp(logs), 0.95)
    half = 1.96 * 0.05 * np.sqrt(np.pi / 3 / len(logs))  # the efficiency of the signed ranks is 3 / pi
    assert np.log([ratio.low, ratio.estimate, ratio.high]) == pytest.approx(
        logs.mean() + np.array([-half, 0, half]), abs=1e-3
    )


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (1.051, 1.2, Outcome.WORSE),
        (1.05, 1.2, Outcome.CANNOT_TELL),
        (0.99, 1.06, Outcome.CANNOT_TELL),
        (0.9, 1.05, Outcome.NOT_WORSE),
        (1.01, 1.04, Outcome.NOT_WORSE),
        (0.9, 0.953, Outcome.NOT_WORSE),
        (0.9, 0.952, Outcome.FASTER),
    ],
)
def test_the_whole_interval_has_to_lie_on_one_side_of_the_tolerance(low, high, outcome):
    assert decide(Ratio(1.0, low, high), 0.05) is outcome


@pytest.mark.parametrize(
    ("ratio", "phrase"),
    [
        ((1.073, 1.051, 1.098), "7.3% slower, 95% interval 5.1% to 9.8%: slower beyond the tolerance of 2%"),
        ((0.9, 0.85, 0.95), "10% faster, 95% interval 5% to 15%: faster beyond the tolerance of 2%"),
        ((1.001, 0.988, 1.004), "0.1% slower, 95% interval 1.2% faster to 0.4% slower: not slower beyond "),
        ((1.0, 1.0, 1.0), "as fast, 95% interval 0% to 0%: not slower beyond "),
        ((1.02, 1.0, 1.04), "2% slower, 95% interval as fast to 4% slower: more pairs may tell "),
        ((3.5, 3.1, 4.0), "250% slower, 95% interval 210% to 300%: slower beyond "),
    ],
)
def test_each_outcome_is_described_in_words(ratio, phrase):
    assert in_words(Ratio(*ratio), 7, 0.95, 0.02).startswith(phrase)


def test_times_below_the_resolution_are_raised_to_it():
    assert [*map(floored, (-0.5, 0.0, RESOLUTION_SECONDS / 2, 1.0))] == [*[RESOLUTION_SECONDS] * 3, 1.0]
    assert (spread([2.0, 2.1, 1.9]), spread([0.3])) == (pytest.approx(2.1 / 1.9 - 1), 0.0)


def test_half_count_is_the_number_of_slowest_puzzles_with_half_the_time():
    assert [*map(half_count, ([], [1.0], [1, 5, 1, 2], [2, 2, 2, 2, 1]))] == [0, 1, 1, 3]
