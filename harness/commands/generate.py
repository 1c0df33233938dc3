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
from nonobot.harness.cluster.board_jobs import select_on, survey_on
from nonobot.harness.cluster.board_tasks import Judge
from nonobot.harness.cluster.where import WHERE_HELP, connected, where
from nonobot.harness.errors import UnusableError, require_libraries
from nonobot.harness.play.sandbox import uncontained
from nonobot.harness.progress import Progress
from nonobot.harness.results.conditions import Contain
from nonobot.harness.survey import Kind, Survey, as_json, as_text
from nonobot.harness.text import on_terminal, percent
from nonobot.harness.user_files import require_writable, write_output
from nonobot.system import whole_file
from nonobot.tournament_data import Recipe, write_set
from nonobot.tournament_data.generate import OFFICIAL_P1, OFFICIAL_P2, Board
from nonobot.tournament_data.recipe import parse_dimensions, parse_seed
from nonobot.tournament_data.select import MOST_DRAWS, Drawn, NoBoardError, Rules, select

__all__ = ["add_to"]

PUZZLE_SECONDS = 60.0
LINE_LIMIT = 3_000_000
"""Lines painted for a board: some fifteen seconds, on a slow machine too before `PUZZLE_SECONDS` are over."""

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
A set need not be written to be played: `nonojudge run --set boardgen:25x25x1000:seed=7`.

With --unique or --hard, every board that is drawn has random numbers of its own, and this project's bot solves
it. Puzzle k keeps its place and its number of black cells: boards are drawn for it until one, or N, will do, and
of N the one that the bot painted most lines for is kept. What it cost is counted, not timed: the same command of
the same version writes the same file on every machine, with --on or without, unless --puzzle-limit strikes, which
is said. --hard alone counts the way to any solution, as in a tournament; with --unique, the proof that there is no
other counts too.

--on spreads that over cores or machines; docs/scale.md says when it pays. A worker that dies costs a second or so.

--survey counts what was seen of the boards, by size and share of black cells: how many line logic alone solves,
how many probing, how many have one solution, what they cost the bot. Alone, it looks at one board for each puzzle,
of several sizes if you like, and no puzzles are written; with --unique, at all boards that were drawn.

Random boards with a single solution are rare where they are large or light: at 25x25 one in 20 with half of the
cells black, one in a thousand with 45 per cent, hardly any with less. docs/data.md has tables.

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
        "boards",
        type=explained(parse_dimensions),
        metavar="WxHxN",
        nargs="+",
        help="width, height, number of puzzles; several for a survey",
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
        "--line-limit",
        type=count,
        default=LINE_LIMIT,
        metavar="N",
        help="pass over a board for which the bot paints more than N lines, alike on every machine (%(default)s)",
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
    choice.add_argument(
        "--survey",
        type=_survey_file,
        action="append",
        default=[],
        metavar="FILE",
        help="count how hard the boards are: a table on stdout, and a plot (.svg, .png) or all counts (.json) in "
        "a file; may be given several times",
    )
    choice.add_argument("--on", type=where, metavar="WHERE", help=f"draw and judge boards on: {WHERE_HELP}")
    parser.set_defaults(carry_out=carry_out)


def _survey_file(text: str) -> Path:
    if Path(text).suffix not in SURVEY_FORMS:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a name that ends with {', '.join(SURVEY_FORMS)}")
    return Path(text)


def carry_out(arguments: argparse.Namespace) -> int:
    """Write the files."""
    selects = arguments.unique or arguments.hard > 1
    _check(arguments, selects)
    recipes = [
        Recipe(width, height, count, arguments.seed, arguments.p1, arguments.p2)
        for width, height, count in arguments.boards
    ]
    if (selects or arguments.survey) and (line := uncontained(Contain(arguments.contain))):
        print(f"nonojudge: {line}", file=sys.stderr)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as at Ctrl-C: nothing half-written stays
    try:
        if arguments.survey and not selects:
            _surveyed(arguments, recipes)
        else:
            _write_set(arguments, recipes[0], selects)
    except NoBoardError as error:
        raise UnusableError(
            f"{error}: try denser (--p1, --p2) or smaller boards, or more --draws than {arguments.draws}"
        ) from None
    except ValueError as error:
        raise UnusableError(str(error)) from None
    return 0


def _check(arguments: argparse.Namespace, selects: bool) -> None:
    """See that the arguments go together and what they name can be written."""
    if arguments.out and arguments.solutions_out and arguments.out.resolve() == arguments.solutions_out.resolve():
        raise UnusableError("-o and --solutions-out must be two files")
    if len(arguments.boards) > 1 and (selects or not arguments.survey):
        raise UnusableError("several WxHxN are for --survey alone; a set has boards of one size")
    if arguments.survey and not arguments.unique and arguments.hard > 1:
        raise UnusableError(
            "--hard alone does not tell how many solutions a board has; --survey needs --unique beside it"
        )
    if arguments.survey and not selects and (arguments.out or arguments.solutions_out):
        raise UnusableError("--survey alone writes no puzzles: leave out -o and --solutions-out, or add --unique")
    if arguments.on and not selects and not arguments.survey:
        raise UnusableError("--on is for --unique, --hard and --survey; a plain set is made in no time")
    if any(path.suffix != ".json" for path in arguments.survey):
        require_libraries("a plot of a survey", "matplotlib")
    for path in arguments.survey:
        require_writable(path)


