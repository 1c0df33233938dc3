"""The benchmarks with the bot of another revision and with that of the present tree, by turns."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from nonobot.harness.bench.catalogue import Benchmark
from nonobot.harness.bench.measure import Pace, make_ready, measure
from nonobot.harness.bench.revisions import Tree, side_by_side
from nonobot.harness.errors import UnusableError
from nonobot.harness.statistics import Ratio, needed_pairs, paired_ratio
from nonobot.harness.text import percent

__all__ = ["CONFIDENCE", "ROUNDS", "Against", "Compared", "Judgement", "Plan", "judged", "measure_against"]

CONFIDENCE = 0.95
"""Of all intervals together: so sure is it that none of them misses, however many benchmarks there are."""

ROUNDS = 10

PACE = Pace(processes=1, values=4, min_seconds=0.05)


class Judgement(StrEnum):
    """What the interval of a ratio says.

    EQUAL: it holds 1. SLOWER, FASTER: all of it lies beyond the tolerance. A_LITTLE_SLOWER, A_LITTLE_FASTER: it
    does not hold 1, but the change may be within the tolerance.
    """

    EQUAL = "equal"
    SLOWER = "slower"
    FASTER = "faster"
    A_LITTLE_SLOWER = "a little slower"
    A_LITTLE_FASTER = "a little faster"


@dataclass(frozen=True)
class Plan:
    """How sides are compared.

    Attributes
    ----------
    revision : str
        The side before; the one after is the present tree.
    tolerance : float
        How much slower is borne, as a share.
    rounds : int
        Pairs of runs of each benchmark.
    core : int or None
        To hold the benchmarks on.
    """

    revision: str
    tolerance: float = 0.05
    rounds: int = ROUNDS
    core: int | None = None


@dataclass(frozen=True)
class Compared:
    """A benchmark on both sides.

    Attributes
    ----------
    name, unit : str
        As in the catalogue.
    before_seconds, after_seconds : float
        Medians, for one unit.
    ratio : Ratio
        Of the least values of each pair of runs.
    judgement : Judgement
    """

    name: str
    unit: str
    before_seconds: float
    after_seconds: float
    ratio: Ratio
    judgement: Judgement


@dataclass(frozen=True)
class Against:
    """All benchmarks on both sides.

    Attributes
    ----------
    plan : Plan
    compared : list of Compared
    skipped : dict of str to str
        Of benchmarks that the other revision's bot cannot run, why.
    """

    plan: Plan
    compared: list[Compared]
    skipped: dict[str, str]

    @property
    def worse(self) -> bool:
        """Whether a benchmark is slower, so that a gate should close."""
        return any(one.judgement is Judgement.SLOWER for one in self.compared)


def judged(ratio: Ratio, tolerance: float) -> Judgement:
    """Return what an interval says."""
    if ratio.low > 1 + tolerance:
        return Judgement.SLOWER
    if ratio.high < 1 / (1 + tolerance):
        return Judgement.FASTER
    if ratio.low > 1:
        return Judgement.A_LITTLE_SLOWER
    return Judgement.A_LITTLE_FASTER if ratio.high < 1 else Judgement.EQUAL


def measure_against(
    benchmarks: Sequence[Benchmark], plan: Plan, show: Callable[[float, str], None]
) -> tuple[Against, list[tuple[Any, Any]]]:
    """Return how the present tree compares, and the two pyperf.Benchmark of each benchmark compared.

    Parameters
    ----------
    benchmarks : sequence of Benchmark
    plan : Plan
    show : callable
        Told which share is done, and what is next.

    Raises
    ------
    UnusableError
        If there is no such revision, or a benchmark cannot be run with the present tree.
    """
    needed = needed_pairs(1 - (1 - CONFIDENCE) / len(benchmarks))
    if plan.rounds < needed:
        raise UnusableError(
            f"{plan.rounds} rounds cannot tell {len(benchmarks)} benchmarks apart at {percent(CONFIDENCE)}: "
            f"it takes {needed} at least"
        )
    with side_by_side(plan.revision) as (before, after):
        able, skipped = _able(benchmarks, before, after, show)
        found = _rounds(able, before, after, plan, show)
    confidence = 1 - (1 - CONFIDENCE) / max(len(able), 1)
    compared = [_compared(one, *sides, plan, confidence) for one, sides in zip(able, found, strict=True)]
    together = [(_together(sides[0]), _together(sides[1])) for sides in found]
    return Against(plan, compared, skipped), together


READY_SHARE = 0.1
"""Of the time, for the progress shown."""


def _able(
    benchmarks: Sequence[Benchmark], before: Tree, after: Tree, show: Callable[[float, str], None]
) -> tuple[list[Benchmark], dict[str, str]]:
    """Return the benchmarks that both sides can run, and of the others why the side before cannot."""
    each = READY_SHARE / 2 / len(benchmarks)

    def ready(tree: Tree, first: float) -> dict[str, str]:
        note = f"compiling and checking, {tree.name}: "
        found = make_ready(tree, benchmarks, lambda done, name: show(first + done * each, note + name))
        return {name: problem for name, problem in found.items() if problem}

    for name, problem in ready(after, 0.0).items():
        raise UnusableError(f"the benchmark {name} cannot be run: {problem}")
    skipped = ready(before, READY_SHARE / 2)
    return [one for one in benchmarks if one.name not in skipped], skipped


def _rounds(
    benchmarks: Sequence[Benchmark], before: Tree, after: Tree, plan: Plan, show: Callable[[float, str], None]
) -> list[tuple[list[Any], list[Any]]]:
    """Return of each benchmark the runs of both sides, as many as rounds."""
    toss = random.Random()
    loops: dict[str, int] = {}
    found: list[tuple[list[Any], list[Any]]] = [([], []) for _ in benchmarks]
    for number in range(plan.rounds):
        for at, benchmark in enumerate(benchmarks):
            share = (number * len(benchmarks) + at) / (plan.rounds * len(benchmarks))
            show(READY_SHARE + (1 - READY_SHARE) * share, f"round {number + 1} of {plan.rounds}: {benchmark.name}")
            if benchmark.name not in loops and not benchmark.is_cold:
                loops[benchmark.name] = measure(after, benchmark, PACE, core=plan.core).get_loops()
            for side in toss.sample((0, 1), 2):
                run = measure(
                    (before, after)[side], benchmark, PACE, loops=loops.get(benchmark.name), core=plan.core
                )
                found[at][side].append(run)
    return found


def _compared(
    benchmark: Benchmark, before: list[Any], after: list[Any], plan: Plan, confidence: float
) -> Compared:
    # Whatever disturbs a run makes it longer: the least value of each was disturbed least.
    least = [[min(run.get_values()) for run in runs] for runs in (before, after)]
    ratio = paired_ratio(least[0], least[1], confidence)
    together = _together(before), _together(after)
    return Compared(
        benchmark.name,
        benchmark.unit,
        statistics.median(together[0].get_values()),
        statistics.median(together[1].get_values()),
        ratio,
        judged(ratio, plan.tolerance),
    )


def _together(runs: list[Any]) -> Any:
    """Return the runs of a side as one pyperf.Benchmark."""
    import pyperf  # type: ignore[import-untyped, unused-ignore]

    return pyperf.Benchmark([one for run in runs for one in run.get_runs()])
