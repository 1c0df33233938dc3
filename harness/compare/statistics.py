"""Is the candidate slower? The outcome of a ratio with its interval, and whether pairs are enough."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate

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


FIRST_LOOK_SHARE = 0.625
"""Share of the remaining error probability that each look at a growing number of pairs spends"""


def first_look(confidence: float) -> int:
    """Return the number of pairs at which a sequential comparison looks first: 6 for a confidence of 0.95."""
    return needed_pairs(1 - (1 - confidence) * FIRST_LOOK_SHARE)


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


def floored(seconds: float) -> float:
    """Return `seconds`, or the resolution if they are below it, even if 0 or negative."""
    return max(seconds, RESOLUTION_SECONDS)


def half_count(seconds: Iterable[float]) -> int:
    """Return the least number of `seconds` that make up half of their sum."""
    summed = list(accumulate(sorted(seconds, reverse=True)))
    return bisect_left(summed, summed[-1] / 2) + 1 if summed else 0


def spread(seconds: Sequence[float]) -> float:
    """Return the share by which the largest of `seconds` exceeds the smallest: 0.05 for 5%."""
    return max(seconds) / min(seconds) - 1
