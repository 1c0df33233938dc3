"""`nonojudge generate`: make question files like the organisers' generator, or choose among many boards.

The first puzzle has a share p1 of black cells, the last one p2.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from nonobot.arguments import Parser, count, new_path, seconds
from nonobot.harness import UnusableError, options
from nonobot.harness.cluster.cluster_workers import WHERE_HELP, connected, where
from nonobot.harness.process.bot_process import sandbox_note
from nonobot.harness.progress import Progress
from nonobot.harness.puzzles.board_jobs import select_on
from nonobot.harness.puzzles.grading import LINE_LIMIT, PUZZLE_SECONDS, Grading
from nonobot.harness.results.conditions import Contain
from nonobot.harness.text import say
from nonobot.harness.user_files import output
from nonobot.protocol.clues import count as in_number
from nonobot.protocol.clues import plural
from nonobot.system import printable
from nonobot.tournament_data import Recipe, write_set
from nonobot.tournament_data.generate import (
    OFFICIAL_P1,
    OFFICIAL_P2,
    PREFIX,
    Board,
    parse_dimensions,
    parse_seed,
    parse_share,
)
from nonobot.tournament_data.select import MOST_DRAWS, Drawn, NoBoardError, Rules

EXAMPLES = """\
examples:
  nonojudge generate 25x25x1000 --seed 7 -o questions.txt --solutions-out solutions.txt
  nonojudge generate boardgen:25x25x1000:seed=7 -o questions.txt      the same, by the name of the set
  nonojudge generate 10x10x5 --seed 1 | nonobot --size 10x10
  nonojudge generate 25x25x100 --seed 7 --hard 20 -o hard.txt
  nonojudge generate 15x15x50 --seed 7 --unique --p2 0.45 -o unique.txt --solutions-out solutions.txt
  nonojudge generate 25x25x1000 --seed 7 --hard 20 --on local -o hard.txt          on all cores

The same numbers give the same bytes as the tournaments' generator, on every machine (docs/data.md).

