"""Is one of two sides slower? Exact intervals from pairs, whatever the machine does meanwhile.

A pair is one run of each side, one right after the other, in random order. Where both sides are the same code,
which of the two was disturbed more is a toss of a coin: the difference of their logarithms is as likely d as -d.
That is all the signed-rank test assumes; not that times are normal, nor, as Student's t-test does, that runs one
after the other have nothing to do with each other. Wilcoxon (1945); interval of Hodges & Lehmann (1963) and Tukey.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Ratio", "needed_pairs", "paired_ratio"]


@dataclass(frozen=True)
class Ratio:
    """A ratio of times, after to before, and the ends of its interval; above 1 is slower."""

    estimate: float
    low: float
    high: float


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
