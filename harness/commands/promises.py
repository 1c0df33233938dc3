"""`nonojudge promises`: does each figure that the documents state hold on this machine?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from nonobot.arguments import Parser
from nonobot.harness.cli import add_json
from nonobot.harness.errors import UnusableError
from nonobot.harness.progress import Progress
from nonobot.harness.promises.promise import FILE, Outcome, Promise, read_promises, show_all
from nonobot.harness.promises.promise_text import as_json, as_text, listing
from nonobot.harness.text import on_terminal

__all__ = ["add_to"]

QUICK_SECONDS = 30

EXAMPLES = """\
examples:
  nonojudge promises --list                      each promise, and the command that shows it
  nonojudge promises --quick                     those that take half a minute at most
  nonojudge promises --only taai2011-right
  NONOBOT_SETS=FOLDER nonojudge promises         with official sets that were not imported

Every promise is a sentence of the README or of docs/performance.md with a command, a figure in the JSON that the
command prints, and a bound that any ordinary machine keeps. Promises whose official set is not here are skipped.

Exit status: 0 all that were measured hold, 1 one does not or could not be measured, 2 unusable arguments.
"""


def add_to(parser: Parser) -> None:
    """Describe the command and its arguments."""
    parser.description = "Run the command of every promise, and print what was promised and what was measured."
    parser.epilog = EXAMPLES
    parser.add_argument("--list", action="store_true", help="list the promises, and end")
    parser.add_argument("--only", action="append", metavar="ID", help="this promise; may be given several times")
    parser.add_argument(
        "--quick", action="store_true", help=f"leave out what takes longer than {QUICK_SECONDS} s or so"
    )
    add_json(parser, "what was measured")
    parser.add_argument(
        "--file", type=Path, default=FILE, metavar="FILE.toml", help="other promises (default: this project's)"
    )
    parser.set_defaults(carry_out=carry_out)


def carry_out(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    promises = _chosen(read_promises(arguments.file), arguments)
    if arguments.list:
        print(listing(promises), end="")
        return 0
    with Progress(sum(one.seconds for one in promises)) as progress:
        shown = show_all(promises, progress.show)
    print(as_json(shown) if arguments.json else as_text(shown, on_terminal()), end="")
    return 1 if any(one.outcome in (Outcome.BROKEN, Outcome.FAILED) for one in shown) else 0


def _chosen(promises: Sequence[Promise], arguments: argparse.Namespace) -> list[Promise]:
    unknown = [name for name in arguments.only or () if name not in {one.id for one in promises}]
    if unknown:
        raise UnusableError(f"no promise {unknown[0]!r}; `nonojudge promises --list` lists them")
    return [
        one
        for one in promises
        if (not arguments.only or one.id in arguments.only)
        and (not arguments.quick or one.seconds <= QUICK_SECONDS)
    ]
