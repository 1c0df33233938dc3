"""Run pyperf, one process for each benchmark and tree; measure the present tree alone and print its table."""

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

from nonobot.harness import UnusableError
from nonobot.harness.bench.catalogue import Benchmark
from nonobot.harness.process.machine import machine_facts
from nonobot.harness.process.nonobot_command import HOME
from nonobot.harness.results.result_files import json_document
from nonobot.harness.text import drawn, duration, last_line, new_table, percent, spaced, styled
from nonobot.system import reason_of

PASSED_ON = ("PYTHONSAFEPATH", "NONOBOT_CACHE_DIR", "XDG_CACHE_HOME", "TMPDIR")  # to pyperf's workers
SUITE = (sys.executable, "-m", "nonobot.harness.bench.suite")


@dataclass(frozen=True)
class Pace:
    """Amount of measuring: worker processes, values of each after the first, shortest time of a value."""

    processes: int
    values: int
    min_seconds: float


THOROUGH = Pace(processes=10, values=4, min_seconds=0.1)
FAST = Pace(processes=4, values=3, min_seconds=0.05)
COLD_PROCESSES = 3  # number of cold starts; all are used


def make_ready(tree: Path, benchmarks: Sequence[Benchmark], show: Callable[[int, str], None]) -> dict[str, str]:
    """Compile the kernels of the benchmarks in a tree, check their results, and return the problems by name."""
    names = [benchmark.name for benchmark in benchmarks]
    problems: dict[str, str | None] = {}  # None without a problem
    with tempfile.TemporaryFile() as errors:
        with subprocess.Popen([*SUITE, "ready", *names], **_pipes(tree), stderr=errors) as process:
            assert process.stdout is not None
            show(0, names[0])
            for line in process.stdout:
                report = json.loads(line)
                problems[report["name"]] = report["problem"]
                show(len(problems), names[min(len(problems), len(names) - 1)])
        errors.seek(0)
        ending = last_line(errors.read()) or f"its process ended with status {process.returncode}"
    # A crash ends the process: the current benchmark and later ones have no line.
    return {name: problem for name in names if (problem := problems.get(name, ending))}


def measure(
    tree: Path, benchmark: Benchmark, pace: Pace, loops: int | None = None, core: int | None = None
) -> Any:
    """Return the pyperf.Benchmark of a run in a tree; without `loops`, pyperf finds how many make a value."""
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
        done = subprocess.run([*SUITE, *options], **_pipes(tree), stderr=subprocess.STDOUT)
        if done.returncode:
            message = last_line(done.stdout) or f"status {done.returncode}"
            raise UnusableError(f"the benchmark {benchmark.name} cannot be run: {message}")
        return pyperf.Benchmark.load(str(file))


def save(file: Path, benchmarks: Sequence[Any]) -> None:
    """Write benchmarks as a file of pyperf; UnusableError if that fails."""
    import pyperf  # type: ignore[import-untyped, unused-ignore]

    if not benchmarks:
        return
    try:
        pyperf.BenchmarkSuite(benchmarks).dump(str(file), replace=True)
    except OSError as error:
        raise UnusableError(f"cannot write {file}: {reason_of(error)}") from None


def checks(benchmark: Any) -> list[str]:
    """Return the warnings of `pyperf check`, the stability check."""
    with tempfile.TemporaryDirectory(prefix="nonobot-bench-") as folder:
        file = str(Path(folder, "runs.json"))
        benchmark.dump(file)
        command = [sys.executable, "-P", "-m", "pyperf", "check", file]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return [line.removeprefix("* ") for line in done.stdout.splitlines() if line.startswith("* ")]


def _pipes(tree: Path) -> dict[str, Any]:
    """Return the options of a process with `nonobot` from a tree, no input, and its output as a pipe."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONSAFEPATH": "1"}
    return {"env": environment, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}


@dataclass(frozen=True)
class Measured:
    """A benchmark with its times, each for one unit, and the warnings of pyperf's stability check."""

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


def measure_all(
    benchmarks: Sequence[Benchmark], pace: Pace, core: int | None, show: Callable[[int, str], None]
) -> tuple[list[Measured], list[Any]]:
    """Return the figures of benchmarks in this tree, and their pyperf.Benchmark; UnusableError if one fails."""
    problems = make_ready(HOME, benchmarks, lambda done, name: show(done, f"compiling and checking {name}"))
    for name, problem in problems.items():
        raise UnusableError(f"the benchmark {name} cannot be run: {problem}")
    measured, runs = [], []
    for done, benchmark in enumerate(benchmarks):
        show(len(benchmarks) + done, benchmark.name)
        run = measure(HOME, benchmark, pace, core=core)
        values = run.get_values()
        known = (benchmark.name, benchmark.unit, benchmark.about, benchmark.clock)
        deviation = statistics.stdev(values) if len(values) > 1 else 0.0
        figures = (statistics.mean(values), deviation, statistics.median(values), min(values), len(values))
        measured.append(Measured(*known, *figures, checks(run)))
        runs.append(run)
    return measured, runs


def as_text(measured: Sequence[Measured], terminal: bool) -> str:
    """Return the table of measured benchmarks, for a screen."""
    table = new_table(("benchmark", "time of a", "mean", "deviation", "median", "least", "clock"), left=(0, 1, 6))
    for row in measured:
        deviation = f"+- {percent(row.deviation_seconds / row.mean_seconds)}"
        mean, middle, least = map(duration, (row.mean_seconds, row.median_seconds, row.least_seconds))
        table.add_row(row.name, row.unit, mean, deviation, middle, least, row.clock)
    lines = [styled(f"unstable: {row.name}: {line}", "yellow") for row in measured for line in row.warnings]
    usual = "A busy machine is the usual reason; the median and the minimum are more reliable than the mean."
    return drawn(spaced([table], [*lines, styled(usual, "dim")] if lines else []), terminal)


def as_json(measured: Sequence[Measured]) -> str:
    """Return measured benchmarks as JSON text; `benchmarks` has an object for each name."""
    return json_document("bench", machine=machine_facts(()), benchmarks={row.name: row for row in measured})
