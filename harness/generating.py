"""Sets and surveys of generated boards, as the arguments of `nonojudge generate` describe them."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from nonobot.harness import UnusableError
from nonobot.harness.cluster.cluster_workers import connected
from nonobot.harness.progress import Progress
from nonobot.harness.puzzles.board_jobs import select_on, survey_on
from nonobot.harness.puzzles.grading import Grading
from nonobot.harness.results.conditions import Contain
from nonobot.harness.survey import BoardKind, Survey, as_json, as_text
from nonobot.harness.text import on_terminal, percent, say
from nonobot.harness.user_files import write_output
from nonobot.system import whole_file
from nonobot.tournament_data import Recipe, write_set
from nonobot.tournament_data.generate import Board
from nonobot.tournament_data.select import Drawn, Rules


def write_questions(arguments: argparse.Namespace, recipe: Recipe, selects: bool) -> None:
    """Write the questions and the drawn solutions of a set, as drawn or as the bot selects boards."""
    with contextlib.ExitStack() as stack:
        amid_questions = not arguments.output and sys.stdout.isatty()  # no space for a progress bar
        progress = stack.enter_context(Progress(None if amid_questions else recipe.count))
        questions = _opened(arguments.output, stack) if arguments.output else sys.stdout.buffer
        solutions = _opened(arguments.solutions_out, stack) if arguments.solutions_out else None
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
    """Yield the boards that the bot selects, then show the survey of all boards that it graded."""
    survey = Survey()

    def on_draw(drawn: Drawn) -> None:
        survey.row(BoardKind.of_puzzle(recipe, drawn.puzzle - 1)).add(drawn.grade, arguments.line_limit)
        progress.show(
            drawn.puzzle - 1 + drawn.eligible / arguments.hard,
            f"puzzle {drawn.puzzle} of {recipe.count}, {drawn.boards} boards drawn",
        )

    stack.callback(_report_given_up, arguments, survey)
    client = stack.enter_context(connected(arguments.on)) if arguments.on else None
    rules = Rules(arguments.unique, arguments.hard, arguments.draws)
    boards = select_on(client, _grading(arguments, recipe), recipe, rules, on_draw)
    yield from stack.enter_context(contextlib.closing(boards))
    if arguments.survey:
        _show(arguments, survey, [recipe])


def survey_boards(arguments: argparse.Namespace, recipes: list[Recipe]) -> None:
    """Grade boards without keeping them, and show their survey."""
    total = sum(recipe.count * recipe.width * recipe.height for recipe in recipes)
    with contextlib.ExitStack() as stack:
        progress = stack.enter_context(Progress(total))
        client = stack.enter_context(connected(arguments.on)) if arguments.on else None
        survey = survey_on(
            client,
            [(_grading(arguments, recipe), recipe) for recipe in recipes],
            lambda cells: progress.show(cells, f"{percent(cells / total)} of all cells"),
        )
    _report_given_up(arguments, survey)
    _show(arguments, survey, recipes)


def _show(arguments: argparse.Namespace, survey: Survey, recipes: list[Recipe]) -> None:
    for path in arguments.survey:
        if path.suffix.lower() == ".json":
            data = as_json(survey, list(map(str, recipes)), arguments.line_limit).encode()
        else:
            from nonobot.harness.report.file_plots import drawing_of_survey

            data = drawing_of_survey(survey, path.suffix.lower().removeprefix("."))
        write_output(path, data)
    if arguments.output or not arguments.unique:  # otherwise stdout has the puzzles
        print(as_text(survey, on_terminal()), end="")


def _report_given_up(arguments: argparse.Namespace, survey: Survey) -> None:
    """Report the boards given up; at the time limit, another run may give up other boards."""
    rows = [row for _, row in survey.rows()]
    late, undecided = sum(row.late for row in rows), sum(row.undecided for row in rows)
    limits = [
        (undecided - late, f"--line-limit {arguments.line_limit}"),
        (late, f"--puzzle-limit {arguments.puzzle_limit:g}; another machine may write another file"),
    ]
    for boards, limit in limits:
        if boards > 0:
            say(f"{boards} boards were given up at {limit}")


def _grading(arguments: argparse.Namespace, recipe: Recipe) -> Grading:
    return Grading(
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
