"""The pyperf script: `python -m nonobot.harness.bench.suite --benchmarks line-champion,bp-sweep -o new.json`.

It takes all options of pyperf scripts; `nonojudge bench` starts it. With `ready NAMES`, it compiles the kernels of
each benchmark, checks a result, and prints a JSON line, with a problem if it cannot run. `nonojudge bench
--against` runs the script of another revision: its name, both forms and the JSON must not change.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyperf  # type: ignore[import-untyped, unused-ignore]

from nonobot.harness import UnusableError
from nonobot.harness.bench.catalogue import BENCHMARKS, chosen, make_job
from nonobot.harness.bench.job import CheckError, Job, require
from nonobot.system import report

QUESTION = Path(__file__).with_name("question.txt")  # a board of 2x2, which `start-warm` and `start-cold` solve
ANSWER = b"$1\n1\t0\n0\t0\n"


def start_command(cold: bool) -> list[str]:
    """Return the command of a start; the shell, which gives it input as pyperf cannot, takes a millisecond."""
    bot = f"{shlex.quote(sys.executable)} -m nonobot --size 2x2 < {shlex.quote(str(QUESTION))}"
    if not cold:
        return ["/bin/sh", "-c", f"exec {bot}"]
    script = f'cache=$(mktemp -d) && NONOBOT_CACHE_DIR="$cache" {bot} 2> /dev/null; status=$?'
    return ["/bin/sh", "-c", f'{script}; rm -rf "$cache"; exit $status']


def check_start() -> None:
    """Raise CheckError unless the bot answers right; the kernels are compiled afterwards."""
    done = subprocess.run(start_command(cold=False), stdin=subprocess.DEVNULL, capture_output=True)
    message = done.stderr.decode(errors="replace").strip() or f"status {done.returncode}"
    require(done.stdout == ANSWER, f"the bot does not answer: {message}")


def run() -> None:
    """Run the benchmarks that the arguments name; only the process that times a benchmark makes its job."""

    def pass_on(command: list[str], arguments: Any) -> None:
        command += ["--benchmarks", arguments.benchmarks]

    module = ("-m", "nonobot.harness.bench.suite")
    runner = pyperf.Runner(add_cmdline_args=pass_on, program_args=module, processes=10)
    runner.argparser.add_argument(
        "--benchmarks", default="", metavar="NAMES", help="comma separated; without, all but the cold start"
    )
    arguments = runner.parse_args()
    for task, benchmark in enumerate(chosen(list(filter(None, arguments.benchmarks.split(","))))):
        metadata = {"nonobot_unit": benchmark.unit, "nonobot_clock": benchmark.clock}
        if benchmark.clock == "wall":
            runner.metadata.update(metadata)
            runner.bench_command(benchmark.name, start_command(benchmark.is_cold))
            continue
        is_timed_here = arguments.worker and arguments.worker_task == task
        job = make_job(benchmark.name) if is_timed_here else Job(1, float, lambda: None)
        runner.bench_time_func(benchmark.name, job.seconds, inner_loops=job.units, metadata=metadata)


def make_ready(names: Sequence[str]) -> None:
    """Make every benchmark ready, and print a line for each."""
    for name in names:
        problem = None
        try:
            with contextlib.redirect_stdout(sys.stderr):  # nothing but the lines goes to stdout
                if BENCHMARKS[name].clock == "cpu":
                    make_job(name).check()
                elif not BENCHMARKS[name].is_cold:
                    check_start()
        except CheckError as error:
            problem = f"its result is wrong: {error}"
        except Exception as error:  # such as a name that this revision does not have
            problem = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
        print(json.dumps({"name": name, "problem": problem}), flush=True)


def main() -> int:
    """Run the benchmarks that the arguments name, or make them ready."""
    if sys.argv[1:2] == ["ready"]:
        make_ready(sys.argv[2:])
        return 0
    try:
        run()
    except UnusableError as problem:
        report(f"nonobot.harness.bench.suite: {problem}")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
