"""`nonojudge bench`: time the bot's parts, from line kernels to its start, alone or against another revision."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from nonobot.arguments import Parser, new_path, whole_number
from nonobot.harness import UnusableError, options, require_libraries
from nonobot.harness.bench import against, measure
from nonobot.harness.bench.against import Plan, measure_against
from nonobot.harness.bench.catalogue import Benchmark, chosen, listing
from nonobot.harness.bench.measure import FAST, THOROUGH, measure_all, save
from nonobot.harness.compare.statistics import EXIT_STATUS
from nonobot.harness.process.machine import require_cores
from nonobot.harness.progress import Progress
from nonobot.harness.text import on_terminal
from nonobot.harness.user_files import require_writable

EXAMPLES = """\
examples:
  nonojudge bench --fast                          all but the cold start, a few minutes
  nonojudge bench line bp-sweep                   some; `line` is every name that starts with it
  nonojudge bench --against HEAD~1                compare with the last commit

As in `nonojudge compare`, a benchmark is worse if the whole interval of its slowdown is above 1 + tolerance. All
intervals together have a confidence level of 95% (docs/compare.md). --against runs the code of the revision
without a sandbox: use it only with revisions that you trust.

Exit status: 0 measured, or nothing is worse, 1 something is worse, 2 unusable arguments, 3 nothing is worse, but
bench cannot tell for some benchmarks.
"""


def add_to(parser: Parser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmark, or the start of its name")
    parser.add_argument("--list", action="store_true", help="list the benchmarks and exit")
    parser.add_argument("--fast", action="store_true", help="fewer runs: quicker and less exact")
    parser.add_argument("--cold", action="store_true", help="also measure cold starts, which compile all kernels")
    parser.add_argument("--against", metavar="REV", help="compare the working tree with this revision")
    options.add_tolerance(parser, Plan.tolerance)
    rounds = whole_number(1, 1000, "a number of rounds")
    about = "with --against: pairs of runs (default: %(default)s)"
    parser.add_argument("--rounds", type=rounds, default=Plan.rounds, metavar="N", help=about)
    options.add_terms(parser, "core", default=None, help="core to run on (default: any)")
    about = "write all values in pyperf's format; with --against: FILE.before.json and FILE.after.json"
    parser.add_argument("-o", "--output", type=new_path, metavar="FILE.json", help=about)
    options.add_flags(parser, "bisect-statuses", "json")


def carry_out(arguments: argparse.Namespace) -> int:
    if arguments.list:
        print(listing(on_terminal()), end="")
        return 0
    require_libraries("bench", "pyperf", "numba")
    require_cores([] if arguments.core is None else [arguments.core])
    if arguments.fast and arguments.against is not None:
        raise UnusableError("--fast cannot be combined with --against; use --rounds")
    if arguments.output:
        require_writable(arguments.output)
    benchmarks = chosen(arguments.names, arguments.cold)
    if arguments.against is not None:
        return _against(arguments, benchmarks)
    with Progress(2 * len(benchmarks)) as progress:
        pace = FAST if arguments.fast else THOROUGH
        measured, runs = measure_all(benchmarks, pace, arguments.core, progress.show)
    if arguments.output:
        save(arguments.output, runs)
    print(measure.as_json(measured) if arguments.json else measure.as_text(measured, on_terminal()), end="")
    return 0


def _against(arguments: argparse.Namespace, benchmarks: Sequence[Benchmark]) -> int:
    plan = Plan(arguments.against, arguments.tolerance, arguments.rounds, arguments.core)
    with Progress(1.0) as progress:
        compared, runs = measure_against(benchmarks, plan, progress.show)
    if arguments.output:
        for number, tree in enumerate(("before", "after")):
            save(arguments.output.with_suffix(f".{tree}.json"), [pair[number] for pair in runs])
    print(against.as_json(compared) if arguments.json else against.as_text(compared, on_terminal()), end="")
    return EXIT_STATUS[compared.outcome]
