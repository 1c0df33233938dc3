"""`nonojudge generate`: question files as the organisers' generator makes them, or chosen from many boards."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from nonobot.arguments import Parser, count, explained, seconds
from nonobot.harness.appraise import appraiser
from nonobot.harness.errors import UnusableError
from nonobot.harness.progress import Progress, progress_for
from nonobot.harness.results.run_result import Contain
from nonobot.tournament_data import Recipe, write_set
from nonobot.tournament_data.generate import OFFICIAL_P1, OFFICIAL_P2, Board
from nonobot.tournament_data.recipe import parse_dimensions, parse_seed
from nonobot.tournament_data.select import MOST_DRAWS, Drawn, NoBoardError, select
from nonobot.whole_file import whole_file

__all__ = ["add_to"]

PUZZLE_SECONDS = 60.0

EXAMPLES = """\
examples:
  nonojudge generate 25x25x1000 --seed 7 -o questions.txt --solutions-out solutions.txt
  nonojudge generate 10x10x5 --seed 1 | nonobot --size 10x10
  nonojudge generate 25x25x100 --seed 7 --hard 20 -o hard.txt
  nonojudge generate 15x15x50 --seed 7 --unique --p2 0.45 -o unique.txt --solutions-out solutions.txt

The files are, byte for byte, those of the tournaments' generator (a Python 2 program) for the same numbers.
A set need not be written to be played: `nonojudge run --set boardgen:25x25x1000:seed=7`.

With --unique or --hard, boards are drawn one after the other from the same stream of random numbers, and this
project's bot solves them. Puzzle k keeps its place and its number of black cells: boards are drawn for it until
one, or N, will do, and of N the one that the bot painted most lines for is kept. What it cost is counted, not
timed: the same command of the same version writes the same file on every machine, unless --puzzle-limit strikes,
which is said. --hard alone counts the way to any solution, as in a tournament; with --unique, the proof that there
is no other counts too.

Random boards with a single solution are rare where they are large or light: at 25x25 one in 20 with half of the
cells black, one in a thousand with 45 per cent, hardly any with less. docs/data.md has a table.

Exit status: 0 written, 2 unusable arguments or no such board found; the files are then left as they were.
"""


def add_to(parser: Parser) -> None:
    """Describe the command and its arguments."""
    parser.description = (
        "Make a question file as the tournaments' generator does: the first puzzle has a share p1 of\n"
        "black cells, the last one p2."
    )
    parser.epilog = EXAMPLES
    parser.add_argument(
        "boards", type=explained(parse_dimensions), metavar="WxHxN", help="width, height, number of puzzles"
    )
    parser.add_argument(
        "--seed", type=explained(parse_seed), required=True, metavar="S", help="a whole number of any length"
    )
    parser.add_argument(
        "--p1",
        type=float,
        default=OFFICIAL_P1,
        metavar="P",
        help="share of black cells, first puzzle (%(default)s)",
    )
    parser.add_argument(
        "--p2",
        type=float,
        default=OFFICIAL_P2,
        metavar="P",
        help="share of black cells, last puzzle (%(default)s)",
    )
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="where the questions go (default: stdout)")
    parser.add_argument("--solutions-out", type=Path, metavar="FILE", help="where the drawn solutions go")

    choice = parser.add_argument_group("training sets")
    choice.add_argument("--unique", action="store_true", help="only puzzles with exactly one solution")
    choice.add_argument(
        "--hard",
        type=count,
        default=1,
        metavar="N",
        help="of N boards for each puzzle, keep the one that costs the bot most",
    )
    choice.add_argument(
        "--draws",
        type=count,
        default=MOST_DRAWS,
        metavar="N",
        help="give up when N boards in a row will not do (%(default)s)",
    )
    choice.add_argument(
        "--puzzle-limit",
        type=seconds,
        default=PUZZLE_SECONDS,
        metavar="S",
        help="pass over a board that takes the bot longer than S seconds (%(default)g)",
    )
    choice.add_argument(
        "--contain",
        choices=["auto", "yes", "no"],
        default="auto",
        help="whether the bot runs within walls (see `nonojudge run --help`; default: auto)",
    )
    parser.set_defaults(carry_out=carry_out)


def carry_out(arguments: argparse.Namespace) -> int:
    """Write the files."""
    width, height, count = arguments.boards
    recipe = Recipe(width, height, count, arguments.seed, arguments.p1, arguments.p2)
    if arguments.out and arguments.solutions_out and arguments.out.resolve() == arguments.solutions_out.resolve():
        raise UnusableError("-o and --solutions-out must be two files")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as at Ctrl-C: nothing half-written stays
    with contextlib.ExitStack() as stack:
        progress = stack.enter_context(_progress(arguments, count))
        questions = _opened(arguments.out, stack) if arguments.out else sys.stdout.buffer
        solutions = _opened(arguments.solutions_out, stack) if arguments.solutions_out else None
        try:
            if arguments.unique or arguments.hard > 1:
                boards = _selected(arguments, recipe, progress, stack)
            else:
                boards = _counted(recipe.boards(), count, progress)
            write_set(boards, questions, solutions)
        except NoBoardError as error:
            raise UnusableError(
                f"{error}: try denser (--p1, --p2) or smaller boards, or more --draws than {arguments.draws}"
            ) from None
        except ValueError as error:
            raise UnusableError(str(error)) from None
        questions.flush()
    return 0


def _progress(arguments: argparse.Namespace, count: int) -> Progress:
    """Return a progress, unless it would stand amidst the questions."""
    if not arguments.out and sys.stdout.isatty():
        return Progress()
    return progress_for(count)


def _counted(boards: Iterable[Board], count: int, progress: Progress) -> Iterator[Board]:
    for number, board in enumerate(boards, 1):
        yield board
        progress.show(number, f"puzzle {number} of {count}")


def _selected(
    arguments: argparse.Namespace, recipe: Recipe, progress: Progress, stack: contextlib.ExitStack
) -> Iterator[Board]:
    """Return the boards that the bot chose."""
    passed_over = 0

    def on_draw(drawn: Drawn) -> None:
        nonlocal passed_over
        if not drawn.appraisal.decided:
            passed_over += 1
        progress.show(
            drawn.puzzle - 1 + drawn.eligible / arguments.hard,
            f"puzzle {drawn.puzzle} of {recipe.count}, {drawn.boards} boards drawn",
        )

    def say_passed_over() -> None:
        if passed_over:
            print(
                f"nonojudge: {passed_over} boards were passed over at --puzzle-limit {arguments.puzzle_limit:g}; "
                "another machine may write another file",
                file=sys.stderr,
            )

    appraise = stack.enter_context(
        appraiser(
            (recipe.width, recipe.height),
            solutions=2 if arguments.unique else 1,
            puzzle_seconds=arguments.puzzle_limit,
            contain=Contain(arguments.contain),
        )
    )
    stack.callback(say_passed_over)
    return select(
        recipe,
        appraise,
        unique=arguments.unique,
        choices=arguments.hard,
        most_draws=arguments.draws,
        on_draw=on_draw,
    )


def _opened(path: Path, stack: contextlib.ExitStack) -> BinaryIO:
    try:
        return stack.enter_context(whole_file(path))
    except OSError as error:
        raise UnusableError(f"cannot write {path}: {error.strerror}") from None
