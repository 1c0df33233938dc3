"""`nonojudge claims`: test on this machine every figure that the documents claim."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

from nonobot.arguments import Parser
from nonobot.harness import UnusableError, options
from nonobot.harness.bench.claims import FILE, Claim, Status, as_json, as_text, listing, measure_all, read_claims
from nonobot.harness.progress import Progress
from nonobot.harness.text import on_terminal

QUICK_SECONDS = 30

EXAMPLES = """\
examples:
  nonojudge claims --quick                     claims of at most half a minute
  NONOBOT_SETS=FOLDER nonojudge claims         with official sets from a folder

A claim is a published sentence with a command, a figure in the JSON that the command prints, and a bound that
holds on any ordinary machine (docs/claims.md). Claims whose official set is missing are skipped. The commands run
without a sandbox: use --file only with a file that you trust.

Exit status: 0 all measured claims hold, 1 one does not hold or could not be measured, 2 unusable arguments.
"""


def add_to(parser: Parser) -> None:
    parser.add_argument("--list", action="store_true", help="list the claims and exit")
    parser.add_argument("--only", action="append", metavar="ID", help="measure this claim (repeatable)")
    about = f"skip claims that take longer than about {QUICK_SECONDS} s"
    parser.add_argument("--quick", action="store_true", help=about)
    options.add_flags(parser, "json")
    about = "file with claims (default: those of nonobot)"
    parser.add_argument("--file", type=Path, default=FILE, metavar="FILE.toml", help=about)


def carry_out(arguments: argparse.Namespace) -> int:
    claims = _chosen(read_claims(arguments.file), arguments)
    if arguments.list:
        print(listing(claims), end="")
        return 0
    with Progress(sum(claim.seconds for claim in claims)) as progress:
        measured = measure_all(claims, progress.show)
    print(as_json(measured) if arguments.json else as_text(measured, on_terminal()), end="")
    return 1 if any(outcome.status in (Status.BROKEN, Status.FAILED) for outcome in measured) else 0


def _chosen(claims: Sequence[Claim], arguments: argparse.Namespace) -> list[Claim]:
    wanted = {claim.id: claim for claim in claims}
    for name in arguments.only or ():
        if name not in wanted:
            raise UnusableError(f"no claim {name!r}; `nonojudge claims --list` lists them")
    named = [claim for claim in claims if claim.id in (arguments.only or wanted)]
    return [claim for claim in named if claim.seconds <= (QUICK_SECONDS if arguments.quick else math.inf)]
