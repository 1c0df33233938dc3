"""Ratios of two series of times, with intervals: pure functions of arrays, no clock and no files.

Two things move a ratio of the same code to itself. Puzzles are a sample, and the intervals of `ratios` say what
another set of the same kind would show. Runs are one, too: the machine's speed moves from one to the next, for all
puzzles of a run alike, so that a thousand puzzles of one run say no more about it than one does. `margin_of_runs`
says how far that goes.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonobot.arguments import missing
from nonobot.harness.errors import UnusableError

__all__ = [
    "RESAMPLES",
    "RESOLUTION_SECONDS",
    "Ratio",
    "Ratios",
    "floored",
    "margin_of_puzzles",
    "margin_of_runs",
    "needed_pairs",
    "paired_ratio",
    "ratios",
    "spread",
]

RESOLUTION_SECONDS = 1e-4
"""Times are not told apart below this. A judge stamps an answer when it reads it: two answers that arrive in one
read get the same stamp, and the scheduler's part in each stamp is some ten microseconds."""

RESAMPLES = 10_000
"""Bootstrap resamples. The ends of a 95 % interval then move by about 1 % of its width from seed to seed."""

EXPECTED_FREEDOM = 2.0
"""How many degrees of freedom the spread expected of runs is worth: few, since machines differ."""

NUMBERS_AT_ONCE = 1 << 16
"""How many random numbers are held at one time: half a megabyte, which the processor keeps near."""


@dataclass(frozen=True)
class Ratio:
    """A ratio of times, after to before, and the ends of its interval; above 1 is slower."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Ratios:
    """What two series of times have to do with each other.

    Attributes
    ----------
    each : Ratio
        Geometric mean of the ratios puzzle by puzzle: every puzzle has the same weight.
    total : Ratio
        Of the two sums: the slowest puzzles have nearly all the weight. Where these are few, resamples know little
        of the spread, and the interval is too narrow (see `margin_of_puzzles`).
    """

    each: Ratio
    total: Ratio


def floored(seconds: ArrayLike) -> NDArray[np.float64]:
    """Return `seconds` with what lies below the resolution, also zero and less, set to the resolution."""
    return np.maximum(np.asarray(seconds, dtype=np.float64), RESOLUTION_SECONDS)


def ratios(
    before: ArrayLike, after: ArrayLike, confidence: float = 0.95, seed: int = 0, resamples: int = RESAMPLES
) -> Ratios:
    """Return the ratios of paired times, with bootstrap intervals over the pairs.

    Parameters
    ----------
    before, after : array_like of float64, shape (n,)
        Seconds; `before[i]` and `after[i]` belong to the same puzzle. For the ratio puzzle by puzzle, times are
        floored at `RESOLUTION_SECONDS`; sums take them as they are, since what one stamp gives too much, the next
        gives too little.
    confidence : float
        Between 0 and 1.
    seed : int
        Of the resampling; the same arguments give the same intervals.
    resamples : int

    Returns
    -------
    Ratios
        With bias-corrected and accelerated intervals (BCa) of the logarithms. Swapping `before` and `after`
        inverts all of it.

    Raises
    ------
    ValueError
        If there are no times, or the two differ in number.
    UnusableError
        If scipy is not there.

    References
    ----------
    B. Efron, "Better bootstrap confidence intervals", JASA 82 (1987), 171-185: sections 3, 4 and 7 (acceleration
    by the jackknife).
    """
    first, second = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape or not len(first):
        raise ValueError(f"expected two series of as many times, found shapes {first.shape} and {second.shape}")
    logs = np.log(floored(second)) - np.log(floored(first))
    low, high = _bca_interval((logs, first, second), confidence, seed, resamples)
    estimates = _logs_of_ratios(logs, first, second)
    each, total = (Ratio(*map(math.exp, ends)) for ends in zip(estimates, low, high, strict=True))
    return Ratios(each, total)


_Floats = NDArray[np.float64]


def _logs_of_ratios(logs: _Floats, before: _Floats, after: _Floats, axis: int = -1) -> _Floats:
    """Return the logarithms of both ratios, shape (2, ...): of the pairs' own logarithms, and of their times."""
    sums = floored(before.sum(axis=axis)), floored(after.sum(axis=axis))
    return np.stack([logs.mean(axis=axis), np.log(sums[1]) - np.log(sums[0])])


