"""Is the candidate slower than the baseline? Test and confidence interval of pairs of runs, for all commands.

If both versions are the same code, a logarithmic difference of d within a pair is as likely as -d. The signed-rank
test assumes nothing else. Wilcoxon (1945); interval of Hodges and Lehmann (1963), and Tukey.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nonobot.harness.text import percent

RESOLUTION_SECONDS = 1e-4
"""Smallest difference between times that counts. A judge timestamps an answer when it reads it: two answers that
arrive in one read get the same timestamp, and the scheduler moves each by about 10 µs."""


@dataclass(frozen=True)
class Ratio:
    """A ratio of times, candidate to baseline, above 1 if slower; its interval, from 0 to infinity without one."""

    estimate: float
    low: float = 0.0
    high: float = math.inf


class Outcome(StrEnum):
    """Result of a comparison, by the interval of the ratio."""

    WORSE = "worse"  # wholly above 1 + tolerance
    NOT_WORSE = "not worse"  # wholly below 1 + tolerance
    FASTER = "faster"  # wholly below 1 / (1 + tolerance)
    CANNOT_TELL = "cannot tell"  # anything else


OUTCOME_STYLES = {
    Outcome.WORSE: "bold red",
    Outcome.CANNOT_TELL: "bold yellow",
    Outcome.NOT_WORSE: "bold green",
    Outcome.FASTER: "bold green",
}

EXIT_STATUS = {Outcome.NOT_WORSE: 0, Outcome.FASTER: 0, Outcome.WORSE: 1, Outcome.CANNOT_TELL: 3}


def needed_pairs(confidence: float) -> int:
    """Return the smallest number of pairs with a bounded interval: 6 for a confidence of 0.95."""
    return math.ceil(math.log2(2 / (1 - confidence)) - 1e-9)


def paired_ratio(baseline: Sequence[float], candidate: Sequence[float], confidence: float) -> Ratio:
    """Return the ratio of paired times, with an interval that contains it with a probability of `confidence`.

    `baseline[i]` and `candidate[i]` are a pair. With fewer than `needed_pairs`, the interval is unbounded.
    """
    logs = np.log(np.asarray(candidate, np.float64)) - np.log(np.asarray(baseline, np.float64))
    first, second = np.triu_indices(len(logs))
    walsh = np.sort((logs[first] + logs[second]) / 2)
    estimate = math.exp(np.median(walsh))
    cut = _largest_rank_sum(len(logs), (1 - confidence) / 2)
    return Ratio(estimate, math.exp(walsh[cut]), math.exp(walsh[-1 - cut])) if cut >= 0 else Ratio(estimate)


FIRST_LOOK_SHARE = 0.625
"""Share of the remaining error probability that each look at a growing number of pairs spends"""


def first_look(confidence: float) -> int:
    """Return the number of pairs at which a sequential comparison looks first: 6 for a confidence of 0.95."""
    return needed_pairs(1 - (1 - confidence) * FIRST_LOOK_SHARE)


def sequential_ratio(baseline: Sequence[float], candidate: Sequence[float], confidence: float) -> Ratio:
    """Return the ratio of paired times, with an interval that may be computed again as pairs are added.

    All intervals together contain the ratio with a probability of `confidence`. They are those of `paired_ratio`
    at the looks, which are the multiples of `first_look`; in between the interval is unbounded. The looks share
    the probability of an error (Bonferroni): each spends a fixed share of what the earlier ones left.
    """
    number, beyond = divmod(len(baseline), first_look(confidence))
    if beyond or not number:
        return Ratio(paired_ratio(baseline, candidate, confidence).estimate)
    spent = FIRST_LOOK_SHARE * (1 - FIRST_LOOK_SHARE) ** (number - 1)
    return paired_ratio(baseline, candidate, 1 - (1 - confidence) * spent)


def _largest_rank_sum(pairs: int, tail: float) -> int:
    """Return the largest rank sum that is not exceeded with a probability of at most `tail`; -1 without one."""
    ways = np.zeros(pairs * (pairs + 1) // 2 + 1)  # sets of ranks by their sum
    ways[0] = 1
    for rank in range(1, pairs + 1):
        ways[rank:] += ways[:-rank].copy()
    share = np.cumsum(ways) / 2.0**pairs
    return int(np.searchsorted(share, tail * (1 + 1e-9), side="right")) - 1


def decide(ratio: Ratio, tolerance: float) -> Outcome:
    """Return the outcome that an interval shows; `tolerance` is the largest slowdown to accept, as a share."""
    limit = 1 + tolerance
    if ratio.low > limit:
        return Outcome.WORSE
    if ratio.high < 1 / limit:
        return Outcome.FASTER
    return Outcome.NOT_WORSE if ratio.high <= limit else Outcome.CANNOT_TELL


def in_words(ratio: Ratio, pairs: int, confidence: float, tolerance: float) -> str:
    """Return a ratio, its interval and the outcome as a phrase whose subject is the candidate."""
    if math.isinf(ratio.high):
        return (
            f"{ratio_in_words(ratio.estimate)}; an interval of {percent(confidence)} needs "
            f"{needed_pairs(confidence)} pairs of runs, found {pairs}"
        )
    meaning = {
        Outcome.WORSE: "slower beyond",
        Outcome.FASTER: "faster beyond",
        Outcome.NOT_WORSE: "not slower beyond",
        Outcome.CANNOT_TELL: "more pairs may tell whether it is slower beyond",
    }[decide(ratio, tolerance)]
    interval = f"{percent(confidence)} interval {interval_in_words(ratio)}"
    return f"{ratio_in_words(ratio.estimate)}, {interval}: {meaning} the tolerance of {percent(tolerance)}"


def ratio_in_words(ratio: float) -> str:
    """Return a ratio of times as `7.3% slower` (takes 7.3% more time) or `7.3% faster` (7.3% less)."""
    if _is_even(ratio):
        return "as fast"
    return f"{percent(abs(ratio - 1))} {'slower' if ratio > 1 else 'faster'}"


def interval_in_words(ratio: Ratio) -> str:
    """Return an interval of ratios: `5.1% to 9.8%` on one side of 1, otherwise `1.2% faster to 0.4% slower`."""
    low, high = ratio.low, ratio.high
    if _is_even(low) and _is_even(high):
        return "0% to 0%"
    if _is_even(low) or _is_even(high) or (low < 1 < high):
        return f"{ratio_in_words(low)} to {ratio_in_words(high)}"
    shares = sorted((abs(low - 1), abs(high - 1)))
    return " to ".join(map(percent, shares))


def _is_even(ratio: float) -> bool:
    return f"{abs(ratio - 1) * 100:.1f}" == "0.0"


def floored(seconds: ArrayLike) -> NDArray[np.float64]:
    """Return `seconds` with every value below the resolution, even if 0 or negative, set to the resolution."""
    return np.maximum(np.asarray(seconds, dtype=np.float64), RESOLUTION_SECONDS)


def half_count(seconds: ArrayLike) -> int:
    """Return the least number of `seconds` that make up half of their sum."""
    summed = np.cumsum(np.sort(np.asarray(seconds, np.float64))[::-1])
    return int(np.searchsorted(summed, summed[-1] / 2)) + 1 if len(summed) else 0


def spread(seconds: ArrayLike) -> float:
    """Return the share by which the largest of `seconds` exceeds the smallest: 0.05 for 5%."""
    return float(np.max(seconds) / np.min(seconds) - 1)
