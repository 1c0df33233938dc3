"""Starting pyperf: one process a benchmark and side, its file read back; the present tree measured alone."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nonobot.arguments import missing
from nonobot.harness.bench.catalogue import Benchmark
from nonobot.harness.bench.revisions import Tree, present_tree
from nonobot.harness.errors import UnusableError

__all__ = [
    "FAST",
    "THOROUGH",
    "Measured",
    "Pace",
    "checks",
    "make_ready",
    "measure",
    "measure_all",
    "require_pyperf",
    "save",
]

PASSED_ON = ("PYTHONSAFEPATH", "NONOBOT_CACHE_DIR", "XDG_CACHE_HOME", "TMPDIR")
"""Variables that pyperf's workers get beside those that it passes on itself; PYTHONPATH is one of these."""


@dataclass(frozen=True)
class Pace:
    """How much is measured.

    Attributes
    ----------
    processes : int
        Workers of a benchmark, one after the other.
    values : int
        Of each worker, after one value that does not count.
    min_seconds : float
        That a value lasts at least.
    """

    processes: int
    values: int
    min_seconds: float


THOROUGH = Pace(processes=10, values=4, min_seconds=0.1)
FAST = Pace(processes=4, values=3, min_seconds=0.05)

COLD_PROCESSES = 3
"""A cold start is compiled this often, and nothing is thrown away."""


def require_pyperf() -> None:
    """See that pyperf is there.

    Raises
    ------
    UnusableError
        If not.
    """
    from importlib.util import find_spec

    if find_spec("pyperf") is None:
        raise UnusableError(missing("bench", "pyperf"))


def make_ready(
    tree: Tree, benchmarks: Sequence[Benchmark], show: Callable[[int, str], None]
) -> dict[str, str | None]:
    """Compile what the benchmarks need of a tree's bot, and check their results.

    Parameters
    ----------
    tree : Tree
    benchmarks : sequence of Benchmark
    show : callable
        Told how many are done, and the name of the next.

    Returns
    -------
    dict of str to str or None
        Of each benchmark why it cannot be run; None if it can.
    """
    names = [one.name for one in benchmarks]
    found: dict[str, str | None] = {}
    with tempfile.TemporaryFile("w+") as errors:
        command = [sys.executable, "-m", "nonobot.harness.bench.suite", "ready", *names]
        with subprocess.Popen(
            command,
            env=_environment(tree),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process:
            assert process.stdout is not None
            show(0, names[0])
            for line in process.stdout:
                one = json.loads(line)
                found[one["name"]] = one["problem"]
                show(len(found), names[min(len(found), len(names) - 1)])
        errors.seek(0)
        words = _last_line(errors.read()) or f"its process ended with status {process.returncode}"
    # A crash ends the process: the benchmark under way and those after it have no line.
    return {name: found.get(name, words) for name in names}


def measure(
    tree: Tree, benchmark: Benchmark, pace: Pace, loops: int | None = None, core: int | None = None
) -> Any:
    """Return a pyperf.Benchmark: a benchmark run with the bot of a tree.

    Parameters
    ----------
    tree : Tree
    benchmark : Benchmark
    pace : Pace
    loops : int or None
        None: pyperf finds out how many make a value.
    core : int or None
        To hold the workers on.

    Raises
    ------
    UnusableError
        If it cannot be run.
    """
    import pyperf  # type: ignore[import-untyped, unused-ignore]

    with tempfile.TemporaryDirectory(prefix="nonobot-bench-") as folder:
        file = Path(folder, "runs.json")
        options = ["--benchmarks", benchmark.name, "--quiet", "-o", str(file)]
        options += ["--inherit-environ", ",".join(PASSED_ON)]
        if benchmark.is_cold:
            options += ["-p", str(min(pace.processes, COLD_PROCESSES)), "-n", "1", "-w", "0", "-l", "1"]
        else:
            options += ["-p", str(pace.processes), "-n", str(pace.values), "-w", "1"]
            options += ["--min-time", str(pace.min_seconds)] + (["-l", str(loops)] if loops else [])
        if core is not None:
            options += ["--affinity", str(core)]
        done = subprocess.run(
            [sys.executable, "-m", "nonobot.harness.bench.suite", *options],
            env=_environment(tree),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode:
            words = _last_line(done.stdout) or f"status {done.returncode}"
            raise UnusableError(f"the benchmark {benchmark.name} cannot be run: {words}")
        return pyperf.Benchmark.load(str(file))


def save(file: Path, benchmarks: Sequence[Any]) -> None:
    """Write benchmarks as a file of pyperf's.

    Raises
    ------
    UnusableError
        If it cannot be written.
    """
    import pyperf  # type: ignore[import-untyped, unused-ignore]

    if not benchmarks:
        return
    try:
        pyperf.BenchmarkSuite(benchmarks).dump(str(file), replace=True)
    except OSError as error:
        raise UnusableError(f"cannot write {file}: {error.strerror}") from None


def checks(benchmark: Any) -> list[str]:
    """Return the warnings of `pyperf check`, the stability check."""
    with tempfile.TemporaryDirectory(prefix="nonobot-bench-") as folder:
        file = str(Path(folder, "runs.json"))
        benchmark.dump(file)
        command = [sys.executable, "-m", "pyperf", "check", file]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return [line.removeprefix("* ") for line in done.stdout.splitlines() if line.startswith("* ")]


def _environment(tree: Tree) -> dict[str, str]:
    """Return the environment in which `nonobot` is that of a tree."""
    return {**os.environ, "PYTHONPATH": str(tree.folder), "PYTHONSAFEPATH": "1"}


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


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
