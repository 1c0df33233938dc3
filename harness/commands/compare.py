"""`nonojudge compare`: compare results of two versions of a bot, with an exit status for CI."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from nonobot.arguments import Parser, number
from nonobot.harness import EXIT_UNUSABLE, UnusableError, options
from nonobot.harness.compare.compared_runs import read_version
from nonobot.harness.compare.comparison import Limits, compare
from nonobot.harness.compare.comparison_text import as_text
from nonobot.harness.compare.statistics import EXIT_STATUS
from nonobot.harness.text import on_terminal, say_left_out

EXAMPLES = """\
examples:
  nonojudge compare --before old-*.json --after new-*.json    alternating runs: old, new, old, new, ...
  nonojudge compare results/old results/new && git push       each folder contains the runs of one version

`after` is worse if the whole interval of the slowdown is above 1 + tolerance, or if it newly lost more puzzles
than it newly solved. It is not worse if the whole interval is below that. Otherwise, and with fewer than six
pairs of alternating runs, compare cannot tell, and names the duel that would decide (docs/compare.md).

Exit status: 0 not worse, 1 worse, 2 unusable arguments, or a result that cannot be read, 3 cannot tell.
"""


def add_to(parser: Parser) -> None:
    parser.usage = "nonojudge compare [options] (BEFORE AFTER | --before RESULT... --after RESULT...)"
    about = "two results or two folders of results"
    parser.add_argument("versions", type=Path, nargs="*", metavar="BEFORE AFTER", help=about)
    for name in ("before", "after"):
        about = f"results or folders of the version {name} the change"
        parser.add_argument(f"--{name}", type=Path, nargs="+", metavar="RESULT", help=about)
    add_criteria(parser)
    options.add_flags(parser, "bisect-statuses", "json")


def add_criteria(parser: Parser) -> None:
    """Add the options that decide when the candidate is worse."""
    options.add_tolerance(parser, Limits.tolerance)
    confidence = number(0.5, 0.999, "a fraction from 0.5 to 0.999, such as 0.95")
    about = "confidence level of the intervals, 0.5 to 0.999 (default: %(default)s)"
    parser.add_argument("--confidence", type=confidence, default=Limits.confidence, metavar="SHARE", help=about)


def limits_of(arguments: argparse.Namespace) -> Limits:
    """Return the limits that were given; `duel --until` compares again and again."""
    return Limits(arguments.tolerance, arguments.confidence, getattr(arguments, "until", False))


def carry_out(arguments: argparse.Namespace) -> int:
    versions, before, after = arguments.versions, arguments.before, arguments.after
    if before and after and not versions:
        return compared(arguments, before, after)
    if len(versions) == 2 and not before and not after:
        return compared(arguments, versions[:1], versions[1:])
    raise UnusableError("compare takes two results or folders, or --before RESULT... --after RESULT...")


def compared(arguments: argparse.Namespace, before: Sequence[Path], after: Sequence[Path]) -> int:
    """Compare the results `before` and `after`, print the outcome, and return the exit status."""
    limits = limits_of(arguments)
    versions = read_version("before", before), read_version("after", after)
    problems = [problem for version in versions for problem in version.problems]
    say_left_out(problems)
    comparison = compare(*versions, limits)
    print(comparison.to_json() if arguments.json else as_text(comparison, on_terminal()), end="")
    return EXIT_UNUSABLE if problems else EXIT_STATUS[comparison.outcome]