def _bca_interval(
    pairs: tuple[_Floats, _Floats, _Floats], confidence: float, seed: int, resamples: int
) -> tuple[_Floats, _Floats]:
    """Return both ends of the intervals of `_logs_of_ratios`, each of shape (2,), from one set of resamples."""
    count = len(pairs[0])
    if count == 1:  # nothing to resample
        return _logs_of_ratios(*pairs), _logs_of_ratios(*pairs)
    bootstrap = _scipy_stats().bootstrap
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of resamples that are all alike; they are seen to below
        found = bootstrap(
            pairs,
            _logs_of_ratios,
            paired=True,
            vectorized=True,
            axis=-1,
            method="BCa",
            confidence_level=confidence,
            n_resamples=resamples,
            batch=max(1, NUMBERS_AT_ONCE // count),
            rng=np.random.default_rng(seed),
        )
    low, high = found.confidence_interval
    # Of resamples that are all alike, or lie all on one side, there is no correction: the plain percentiles.
    tail = (1 - confidence) / 2
    plain_low, plain_high = np.quantile(found.bootstrap_distribution, (tail, 1 - tail), axis=-1)
    corrected = low <= high  # false of NaN
    return np.where(corrected, low, plain_low), np.where(corrected, high, plain_high)


def _scipy_stats() -> Any:
    try:
        import scipy.stats as stats  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise UnusableError(missing("a comparison", "scipy")) from None
    return stats


def margin_of_runs(
    differences: Sequence[ArrayLike], weights: Sequence[float], expected: float, confidence: float
) -> float:
    """Return how far runs by themselves may move the logarithm of a ratio, either way.

    Parameters
    ----------
    differences : sequence of array_like of float64, shape (pairs,)
        For each set, the logarithms of the ratios of two runs, one of either side, that followed each other: what
        moves slowly moves both.
    weights : sequence of float
        Of each set in the ratio.
    expected : float
        Standard deviation of the logarithm of a run's time that is expected before any is seen. It has the weight
        of `EXPECTED_FREEDOM` degrees of freedom: of one pair it is all that is known, of five it is a third.
    confidence : float

    Returns
    -------
    float
        Student's t times the standard error, with the variance pooled over all of `differences` and moderated by
        the one expected.

    References
    ----------
    G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential expression in microarray
    experiments", Stat. Appl. Genet. Mol. Biol. 3 (2004), article 3: section 4 (moderated t).
    """
    groups = [np.asarray(one, np.float64) for one in differences]
    freedom = EXPECTED_FREEDOM + sum(len(one) - 1 for one in groups)
    squares = EXPECTED_FREEDOM * 2 * expected**2 + sum(float(((one - one.mean()) ** 2).sum()) for one in groups)
    share = sum(weight**2 / len(one) for weight, one in zip(weights, groups, strict=True))
    return float(_scipy_stats().t.ppf((1 + confidence) / 2, freedom) * math.sqrt(squares / freedom * share))


def margin_of_puzzles(before: ArrayLike, after: ArrayLike, confidence: float) -> float:
    """Return how far other puzzles of the same kind may move the logarithm of the ratio of two sums of times.

    Parameters
    ----------
    before, after : array_like of float64, shape (runs, n)
        The share of each puzzle in the time of each run: rows have the sum 1.
    confidence : float

    Returns
    -------
    float
        Student's t times the standard error. Where all puzzles take by as much longer, their shares are alike, and
        this is about 0: the noise of single times, known from the runs of a side, is taken off. One run a side
        does not show it, and all of it counts. The fewer puzzles have most of the time, the larger is t.

    References
    ----------
    W. G. Cochran, "Sampling Techniques" (1977), section 6.3: variance of a ratio estimate. L. Kish, "Survey
    Sampling" (1965), section 11.7: effective size of a weighted sample, from which t has its degrees of freedom.
    """
    sides = [np.asarray(side, np.float64) for side in (before, after)]
    noise = sum(side.var(axis=0, ddof=1).sum() / len(side) for side in sides if len(side) > 1)
    first, second = (side.mean(axis=0) for side in sides)
    unlike = max(0.0, float(((second - first) ** 2).sum() - noise))
    effective = 1 / (((first + second) / 2) ** 2).sum()
    return float(_scipy_stats().t.ppf((1 + confidence) / 2, max(effective - 1, 1.0)) * math.sqrt(unlike))


def spread(levels: ArrayLike) -> float:
    """Return by which share the largest of `levels`, logarithms, exceeds the smallest: 0.05 for 5 %."""
    return float(np.expm1(np.ptp(np.asarray(levels, dtype=np.float64))))


# Is one of two sides slower? Exact intervals from pairs of runs, whatever the machine does meanwhile.
#
# A pair is one run of each side, one right after the other, in random order. Where both sides are the same code,
# which of the two was disturbed more is a toss of a coin: the difference of their logarithms is as likely d as -d.
# That is all the signed-rank test assumes; not that times are normal, nor, as Student's t-test does, that runs one
# after the other have nothing to do with each other. Wilcoxon (1945); interval of Hodges & Lehmann (1963), Tukey.
# scipy's `wilcoxon` has the test, but not its interval.


def needed_pairs(confidence: float) -> int:
    """Return how many pairs it takes at least for an interval with ends."""
    return math.ceil(math.log2(2 / (1 - confidence)) - 1e-9)


def paired_ratio(before: Sequence[float], after: Sequence[float], confidence: float) -> Ratio:
    """Return the ratio of paired times with its interval.

    Parameters
    ----------
    before, after : sequence of float
        Seconds; `before[i]` and `after[i]` are a pair.
    confidence : float
        That the interval holds the ratio at the least; with too few pairs it has no ends.
    """
    logs = np.log(np.asarray(after, np.float64)) - np.log(np.asarray(before, np.float64))
    first, second = np.triu_indices(len(logs))
    walsh = np.sort((logs[first] + logs[second]) / 2)
    estimate = math.exp(np.median(walsh))
    cut = _ranks_cut(len(logs), (1 - confidence) / 2)
    if cut < 0:
        return Ratio(estimate, 0.0, math.inf)
    return Ratio(estimate, math.exp(walsh[cut]), math.exp(walsh[-1 - cut]))


def _ranks_cut(pairs: int, tail: float) -> int:
    """Return the largest rank sum that is not exceeded with a probability of `tail` at most; -1 if none is."""
    ways = np.zeros(pairs * (pairs + 1) // 2 + 1)  # sets of ranks by their sum
    ways[0] = 1
    for rank in range(1, pairs + 1):
        ways[rank:] += ways[:-rank].copy()
    share = np.cumsum(ways) / 2.0**pairs
    return int(np.searchsorted(share, tail * (1 + 1e-9), side="right")) - 1
