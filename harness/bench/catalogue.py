"""The benchmarks: names, units and modules of their jobs. Importing this module loads no kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from nonobot.harness import UnusableError
from nonobot.harness.bench.job import Job
from nonobot.harness.text import drawn, new_table


@dataclass(frozen=True)
class Benchmark:
    """A benchmark, timed for one unit of work; `make` of its `module` returns its job, `suite` times a command."""

    name: str
    unit: str
    about: str
    module: str

    @property
    def clock(self) -> str:
        """The clock of its times: "wall" for a command, otherwise "cpu", in a process."""
        return "wall" if self.module == "suite" else "cpu"

    @property
    def is_cold(self) -> bool:
        """Whether each of its values compiles all kernels again."""
        return self.name == COLD_START


COLD_START = "start-cold"  # compiles every kernel again for each value; runs only on request

_ENTRIES = (
    Benchmark(
        "line-champion", "call", "the champion's line kernel on line states of real searches", "champion_jobs"
    ),
    Benchmark("line-bitset", "call", "the papers' bitset line kernel on the same states", "papers_jobs"),
    Benchmark("line-recurrence", "call", "the papers' recurrence on the same states", "papers_jobs"),
    Benchmark("propagation-champion", "board", "the champion's propagation of a whole board", "champion_jobs"),
    Benchmark("propagation-papers", "board", "the papers' propagation, line cache empty", "papers_jobs"),
    Benchmark("fp1-root", "board", "FP1 to its fixpoint at the root, line cache empty", "papers_jobs"),
    Benchmark("bp-sweep", "sweep", "one sweep of belief propagation over a propagated board", "champion_jobs"),
    Benchmark("conflict-analysis", "conflict", "the analysis of conflicts met in real searches", "champion_jobs"),
    Benchmark("learning-search", "conflict", "the first 300 conflicts of a search with learning", "champion_jobs"),
    Benchmark("protocol-reading", "puzzle", "reading a question file, in Python", "set_jobs"),
    Benchmark("protocol-writing", "answer", "writing answers, in Python", "set_jobs"),
    Benchmark("start-warm", "start", "the process from its start to the answer of one easy puzzle", "suite"),
    Benchmark(COLD_START, "start", "the same with no compiled kernel: about 15 s of CPU time", "suite"),
    Benchmark("set-20x20", "puzzle", "the champion on boardgen:20x20x40:seed=2", "set_jobs"),
    Benchmark("set-25x25", "puzzle", "the champion on boardgen:25x25x100:seed=2011", "set_jobs"),
    Benchmark("set-30x30", "puzzle", "the champion on boardgen:30x30x40:seed=2", "set_jobs"),
    Benchmark("set-papers", "puzzle", "the papers' strategy, FP2, on boardgen:20x20x40:seed=2", "set_jobs"),
)

BENCHMARKS = {entry.name: entry for entry in _ENTRIES}  # the benchmarks by name, in the order in which they run


def chosen(names: Sequence[str], cold: bool = False) -> list[Benchmark]:
    """Return the benchmarks whose names start with `names`, by default all; `cold` adds the cold start."""
    wanted = {known for name in names or BENCHMARKS for known in _fitting(name)}
    if cold:
        wanted.add(COLD_START)
    elif COLD_START not in names:
        wanted.discard(COLD_START)
    return [entry for name, entry in BENCHMARKS.items() if name in wanted]


def _fitting(name: str) -> list[str]:
    fitting = [name] if name in BENCHMARKS else [known for known in BENCHMARKS if name and known.startswith(name)]
    if not fitting:
        raise UnusableError(f"no benchmark {name!r}; there are {', '.join(BENCHMARKS)}")
    return fitting


def make_job(name: str) -> Job:
    """Return the job of a benchmark that is not a command; this loads the kernels that it needs."""
    job: Job = _MODULES[BENCHMARKS[name].module]().make(name)
    return job


_MODULES: dict[str, Callable[[], Any]] = {
    "champion_jobs": lambda: import_module("nonobot.harness.bench.champion_jobs"),
    "papers_jobs": lambda: import_module("nonobot.harness.bench.papers_jobs"),
    "set_jobs": lambda: import_module("nonobot.harness.bench.set_jobs"),
}
"""Full names, which a test reads to check the imports."""


def listing(terminal: bool) -> str:
    """Return the table of all benchmarks."""
    table = new_table(("benchmark", "time of a", "what is measured"), left=(0, 1, 2))
    for benchmark in BENCHMARKS.values():
        table.add_row(benchmark.name, benchmark.unit, benchmark.about)
    return drawn([table], terminal)
