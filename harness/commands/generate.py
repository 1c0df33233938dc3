"""`nonojudge generate`: make question files like the organisers' generator, or choose among many boards.

The first puzzle has a share p1 of black cells, the last one p2.
"""

from __future__ import annotations

import argparse
import signal
from pathlib import Path

from nonobot.arguments import Parser, count, explained, seconds
from nonobot.harness import UnusableError, options, require_libraries
from nonobot.harness.cluster.cluster_workers import WHERE_HELP, where
from nonobot.harness.generating import survey_boards, write_questions
from nonobot.harness.process.sandbox import sandbox_note
from nonobot.harness.puzzles.grading import LINE_LIMIT, PUZZLE_SECONDS
from nonobot.harness.results.conditions import Contain
from nonobot.harness.text import say
from nonobot.harness.user_files import require_writable
from nonobot.tournament_data import Recipe
from nonobot.tournament_data.generate import OFFICIAL_P1, OFFICIAL_P2, PREFIX, parse_dimensions, parse_seed
from nonobot.tournament_data.select import MOST_DRAWS, NoBoardError

EXAMPLES = """\
examples:
  nonojudge generate 25x25x1000 --seed 7 -o questions.txt --solutions-out solutions.txt
  nonojudge generate boardgen:25x25x1000:seed=7 -o questions.txt      the same, by the name of the set
  nonojudge generate 10x10x5 --seed 1 | nonobot --size 10x10
  nonojudge generate 25x25x100 --seed 7 --hard 20 -o hard.txt
  nonojudge generate 15x15x50 --seed 7 --unique --p2 0.45 -o unique.txt --solutions-out solutions.txt
  nonojudge generate 25x25x1000 --seed 7 --hard 1000 --on local -o hard.txt        on all cores
  nonojudge generate 10x10x5000 20x20x5000 --seed 1 --p1 0.3 --p2 0.7 --survey survey.svg

The same numbers give the same bytes as the tournaments' generator, on every machine. --survey alone draws a board
for each puzzle and writes no puzzles; with --unique, it counts all boards drawn (docs/data.md).

Exit status: 0 written, 2 unusable arguments or no such board found; the files are then left as they were.
"""


def add_to(parser: Parser) -> None:
    about = "width, height and number of puzzles, or the name of a set (boardgen:...); several for a survey"
    parser.add_argument("boards", type=explained(_boards), nargs="+", metavar="WxHxN", help=about)
    about = "whole number of any length; needed unless a set is named"
    parser.add_argument("--seed", type=explained(parse_seed), metavar="S", help=about)
    for name, share, place in (("--p1", OFFICIAL_P1, "first"), ("--p2", OFFICIAL_P2, "last")):
        about = f"share of black cells in the {place} puzzle (default: {share})"
        parser.add_argument(name, type=float, metavar="P", help=about)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="question file (default: stdout)")
    parser.add_argument("--solutions-out", type=Path, metavar="FILE", help="file for the solutions")

    choice = parser.add_argument_group("training sets")
    choice.add_argument("--unique", action="store_true", help="keep only puzzles with exactly one solution")
    for name, number, about in (
        ("--hard", 1, "draw N boards for each puzzle and keep the hardest"),
        ("--draws", MOST_DRAWS, "give up after N unsuitable boards in a row"),
        ("--line-limit", LINE_LIMIT, "skip a board that needs more than N line solves, on every machine the same"),
    ):
        choice.add_argument(name, type=count, default=number, metavar="N", help=f"{about} (default: %(default)s)")
    about = "skip a board that takes longer than S seconds (default: %(default)g)"
    choice.add_argument("--puzzle-limit", type=seconds, default=PUZZLE_SECONDS, metavar="S", help=about)
    options.add_contain(choice, "auto")
    about = (
        "count how hard the boards are: table on stdout, plot (.svg, .png) or counts (.json) in FILE (repeatable)"
    )
    choice.add_argument(
        "--survey",
        type=options.file_ending_in(".json", ".svg", ".png"),
        action="append",
        default=[],
        metavar="FILE",
        help=about,
    )
    choice.add_argument("--on", type=where, metavar="WHERE", help=f"where to draw and solve boards: {WHERE_HELP}")


def carry_out(arguments: argparse.Namespace) -> int:
    selects = arguments.unique or arguments.hard > 1
    _check(arguments, selects)
    recipes = [_recipe(boards, arguments) for boards in arguments.boards]
    if selects or arguments.survey:
        say(sandbox_note(Contain(arguments.contain)))
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as at Ctrl-C: nothing half-written stays
    try:
        if arguments.survey and not selects:
            survey_boards(arguments, recipes)
        else:
            write_questions(arguments, recipes[0], selects)
    except NoBoardError as error:
        remedy = f"try denser (--p1, --p2) or smaller boards, or more --draws than {arguments.draws}"
        raise UnusableError(f"{error}: {remedy}") from None
    except ValueError as error:
        raise UnusableError(str(error)) from None
    return 0


def _boards(text: str) -> Recipe | tuple[int, int, int]:
    return Recipe.parse(text) if text.startswith(PREFIX) else parse_dimensions(text)


def _recipe(boards: Recipe | tuple[int, int, int], arguments: argparse.Namespace) -> Recipe:
    given = {name: getattr(arguments, name) for name in ("seed", "p1", "p2")}
    given = {name: value for name, value in given.items() if value is not None}
    if isinstance(boards, Recipe):
        if given:
            options_given = " and ".join(f"--{name}" for name in given)
            raise UnusableError(f"{options_given}: {boards} already names its values; change them there")
        return boards
    if "seed" not in given:
        raise UnusableError("no --seed; add --seed N with any whole number")
    return Recipe(*boards, **given)


def _check(arguments: argparse.Namespace, selects: bool) -> None:
    """Check that the arguments go together and the files that they name can be written."""
    outputs = [path.resolve() for path in (arguments.output, arguments.solutions_out) if path]
    if len(outputs) > len(set(outputs)):
        raise UnusableError("-o and --solutions-out must be two files")
    if len(arguments.boards) > 1 and (selects or not arguments.survey):
        raise UnusableError("several WxHxN are for --survey alone; a set has boards of one size")
    if arguments.survey and not arguments.unique and arguments.hard > 1:
        raise UnusableError("--survey needs the number of solutions; add --unique to --hard")
    if arguments.survey and not selects and (arguments.output or arguments.solutions_out):
        raise UnusableError("--survey alone writes no puzzles; remove -o and --solutions-out, or add --unique")
    if arguments.on and not selects and not arguments.survey:
        raise UnusableError("--on is for --unique, --hard and --survey; a plain set needs no other cores")
    if any(path.suffix.lower() != ".json" for path in arguments.survey):
        require_libraries("a plot of a survey", "matplotlib")
    for path in arguments.survey:
        require_writable(path)
