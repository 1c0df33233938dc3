"""The benchmarks: names, units and the modules of their jobs. Importing this loads no kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from nonobot.harness.bench.job import Job
from nonobot.harness.errors import UnusableError
from nonobot.harness.text import drawn, new_table

__all__ = ["BENCHMARKS", "COLD_START", "Benchmark", "chosen", "listing", "make_job"]


@dataclass(frozen=True)
class Benchmark:
    """An entry of the catalogue.

    Attributes
    ----------
    unit : str
        Unit of work that the time is for: one call, one puzzle, ...
    module : str
        Module in `jobs` whose function `make` returns the job; `process_start` has a command instead.
    """

    name: str
    unit: str
    about: str
    module: str

    @property
    def is_command(self) -> bool:
        """Whether it is the wall time of a command, and not CPU time within a process."""
        return self.module == "process_start"

    @property
    def is_cold(self) -> bool:
        """Whether each of its values compiles all kernels again."""
        return self.name == COLD_START


COLD_START = "start-cold"
"""Compiles every kernel again for each value; runs only on request."""

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
    Benchmark("protocol-reading", "puzzle", "reading a question file, in Python", "batch_text"),
    Benchmark("protocol-writing", "answer", "writing answers, in Python", "batch_text"),
    Benchmark(
        "start-warm", "start", "the process from its start to the answer of one easy puzzle", "process_start"
    ),
    Benchmark(COLD_START, "start", "the same with no compiled kernel: half a minute and more", "process_start"),
    Benchmark("set-20x20", "puzzle", "the champion on boardgen:20x20x40:seed=2", "whole_sets"),
    Benchmark("set-25x25", "puzzle", "the champion on boardgen:25x25x100:seed=2011", "whole_sets"),
    Benchmark("set-30x30", "puzzle", "the champion on boardgen:30x30x40:seed=2", "whole_sets"),
    Benchmark("set-papers", "puzzle", "the papers' strategy, FP2, on boardgen:20x20x40:seed=2", "whole_sets"),
)

BENCHMARKS = {entry.name: entry for entry in _ENTRIES}
"""The benchmarks by name, in the order in which they run."""


def chosen(names: Sequence[str], cold: bool = False) -> list[Benchmark]:
    """Return the benchmarks with these names, in the catalogue's order; without names all except the cold start.

    `cold` adds that. A name may be the beginning of several: `line` selects every line kernel. UnusableError if a
    name fits no benchmark.
    """
    wanted: set[str] = {COLD_START} if cold else set()
    for name in names or [entry for entry in BENCHMARKS if entry != COLD_START]:
        fitting = {name} if name in BENCHMARKS else {one for one in BENCHMARKS if one.startswith(name)}
        if not name or not fitting:
            raise UnusableError(f"no benchmark {name!r}; there are {', '.join(BENCHMARKS)}")
        wanted |= fitting if name == COLD_START or cold else fitting - {COLD_START}
    return [entry for name, entry in BENCHMARKS.items() if name in wanted]


def make_job(name: str) -> Job:
    """Return the job of a benchmark that is not a command; this loads the kernels that it needs."""
    job: Job = _MODULES[BENCHMARKS[name].module]().make(name)
    return job


_MODULES: dict[str, Callable[[], Any]] = {
    "champion_jobs": lambda: import_module("nonobot.harness.bench.jobs.champion_jobs"),
    "papers_jobs": lambda: import_module("nonobot.harness.bench.jobs.papers_jobs"),
    "whole_sets": lambda: import_module("nonobot.harness.bench.jobs.whole_sets"),
    "batch_text": lambda: import_module("nonobot.harness.bench.jobs.batch_text"),
}
"""Full names, which a test reads to check the imports."""


def listing(terminal: bool) -> str:
    """Return the table of all benchmarks."""
    table = new_table()
    for header in ("benchmark", "time of a", "what is measured"):
        table.add_column(header)
    for one in BENCHMARKS.values():
        table.add_row(one.name, one.unit, one.about)
    return drawn([table], terminal)
