"""The benchmarks of the present tree: what was measured, in numbers."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nonobot.harness.bench.catalogue import Benchmark
from nonobot.harness.bench.measure import Pace, checks, make_ready, measure
from nonobot.harness.bench.revisions import present_tree
from nonobot.harness.errors import UnusableError

__all__ = ["FAST", "THOROUGH", "Measured", "measure_all"]

THOROUGH = Pace(processes=10, values=4, min_seconds=0.1)
FAST = Pace(processes=4, values=3, min_seconds=0.05)


@dataclass(frozen=True)
class Measured:
    """A benchmark and its times, each for one unit.

    Attributes
    ----------
    name, unit, about : str
        As in the catalogue.
    clock : str
        'cpu' or 'wall'.
    mean_seconds, deviation_seconds, median_seconds, least_seconds : float
        Of all values; the deviation is the standard deviation.
    value_count : int
    warnings : list of str
        Of pyperf's stability check.
    """

    name: str
    unit: str
    about: str
    clock: str
    mean_seconds: float
    deviation_seconds: float
    median_seconds: float
    least_seconds: float
    value_count: int
    warnings: list[str]

    @classmethod
    def of(cls, benchmark: Benchmark, found: Any) -> Measured:
        """Return what a pyperf.Benchmark says."""
        values = found.get_values()
        return cls(
            benchmark.name,
            benchmark.unit,
            benchmark.about,
            "wall" if benchmark.is_command else "cpu",
            statistics.mean(values),
            statistics.stdev(values) if len(values) > 1 else 0.0,
            statistics.median(values),
            min(values),
            len(values),
            checks(found),
        )


def measure_all(
    benchmarks: Sequence[Benchmark], pace: Pace, core: int | None, show: Callable[[int, str], None]
) -> tuple[list[Measured], list[Any]]:
    """Return what was measured, and the pyperf.Benchmark of each.

    Parameters
    ----------
    benchmarks : sequence of Benchmark
    pace : Pace
    core : int or None
        To hold the benchmarks on.
    show : callable
        Told how many steps are done, of two for each benchmark, and what is next.

    Raises
    ------
    UnusableError
        If one cannot be run, or has a wrong result.
    """
    tree = present_tree()
    problems = make_ready(tree, benchmarks, lambda done, name: show(done, f"compiling and checking {name}"))
    for name, problem in problems.items():
        if problem:
            raise UnusableError(f"the benchmark {name} cannot be run: {problem}")
    found = []
    for done, benchmark in enumerate(benchmarks):
        show(len(benchmarks) + done, benchmark.name)
        found.append(measure(tree, benchmark, pace, core=core))
    return [Measured.of(*pair) for pair in zip(benchmarks, found, strict=True)], found
