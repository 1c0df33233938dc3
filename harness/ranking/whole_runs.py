"""Two sides by their whole runs: how the times compare, and how far such runs differ by themselves.

The model has two levels. The logarithm of a ratio of times is that of the code and the effects of the runs: the
machine's speed moves from one to the next, for all puzzles of a run alike. And what the code does to other puzzles
may be something else. So the interval has in it how far pairs of runs that followed each other spread, and how
unlike the puzzles are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from nonobot.harness.play.machine import BUSY_SHARE
from nonobot.harness.ranking.compared_runs import Side, shared_cores
from nonobot.harness.statistics import Ratio, floored, margin_of_puzzles, margin_of_runs, spread

__all__ = ["Whole", "compare_whole"]

QUIET_SPREAD = 0.04
BUSY_CPU_SPREAD = 0.1
BUSY_WALL_SPREAD = 0.25
"""Standard deviations of the logarithms of the same code's times that are expected before any run is seen: on a
quiet machine; in CPU time and in wall time where others were at work. docs/ranking.md has what was measured."""

SIDE_BY_SIDE_SPREAD = 0.01
"""The same of CPU times of runs that had one core together: what the machine does meanwhile it does to both."""

LARGEST_MARGIN = 50.0
"""Of a logarithm: more says nothing, and its exponential might not be a number."""


@dataclass(frozen=True)
class Whole:
    """How the times of whole runs compare, on one clock.

    Attributes
    ----------
    before_seconds, after_seconds : float
        Of a run, for the puzzles compared: the geometric mean over the runs, added up over the sets.
    ratio : Ratio
        With the interval that runs and puzzles leave together.
    turns : int
        How often at least a side had its turn on a set.
    runs_margin, puzzles_margin : float
        By which share, with the confidence asked for, runs of one side and another would differ by themselves, and
        by which the ratio may be another on other puzzles.
    before_drift, after_drift : float
        By which share the slowest turn of a side exceeds its fastest.
    """

    before_seconds: float
    after_seconds: float
    ratio: Ratio
    turns: int
    runs_margin: float
    puzzles_margin: float
    before_drift: float
    after_drift: float


def compare_whole(
    before: Side,
    after: Side,
    compared: Mapping[str, NDArray[np.bool_]],
    confidence: float,
    on_cpu: bool,
) -> Whole:
    """Return how whole runs compare.

    Parameters
    ----------
    before, after : Side
    compared : mapping of str to array of bool, shape (puzzles,)
        Which puzzles of each set, by its digest, are compared; one of all at least.
    confidence : float
    on_cpu : bool
        Whether to compare CPU times; both sides must have them.
    """
    together = shared_cores(before, after)
    by_set = [_levels_by_turns(before, after, digest, mask, on_cpu, together) for digest, mask in compared.items()]
    levels = list(zip(*by_set, strict=True))  # side, set, turn
    means = [np.exp([fmean(turns) for turns in side]) for side in levels]
    estimate = float(means[1].sum() / means[0].sum())
    weights = [float(one) for one in np.mean([each / each.sum() for each in means], axis=0)]
    # Turns alternate, so they are pairs; one that is left over is in the mean alone.
    pairs = [[late - early for early, late in zip(*both, strict=False)] for both in by_set]
    runs = margin_of_runs(pairs, weights, _expected_spread(before, after, on_cpu, together), confidence)
    puzzles = margin_of_puzzles(_shares(before, compared), _shares(after, compared), confidence)
    # The two have nothing to do with each other: they add up as the sides of a right angle do.
    margin = min(math.hypot(runs, puzzles), LARGEST_MARGIN)
    return Whole(
        before_seconds=float(means[0].sum()),
        after_seconds=float(means[1].sum()),
        ratio=Ratio(estimate, estimate * math.exp(-margin), estimate * math.exp(margin)),
        turns=min(len(turns) for side in levels for turns in side),
        runs_margin=math.expm1(runs),
        puzzles_margin=math.expm1(min(puzzles, LARGEST_MARGIN)),
        before_drift=max(map(spread, levels[0])),
        after_drift=max(map(spread, levels[1])),
    )


def _levels_by_turns(
    before: Side, after: Side, digest: str, compared: NDArray[np.bool_], on_cpu: bool, together: bool
) -> tuple[list[float], list[float]]:
    """Return the logarithms of the times of both sides' runs on a set.

    Runs of one side without any of the other between them are one turn, and count as one run, with their mean:
    whatever the machine did meanwhile it did to one side alone, and that they are alike says nothing of it.
    """
    dated = []
    for number, side in enumerate((before, after)):
        seconds = side.cpu_seconds(digest, compared) if on_cpu else side.wall_seconds(digest, compared)
        for place, (run, level) in enumerate(zip(side.runs[digest], np.log(seconds), strict=True)):
            when = (run.terms.beside or "", 0) if together else (run.started_at, place)
            dated.append((when, number, float(level)))
    found: tuple[list[float], list[float]] = ([], [])
    for number, turn in groupby(sorted(dated), key=lambda one: one[1]):
        found[number].append(fmean(one[2] for one in turn))
    return found


def _shares(side: Side, compared: Mapping[str, NDArray[np.bool_]]) -> NDArray[np.float64]:
    """Return the share of each puzzle in the times of a side, in each of its runs: shape (runs, puzzles).

    Of several sets, the first runs on each are a row, and so on, as far as all of them go.
    """
    times = [side.all_seconds(digest, mask) for digest, mask in compared.items()]
    rows = np.concatenate([one[: min(map(len, times))] for one in times], axis=1)
    rows = floored(rows)
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def _expected_spread(before: Side, after: Side, on_cpu: bool, together: bool) -> float:
    """Return how far such runs are expected to spread: the root of the mean variance, quiet runs and busy ones."""
    if on_cpu and together:
        return SIDE_BY_SIDE_SPREAD
    busy = BUSY_CPU_SPREAD if on_cpu else BUSY_WALL_SPREAD
    shares = [run.machine.busy_share for side in (before, after) for run in side.all_runs]
    return math.sqrt(fmean((busy if (share or 0.0) >= BUSY_SHARE else QUIET_SPREAD) ** 2 for share in shares))
