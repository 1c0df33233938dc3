"""`nonojudge bench`: how long the bot's parts take, alone or against another revision."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from nonobot.arguments import Parser, share, whole_number
from nonobot.harness.cli import add_core, add_json
from nonobot.harness.errors import UnusableError
from nonobot.harness.progress import Progress
from nonobot.harness.text import on_terminal
from nonobot.harness.user_files import require_writable

__all__ = ["add_to"]

EXAMPLES = """\
examples:
  nonojudge bench --list                          which benchmarks there are
  nonojudge bench --fast                          all of them but the cold start, some minutes
  nonojudge bench line bp-sweep                   some; `line` is every one whose name begins so
  nonojudge bench -o new.json && python -m pyperf stats new.json
  nonojudge bench --against HEAD~1                did the last commit, or an edit since, make a part slower?
  nonojudge bench --against main line --tolerance 0.02

With --against the bot of that revision and the present one, uncommitted changes included, run by turns, so that
drift of the machine hits both. A benchmark is slower if all of its interval lies above 1 + tolerance; the
intervals of all benchmarks together hold with 95 %. Times within a process are CPU times; those of a start are
by the wall clock. docs/performance.md says what to make of them.

Exit status: 0 measured, and nothing slower, 1 something is slower beyond the tolerance, 2 unusable arguments.
"""


def add_to(parser: Parser) -> None:
    """Describe the command and its arguments."""
    parser.description = "Measure the bot's line kernels, propagation, search, start and more with pyperf."
    parser.epilog = EXAMPLES
    parser.add_argument("names", nargs="*", metavar="NAME", help="a benchmark, or what its name begins with")
    parser.add_argument("--list", action="store_true", help="list the benchmarks, and end")
    parser.add_argument("--fast", action="store_true", help="fewer runs: quicker, and rougher")
    parser.add_argument("--cold", action="store_true", help="the cold start, too: each compiles all kernels")
    parser.add_argument("--against", metavar="REV", help="compare with another revision of this repository")
    parser.add_argument(
        "--tolerance",
        type=share,
        default=0.05,
        metavar="SHARE",
        help="with --against: how much slower is borne, 0.05 for 5 %% (default: %(default)s)",
    )
    parser.add_argument(
        "--rounds",
        type=whole_number(1, 1000, "a number of rounds"),
        default=10,
        metavar="N",
        help="with --against: pairs of runs (default: %(default)s)",
    )
    add_core(parser, default=None, said="any")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE.json",
        help="write all values in pyperf's form; with --against FILE.before.json and FILE.after.json",
    )
    add_json(parser, "what was measured")
    parser.set_defaults(carry_out=carry_out)


def carry_out(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    from nonobot.harness.bench.bench_text import listing
    from nonobot.harness.bench.catalogue import chosen  # these load pyperf and rich, some even the bot
    from nonobot.harness.bench.measure import require_pyperf
    from nonobot.harness.play.machine import require_cores

    if arguments.list:
        print(listing(on_terminal()), end="")
        return 0
    require_pyperf()
    require_cores([] if arguments.core is None else [arguments.core])
    if arguments.fast and arguments.against is not None:
        raise UnusableError("--fast is for measuring alone; with --against, --rounds says how much is run")
    if arguments.output:
        require_writable(arguments.output)
    benchmarks = chosen(arguments.names, arguments.cold)
    return _against(arguments, benchmarks) if arguments.against is not None else _alone(arguments, benchmarks)


def _alone(arguments: argparse.Namespace, benchmarks: list[Any]) -> int:
    from nonobot.harness.bench.bench_text import as_json, as_text
    from nonobot.harness.bench.measure import FAST, THOROUGH, measure_all, save

    with Progress(2 * len(benchmarks)) as progress:
        pace = FAST if arguments.fast else THOROUGH
        measured, found = measure_all(benchmarks, pace, arguments.core, progress.show)
    if arguments.output:
        save(arguments.output, found)
    print(as_json(measured) if arguments.json else as_text(measured, on_terminal()), end="")
    return 0


def _against(arguments: argparse.Namespace, benchmarks: list[Any]) -> int:
    from nonobot.harness.bench.against import Plan, measure_against
    from nonobot.harness.bench.bench_text import against_as_json, against_as_text
    from nonobot.harness.bench.measure import save

    plan = Plan(arguments.against, arguments.tolerance, arguments.rounds, arguments.core)
    with Progress(1.0) as progress:
        compared, found = measure_against(benchmarks, plan, progress.show)
    if arguments.output:
        for number, side in enumerate(("before", "after")):
            save(arguments.output.with_suffix(f".{side}.json"), [pair[number] for pair in found])
    print(against_as_json(compared) if arguments.json else against_as_text(compared, on_terminal()), end="")
    return 1 if compared.worse else 0
