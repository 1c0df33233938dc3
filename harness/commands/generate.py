"""`nonojudge generate`: make question files like the organisers' generator, or choose among many boards."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from nonobot.arguments import Parser, count, explained, seconds
from nonobot.harness import UnusableError, require_libraries
from nonobot.harness.cli import add_contain
from nonobot.harness.cluster.cluster_workers import WHERE_HELP, where
from nonobot.harness.generating import survey_boards, write_questions
from nonobot.harness.play.sandbox import sandbox_note
from nonobot.harness.results.conditions import Contain
from nonobot.harness.user_files import require_writable
from nonobot.tournament_data import Recipe
from nonobot.tournament_data.generate import OFFICIAL_P1, OFFICIAL_P2, parse_dimensions, parse_seed
from nonobot.tournament_data.select import MOST_DRAWS, NoBoardError

PUZZLE_SECONDS = 60.0
LINE_LIMIT = 3_000_000
"""Line solves of about fifteen seconds; on a slow machine, less than `PUZZLE_SECONDS`."""

SURVEY_FORMS = (".json", ".svg", ".png")

EXAMPLES = """\
examples:
  nonojudge generate 25x25x1000 --seed 7 -o questions.txt --solutions-out solutions.txt
  nonojudge generate 10x10x5 --seed 1 | nonobot --size 10x10
  nonojudge generate 25x25x100 --seed 7 --hard 20 -o hard.txt
  nonojudge generate 15x15x50 --seed 7 --unique --p2 0.45 -o unique.txt --solutions-out solutions.txt
  nonojudge generate 25x25x1000 --seed 7 --hard 1000 --on local -o hard.txt        on all cores
  nonojudge generate 10x10x5000 20x20x5000 --seed 1 --p1 0.3 --p2 0.7 --survey survey.svg

The files are, byte for byte, those of the tournaments' generator (a Python 2 program) for the same numbers.
You can play a set without writing it: `nonojudge run --set boardgen:25x25x1000:seed=7`.

--unique draws boards for each puzzle until one has a single solution. --hard N draws until N boards fit, and keeps
the one with the most line solves. --survey counts how hard boards are: alone, it draws one board for each puzzle
and writes no puzzles; with --unique, it counts all boards drawn. --on spreads the work over cores or machines. The
same command of the same version writes the same file on every machine, unless --puzzle-limit skips a board, which
is reported. docs/data.md explains this.

Exit status: 0 written, 2 unusable arguments or no such board found; the files are then left as they were.
"""


def add_to(parser: Parser) -> None:
    parser.description = (
        "Make a question file as the tournaments' generator does: the first puzzle has a share p1 of\n"
        "black cells, the last one p2."
    )
    parser.epilog = EXAMPLES
    parser.add_argument(
        "boards",
        type=explained(parse_dimensions),
        metavar="WxHxN",
        nargs="+",
        help="width, height and number of puzzles; several for a survey",
    )
    parser.add_argument(
        "--seed", type=explained(parse_seed), required=True, metavar="S", help="whole number of any length"
    )
    for name, share, place in (("--p1", OFFICIAL_P1, "first"), ("--p2", OFFICIAL_P2, "last")):
        help_text = f"share of black cells in the {place} puzzle (default: %(default)s)"
        parser.add_argument(name, type=float, default=share, metavar="P", help=help_text)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="question file (default: stdout)")
    parser.add_argument("--solutions-out", type=Path, metavar="FILE", help="file for the solutions")

    choice = parser.add_argument_group("training sets")
    choice.add_argument("--unique", action="store_true", help="keep only puzzles with exactly one solution")
    for name, number, help_text in (
        ("--hard", 1, "draw N boards for each puzzle and keep the hardest (default: 1)"),
        ("--draws", MOST_DRAWS, "give up after N unsuitable boards in a row (default: %(default)s)"),
        (
            "--line-limit",
            LINE_LIMIT,
            "skip a board that needs more than N line solves, on every machine the same (default: %(default)s)",
        ),
    ):
        choice.add_argument(name, type=count, default=number, metavar="N", help=help_text)
    choice.add_argument(
        "--puzzle-limit",
        type=seconds,
        default=PUZZLE_SECONDS,
        metavar="S",
        help="skip a board that takes longer than S seconds (default: %(default)g)",
    )
    add_contain(choice, "auto", show=False)
    choice.add_argument(
        "--survey",
        type=_survey_file,
        action="append",
        default=[],
        metavar="FILE",
        help="count how hard the boards are: a table on stdout, and a plot (.svg, .png) or all counts (.json) in "
        "FILE (repeatable)",
    )
    choice.add_argument("--on", type=where, metavar="WHERE", help=f"where to draw and solve boards: {WHERE_HELP}")
    parser.set_defaults(carry_out=carry_out)


def _survey_file(text: str) -> Path:
    if Path(text).suffix not in SURVEY_FORMS:
        raise argparse.ArgumentTypeError(f"{text!r}: unknown file type; use {', '.join(SURVEY_FORMS)}")
    return Path(text)


def carry_out(arguments: argparse.Namespace) -> int:
    selects = arguments.unique or arguments.hard > 1
    _check(arguments, selects)
    recipes = [
        Recipe(width, height, number, arguments.seed, arguments.p1, arguments.p2)
        for width, height, number in arguments.boards
    ]
    if (selects or arguments.survey) and (line := sandbox_note(Contain(arguments.contain))):
        print(f"nonojudge: {line}", file=sys.stderr)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as at Ctrl-C: nothing half-written stays
    try:
        if arguments.survey and not selects:
            survey_boards(arguments, recipes)
        else:
            write_questions(arguments, recipes[0], selects)
    except NoBoardError as error:
        raise UnusableError(
            f"{error}: try denser (--p1, --p2) or smaller boards, or more --draws than {arguments.draws}"
        ) from None
    except ValueError as error:
        raise UnusableError(str(error)) from None
    return 0


def _check(arguments: argparse.Namespace, selects: bool) -> None:
    """Check that the arguments go together and the files that they name can be written."""
    if (
        arguments.output
        and arguments.solutions_out
        and arguments.output.resolve() == arguments.solutions_out.resolve()
    ):
        raise UnusableError("-o and --solutions-out must be two files")
    if len(arguments.boards) > 1 and (selects or not arguments.survey):
        raise UnusableError("several WxHxN are for --survey alone; a set has boards of one size")
    if arguments.survey and not arguments.unique and arguments.hard > 1:
        raise UnusableError("--survey needs the number of solutions; add --unique to --hard")
    if arguments.survey and not selects and (arguments.output or arguments.solutions_out):
        raise UnusableError("--survey alone writes no puzzles; remove -o and --solutions-out, or add --unique")
    if arguments.on and not selects and not arguments.survey:
        raise UnusableError("--on is for --unique, --hard and --survey; a plain set needs no other cores")
    if any(path.suffix != ".json" for path in arguments.survey):
        require_libraries("a plot of a survey", "matplotlib")
    for path in arguments.survey:
        require_writable(path)
