"""The ratio of paired times, with its interval by signed ranks; only an interval needs numpy.

If both versions are the same code, a logarithmic difference of d within a pair is as likely as -d. The signed-rank
test assumes nothing else. Wilcoxon (1945); interval of Hodges and Lehmann (1963), and Tukey.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nonobot.harness.compare.statistics import FIRST_LOOK_SHARE, Ratio, first_look


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
    share = np.zeros(pairs * (pairs + 1) // 4 + 1)  # of the sets of ranks, by their sum; the lower half
    share[0] = 1
    for rank in range(1, pairs + 1):
        reached = share[: rank * (rank + 1) // 2 + 1]
        reached /= 2
        reached[rank:] += reached[: max(0, len(reached) - rank)].copy()
    return int(np.searchsorted(np.cumsum(share), tail * (1 + 1e-9), side="right")) - 1
