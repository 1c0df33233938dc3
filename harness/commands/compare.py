"""`nonojudge compare`: two versions of a bot, with an exit status that gates a change."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from nonobot.arguments import Parser, number, share, whole_number
from nonobot.harness.cli import add_json
from nonobot.harness.errors import UnusableError
from nonobot.harness.ranking.compared_runs import read_side
from nonobot.harness.ranking.comparison import Limits, Outcome, compare
from nonobot.harness.ranking.comparison_text import as_json, as_text
from nonobot.harness.text import on_terminal

__all__ = ["add_limits", "add_to", "compared"]

EXAMPLES = """\
examples:
  nonojudge compare results/old results/new              every result in a folder is a run of that side
  nonojudge compare --before old-*.json --after new-*.json
  nonojudge compare old.json new.json                    one run a side: tells only a large difference
  nonojudge compare results/old results/new --tolerance 0.05 && git push

To tell whether a change made a bot slower, `nonojudge duel OLD NEW` plays both side by side and compares them:
that finds a tenth where runs one after another, which get what speed the machine has just then, do not.

Both sides must have been run on the same set, or the same sets. What counts is the time of whole runs for the
puzzles that both sides have right: CPU time where the bot was held on one core, else wall time. The interval
has in it how far the runs of a side differ among themselves, and how few puzzles have most of the time. Runs
of a side that lie between two runs of the other count as one.

After is worse if it is slower beyond the tolerance with confidence: the whole interval lies above
1 + tolerance; or if it newly lost more puzzles than it newly solved. It is not worse if the whole interval
lies below that. Where the interval holds both, compare cannot tell.

Exit status: 0 not worse, 1 worse, 2 unusable arguments or results, 3 cannot tell.
"""

EXIT_STATUS = {Outcome.NOT_WORSE: 0, Outcome.FASTER: 0, Outcome.WORSE: 1, Outcome.CANNOT_TELL: 3}


def add_to(parser: Parser) -> None:
    """Describe the command and its arguments."""
    parser.usage = "nonojudge compare [options] (BEFORE AFTER | --before RESULT... --after RESULT...)"
    parser.description = "Compare the results of two versions of a bot, or of two bots."
    parser.epilog = EXAMPLES
    parser.add_argument(
        "sides", nargs="*", type=Path, metavar="BEFORE AFTER", help="two results, or two folders of results"
    )
    for name in ("before", "after"):
        parser.add_argument(
            f"--{name}", nargs="+", type=Path, metavar="RESULT", help=f"the results, or folders of them, {name}"
        )
    add_limits(parser)
    add_json(parser, "the comparison")
    parser.set_defaults(carry_out=carry_out)


def add_limits(parser: Parser) -> None:
    """Add what says when the second side is worse."""
    parser.add_argument(
        "--tolerance",
        type=share,
        default=Limits.tolerance,
        metavar="SHARE",
        help="how much slower is borne, 0.02 for 2 %% (default: %(default)s)",
    )
    parser.add_argument(
        "--confidence",
        type=number(0.5, 0.999, "a share from 0.5 to 0.999, such as 0.95"),
        default=Limits.confidence,
        metavar="SHARE",
        help="of the intervals, 0.5 to 0.999 (default: %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=whole_number(0),
        default=Limits.seed,
        metavar="N",
        help="of the bootstrap (default: %(default)s)",
    )


def carry_out(arguments: argparse.Namespace) -> int:
    """Compare the two sides and print what came of it."""
    return compared(arguments, *_places(arguments))


def compared(arguments: argparse.Namespace, before: Sequence[Path], after: Sequence[Path]) -> int:
    """Compare the results `before` and `after`, print what came of it, and return the exit status."""
    limits = Limits(arguments.tolerance, arguments.confidence, arguments.seed)
    comparison = compare(read_side("before", before), read_side("after", after), limits)
    if arguments.json:
        print(as_json(comparison), end="")
    else:
        print(as_text(comparison, on_terminal()), end="")
    return EXIT_STATUS[comparison.outcome]


def _places(arguments: argparse.Namespace) -> tuple[list[Path], list[Path]]:
    sides, before, after = arguments.sides, arguments.before, arguments.after
    if before and after and not sides:
        return before, after
    if len(sides) == 2 and not before and not after:
        return [sides[0]], [sides[1]]
    raise UnusableError("compare takes two results or folders, or --before RESULT... --after RESULT...")
