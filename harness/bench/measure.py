"""Runs of pyperf, one process for each benchmark and tree; the present tree measured alone, and its table."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from nonobot.harness.bench.catalogue import Benchmark
from nonobot.harness.bench.revisions import Tree, present_tree
from nonobot.harness.errors import UnusableError
from nonobot.harness.play.machine import machine_facts
from nonobot.harness.text import drawn, duration, new_table, percent

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = [
    "FAST",
    "THOROUGH",
    "Measured",
    "Pace",
    "as_json",
    "as_text",
    "checks",
    "json_of",
    "make_ready",
    "measure",
    "measure_all",
    "save",
]

BENCH_SCHEMA_VERSION = 1
"""Version of the JSON forms; a change that old readers cannot take raises it."""

PASSED_ON = ("PYTHONSAFEPATH", "NONOBOT_CACHE_DIR", "XDG_CACHE_HOME", "TMPDIR")
"""Variables that pyperf's workers get in addition to those that it passes on itself, such as PYTHONPATH."""


@dataclass(frozen=True)
class Pace:
    """Amount of measuring.

    Attributes
    ----------
    processes : int
        Workers of a benchmark, one after the other.
    values : int
        Values of each worker, after one that does not count.
    min_seconds : float
        Least duration of a value.
    """

    processes: int
    values: int
    min_seconds: float


THOROUGH = Pace(processes=10, values=4, min_seconds=0.1)
FAST = Pace(processes=4, values=3, min_seconds=0.05)

COLD_PROCESSES = 3
"""Cold starts measured; none of them is thrown away."""


def make_ready(
    tree: Tree, benchmarks: Sequence[Benchmark], show: Callable[[int, str], None]
) -> dict[str, str | None]:
    """Compile the kernels that the benchmarks need of a tree's bot, and check their results.

    Parameters
    ----------
    show : callable
        Called with the number of benchmarks done, and the name of the next.

    Returns
    -------
    dict of str to str or None
        For each benchmark, why it cannot be run; None if it can.
    """
    names = [one.name for one in benchmarks]
    problems: dict[str, str | None] = {}
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
                problems[one["name"]] = one["problem"]
                show(len(problems), names[min(len(problems), len(names) - 1)])
        errors.seek(0)
        words = _last_line(errors.read()) or f"its process ended with status {process.returncode}"
    # A crash ends the process: the benchmark under way and those after it have no line.
    return {name: problems.get(name, words) for name in names}


def measure(
    tree: Tree, benchmark: Benchmark, pace: Pace, loops: int | None = None, core: int | None = None
) -> Any:
    """Return a pyperf.Benchmark: the runs of a benchmark in a tree.

    Parameters
    ----------
    loops : int or None
        Loops of a value; None if pyperf should find the number.
    core : int or None
        Core for the workers; None for any.

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
    """Write benchmarks as a file of pyperf; UnusableError if that fails."""
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
    """Return the environment in which Python imports `nonobot` from a tree."""
    return {**os.environ, "PYTHONPATH": str(tree.folder), "PYTHONSAFEPATH": "1"}


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


@dataclass(frozen=True)
class Measured:
    """A benchmark with its times, each for one unit; `clock` is "cpu" or "wall".

    Attributes
    ----------
    warnings : list of str
        Warnings of pyperf's stability check.
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
    def of(cls, benchmark: Benchmark, runs: Any) -> Measured:
        """Return the figures of a pyperf.Benchmark."""
        values = runs.get_values()
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
            checks(runs),
        )


def measure_all(
    benchmarks: Sequence[Benchmark], pace: Pace, core: int | None, show: Callable[[int, str], None]
) -> tuple[list[Measured], list[Any]]:
    """Return the figures of benchmarks, and the pyperf.Benchmark of each.

    Parameters
    ----------
    core : int or None
        Core for the benchmarks; None for any.
    show : callable
        Called with the number of steps done, two for each benchmark, and the next step.

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
    runs = []
    for done, benchmark in enumerate(benchmarks):
        show(len(benchmarks) + done, benchmark.name)
        runs.append(measure(tree, benchmark, pace, core=core))
    return [Measured.of(*pair) for pair in zip(benchmarks, runs, strict=True)], runs


def as_text(measured: Sequence[Measured], terminal: bool) -> str:
    """Return the table of measured benchmarks, for a screen."""
    from rich.text import Text

    table = new_table(("benchmark", "time of a", "mean", "deviation", "median", "least", "clock"), left=(0, 1, 6))
    for one in measured:
        share = percent(one.deviation_seconds / one.mean_seconds)
        times = (one.median_seconds, one.least_seconds)
        table.add_row(
            one.name, one.unit, duration(one.mean_seconds), f"+- {share}", *map(duration, times), one.clock
        )
    parts: list[RenderableType] = [table]
    lines = [f"{one.name}: {warning}" for one in measured for warning in one.warnings]
    if lines:
        parts += ["", *(Text(f"unstable: {line}", "yellow") for line in lines)]
        usual = "A busy machine is the usual reason; the median and the least value bear more than the mean."
        parts.append(Text(usual, "dim"))
    return drawn(parts, terminal)


def as_json(measured: Sequence[Measured]) -> str:
    """Return measured benchmarks as JSON text; `benchmarks` has an object for each name."""
    return json_of("benchmarks", {"benchmarks": {one.name: msgspec.to_builtins(one) for one in measured}})


def json_of(kind: str, content: Mapping[str, object]) -> str:
    """Return the JSON text of a kind of measurement, with the facts of this machine."""
    head = {"kind": kind, "schema_version": BENCH_SCHEMA_VERSION, "machine": machine_facts(())}
    return msgspec.json.format(msgspec.json.encode({**head, **content}), indent=1).decode() + "\n"
