"""`nonojudge compare`: two versions of a bot puzzle by puzzle, with an exit status that gates a change."""

from __future__ import annotations

import argparse
from pathlib import Path

from nonobot.arguments import Parser, number, share, whole_number
from nonobot.harness.commands.shared_options import add_json
from nonobot.harness.errors import UnusableError
from nonobot.harness.ranking.compared_runs import read_side
from nonobot.harness.ranking.comparison import Limits, compare
from nonobot.harness.ranking.comparison_text import as_json, as_text
from nonobot.harness.text import on_terminal

__all__ = ["add_to"]

EXAMPLES = """\
examples:
  nonojudge compare old.json new.json
  nonojudge compare results/old results/new              every result in a folder is a run of that side
  nonojudge compare --before old-*.json --after new-*.json
  nonojudge compare old.json new.json --tolerance 0.05 && git push

Both sides must have been run on the same set, or the same sets. Several runs of a side on a set are repeats:
each puzzle counts with its median time, and is right if it was so in more than half of them. Repeats tame noise;
do them in turns (old, new, old, new), since machines drift.

After is worse if it is slower beyond the tolerance with confidence: the whole interval of the geometric mean
of the times' ratios lies above 1 + tolerance; or if it newly lost more puzzles than it newly solved. The ratio of
total times is shown beside it and decides nothing: a few hard puzzles dominate it.

Exit status: 0 not worse, 1 worse, 2 unusable arguments or results.
"""


def add_to(parser: Parser) -> None:
    """Describe the command and its arguments."""
    parser.usage = "nonojudge compare [options] (BEFORE AFTER | --before RESULT... --after RESULT...)"
    parser.description = "Compare the results of two versions of a bot, or of two bots, puzzle by puzzle."
    parser.epilog = EXAMPLES
    parser.add_argument(
        "sides", nargs="*", type=Path, metavar="BEFORE AFTER", help="two results, or two folders of results"
    )
    for name in ("before", "after"):
        parser.add_argument(
            f"--{name}", nargs="+", type=Path, metavar="RESULT", help=f"the results, or folders of them, {name}"
        )
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
    add_json(parser, "the comparison")
    parser.set_defaults(carry_out=carry_out)


def carry_out(arguments: argparse.Namespace) -> int:
    """Compare the two sides and print what came of it."""
    before, after = _places(arguments)
    limits = Limits(arguments.tolerance, arguments.confidence, arguments.seed)
    comparison = compare(read_side("before", before), read_side("after", after), limits)
    if arguments.json:
        print(as_json(comparison), end="")
    else:
        print(as_text(comparison, on_terminal()), end="")
    return 1 if comparison.worse else 0


def _places(arguments: argparse.Namespace) -> tuple[list[Path], list[Path]]:
    sides, before, after = arguments.sides, arguments.before, arguments.after
    if before and after and not sides:
        return before, after
    if len(sides) == 2 and not before and not after:
        return [sides[0]], [sides[1]]
    raise UnusableError("compare takes two results or folders, or --before RESULT... --after RESULT...")