def _write_set(arguments: argparse.Namespace, recipe: Recipe, selects: bool) -> None:
    with contextlib.ExitStack() as stack:
        progress = stack.enter_context(_progress(arguments, recipe.count))
        questions = _opened(arguments.out, stack) if arguments.out else sys.stdout.buffer
        solutions = _opened(arguments.solutions_out, stack) if arguments.solutions_out else None
        if selects:
            boards = _selected(arguments, recipe, progress, stack)
        else:
            boards = _counted(recipe.boards(), recipe.count, progress)
        write_set(boards, questions, solutions)
        questions.flush()


def _progress(arguments: argparse.Namespace, count: int) -> Progress:
    """Return a progress, unless it would stand amidst the questions."""
    if not arguments.out and sys.stdout.isatty():
        return Progress()
    return Progress(count)


def _counted(boards: Iterable[Board], count: int, progress: Progress) -> Iterator[Board]:
    for number, board in enumerate(boards, 1):
        yield board
        progress.show(number, f"puzzle {number} of {count}")


def _selected(
    arguments: argparse.Namespace, recipe: Recipe, progress: Progress, stack: contextlib.ExitStack
) -> Iterator[Board]:
    """Yield the boards that the bot chooses, and then say what was seen of all that it looked at."""
    survey = Survey()

    def on_draw(drawn: Drawn) -> None:
        survey.row(Kind.of_puzzle(recipe, drawn.puzzle - 1)).add(drawn.grade, arguments.line_limit)
        progress.show(
            drawn.puzzle - 1 + drawn.eligible / arguments.hard,
            f"puzzle {drawn.puzzle} of {recipe.count}, {drawn.boards} boards drawn",
        )

    judge = _judge(arguments, recipe)
    rules = Rules(arguments.unique, arguments.hard, arguments.draws)
    stack.callback(_say_given_up, arguments, survey)
    if arguments.on:
        yield from select_on(stack.enter_context(connected(arguments.on)), judge, recipe, rules, on_draw)
    else:
        yield from select(recipe, stack.enter_context(judge.bot()), rules, on_draw)
    if arguments.survey:
        _show(arguments, survey, [recipe])


def _surveyed(arguments: argparse.Namespace, recipes: list[Recipe]) -> None:
    """Look at boards that nobody keeps, and say what was seen."""
    total = sum(recipe.count * recipe.width * recipe.height for recipe in recipes)
    with contextlib.ExitStack() as stack:
        progress = stack.enter_context(Progress(total))
        client = stack.enter_context(connected(arguments.on)) if arguments.on else None
        survey = survey_on(
            client,
            [(_judge(arguments, recipe), recipe) for recipe in recipes],
            lambda cells: progress.show(cells, f"{percent(cells / total)} of all cells"),
        )
    _say_given_up(arguments, survey)
    _show(arguments, survey, recipes)


def _show(arguments: argparse.Namespace, survey: Survey, recipes: list[Recipe]) -> None:
    for path in arguments.survey:
        if path.suffix == ".json":
            data = as_json(survey, list(map(str, recipes)), arguments.line_limit).encode()
        else:
            from nonobot.harness.report.survey_plot import drawing_of

            data = drawing_of(survey, path.suffix.removeprefix("."))
        write_output(path, data)
    if arguments.out or not arguments.unique:  # else the puzzles are there
        print(as_text(survey, on_terminal()), end="")


def _say_given_up(arguments: argparse.Namespace, survey: Survey) -> None:
    """Say how many boards were given up, and at what: a limit of time does not strike twice alike."""
    rows = [row for _, row in survey.rows()]
    late, undecided = sum(row.late for row in rows), sum(row.undecided for row in rows)
    if undecided > late:
        print(
            f"nonojudge: {undecided - late} boards were given up at --line-limit {arguments.line_limit}",
            file=sys.stderr,
        )
    if late:
        print(
            f"nonojudge: {late} boards were given up at --puzzle-limit {arguments.puzzle_limit:g}; "
            "another machine may write another file",
            file=sys.stderr,
        )


def _judge(arguments: argparse.Namespace, recipe: Recipe) -> Judge:
    return Judge(
        size=(recipe.width, recipe.height),
        solutions=2 if arguments.unique or arguments.survey else 1,
        levels=bool(arguments.survey),
        puzzle_seconds=arguments.puzzle_limit,
        line_limit=arguments.line_limit,
        contain=Contain(arguments.contain),
    )


def _opened(path: Path, stack: contextlib.ExitStack) -> BinaryIO:
    try:
        return stack.enter_context(whole_file(path))
    except OSError as error:
        raise UnusableError(f"cannot write {path}: {error.strerror}") from None