Exit status: 0 written, 2 unusable arguments or no such board found; the files are then left as they were.
"""


def add_to(parser: Parser) -> None:
    about = "width, height and number of puzzles, or the name of a set (boardgen:...)"
    parser.add_argument("boards", type=_boards, metavar="WxHxN", help=about)
    about = "whole number of any length; needed unless a set is named"
    parser.add_argument("--seed", type=parse_seed, metavar="S", help=about)
    for name, share, place in (("--p1", OFFICIAL_P1, "first"), ("--p2", OFFICIAL_P2, "last")):
        about = f"share of black cells in the {place} puzzle (default: {share})"
        parser.add_argument(name, type=parse_share, metavar="P", help=about)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="question file (default: stdout)")
    parser.add_argument("--solutions-out", type=new_path, metavar="FILE", help="file for the solutions")

    choice = parser.group("training sets")
    choice.add_argument("--unique", action="store_true", help="keep only puzzles with exactly one solution")
    for name, number, about in (
        ("--hard", 1, "draw N boards for each puzzle and keep the hardest"),
        ("--draws", MOST_DRAWS, "give up after N unsuitable boards in a row"),
        ("--line-limit", LINE_LIMIT, "skip a board that needs more than N line solves, on every machine the same"),
    ):
        choice.add_argument(name, type=count, default=number, metavar="N", help=f"{about} (default: %(default)s)")
    about = "skip a board that takes longer than S seconds (default: %(default)g)"
    choice.add_argument("--puzzle-limit", type=seconds, default=PUZZLE_SECONDS, metavar="S", help=about)
    options.add_terms(choice, "contain", default="auto")
    choice.add_argument("--on", type=where, metavar="WHERE", help=f"where to draw and solve boards: {WHERE_HELP}")


def carry_out(arguments: argparse.Namespace) -> int:
    selects = arguments.unique or arguments.hard > 1
    _require_usable(arguments, selects)
    recipe = _recipe(arguments)
    if selects:
        say(sandbox_note(Contain(arguments.contain)))
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as at Ctrl-C: nothing half-written stays
    try:
        _write(arguments, recipe, selects)
    except NoBoardError as error:
        remedy = f"try denser (--p1, --p2) or smaller boards, or more --draws than {arguments.draws}"
        raise UnusableError(f"{error}: {remedy}") from None
    except ValueError as error:
        raise UnusableError(str(error)) from None
    if arguments.output:
        print(printable(f"questions: {arguments.output} ({recipe.count} {plural(recipe.count, 'puzzle')})"))
    return 0


def _require_usable(arguments: argparse.Namespace, selects: bool) -> None:
    if str(arguments.output) == "-":
        arguments.output = None
    outputs = [path.resolve() for path in (arguments.output, arguments.solutions_out) if path]
    if len(outputs) > len(set(outputs)):
        raise UnusableError("-o and --solutions-out must be two files")
    if arguments.on and not selects:
        raise UnusableError("--on is for --unique and --hard; a plain set needs no other cores")


def _boards(text: str) -> Recipe | tuple[int, int, int]:
    return Recipe.parse(text) if text.startswith(PREFIX) else parse_dimensions(text)


def _recipe(arguments: argparse.Namespace) -> Recipe:
    boards: Recipe | tuple[int, int, int] = arguments.boards
    values = {name: getattr(arguments, name) for name in ("seed", "p1", "p2")}
    given = {name: value for name, value in values.items() if value is not None}
    if isinstance(boards, Recipe):
        if given:
            options_given = " and ".join(f"--{name}" for name in given)
            raise UnusableError(f"{options_given}: {boards} already names its values; change them there")
        return boards
    if "seed" not in given:
        raise UnusableError("no --seed; add --seed N with any whole number")
    return Recipe(*boards, **given)


def _write(arguments: argparse.Namespace, recipe: Recipe, selects: bool) -> None:
    """Write the questions and the drawn solutions of a set, as drawn or as the bot selects boards."""
    with contextlib.ExitStack() as stack:
        amid_questions = not arguments.output and sys.stdout.isatty()  # no space for a progress bar
        progress = stack.enter_context(Progress(None if amid_questions else recipe.count))
        questions = stack.enter_context(output(arguments.output)) if arguments.output else sys.stdout.buffer
        solutions = stack.enter_context(output(arguments.solutions_out)) if arguments.solutions_out else None
        if selects:
            boards = _selected(arguments, recipe, progress, stack)
        else:
            boards = _counted(recipe.boards(), recipe.count, progress)
        write_set(boards, questions, solutions)
        questions.flush()


def _counted(boards: Iterable[Board], count: int, progress: Progress) -> Iterator[Board]:
    for number, board in enumerate(boards, 1):
        yield board
        progress.show(number, f"puzzle {number} of {count}")


def _selected(
    arguments: argparse.Namespace, recipe: Recipe, progress: Progress, stack: contextlib.ExitStack
) -> Iterator[Board]:
    """Yield the boards that the bot selects; report how many it gave up at each limit."""
    lines = f"--line-limit {arguments.line_limit}"
    time = f"--puzzle-limit {arguments.puzzle_limit:g}; another machine may write another file"
    given_up = {lines: 0, time: 0}

    def on_draw(drawn: Drawn) -> None:
        given_up[lines if drawn.grade.work > arguments.line_limit else time] += not drawn.grade.decided
        progress.show(
            drawn.puzzle - 1 + drawn.eligible / arguments.hard,
            f"puzzle {drawn.puzzle} of {recipe.count}, {in_number(drawn.boards, 'board')} drawn",
        )

    def report_given_up() -> None:
        for limit, boards in given_up.items():
            if boards:
                say(f"{in_number(boards, 'board')} {'was' if boards == 1 else 'were'} given up at {limit}")

    stack.callback(report_given_up)
    client = stack.enter_context(connected(arguments.on)) if arguments.on else None
    grading = Grading(
        size=(recipe.width, recipe.height),
        solutions=2 if arguments.unique else 1,
        puzzle_seconds=arguments.puzzle_limit,
        line_limit=arguments.line_limit,
        contain=Contain(arguments.contain),
    )
    rules = Rules(arguments.unique, arguments.hard, arguments.draws)
    yield from stack.enter_context(contextlib.closing(select_on(client, grading, recipe, rules, on_draw)))
