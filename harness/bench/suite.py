"""The pyperf script: `python -m nonobot.harness.bench.suite --benchmarks line-champion,bp-sweep -o new.json`.

It takes every option of a pyperf script, and its files are pyperf's. `nonojudge bench` starts it, and is easier.
"""

from __future__ import annotations

import sys
from typing import Any

import pyperf  # type: ignore[import-untyped, unused-ignore]

from nonobot.harness.bench.catalogue import Benchmark, Job, chosen, make_job
from nonobot.harness.bench.jobs import process_start
from nonobot.harness.errors import UnusableError

__all__ = ["main"]


class _Runner:
    """pyperf's runner, in which only the process that times a benchmark loads what it is made of."""

    def __init__(self) -> None:
        def pass_on(command: list[str], arguments: Any) -> None:
            command += ["--benchmarks", arguments.benchmarks]

        self._pyperf = pyperf.Runner(
            add_cmdline_args=pass_on, program_args=("-m", "nonobot.harness.bench.suite"), processes=10
        )
        self._pyperf.argparser.add_argument(
            "--benchmarks", default="", metavar="NAMES", help="comma separated; without, all but the cold start"
        )
        self._arguments = self._pyperf.parse_args()

    def run(self) -> None:
        names = [name for name in self._arguments.benchmarks.split(",") if name]
        for task, benchmark in enumerate(chosen(names)):
            metadata = {"nonobot_unit": benchmark.unit, "nonobot_clock": "wall" if benchmark.is_command else "cpu"}
            if benchmark.is_command:
                self._pyperf.metadata.update(metadata)
                self._pyperf.bench_command(benchmark.name, process_start.command(benchmark.name))
            else:
                job = self._job(task, benchmark)
                self._pyperf.bench_time_func(benchmark.name, job.seconds, inner_loops=job.units, metadata=metadata)

    def _job(self, task: int, benchmark: Benchmark) -> Job:
        if self._arguments.worker and self._arguments.worker_task == task:
            return make_job(benchmark.name)
        return Job(1, float, lambda: None)  # never run: a worker does one task, the manager none


def main() -> int:
    """Run the benchmarks that the arguments name."""
    try:
        _Runner().run()
    except UnusableError as problem:
        print(f"nonobot.harness.bench.suite: {problem}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
