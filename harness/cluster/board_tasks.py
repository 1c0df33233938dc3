"""Tasks of workers on boards: they draw the boards and grade them, with a bot that stays warm between tasks.

A task is pure. It names boards by the seed and their numbers, so that any worker makes the same boards and the
same grades, also after another worker died of the task.
"""

from __future__ import annotations

import atexit
import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass

from nonobot.harness.grading import GradeBoard, Grading
from nonobot.harness.survey import BoardKind, Survey
from nonobot.tournament_data import Recipe
from nonobot.tournament_data.select import Grade, Rules, drawn_board


@dataclass(frozen=True, slots=True)
class Draws:
    """Consecutive boards that are drawn for a puzzle.

    Attributes
    ----------
    index : int
        Index of the puzzle, from 0.
    first, number : int
        Index of the first board, from 0, and the most boards to draw.
    enough : int
        Number of eligible boards that makes the rest unnecessary.
    """

    index: int
    first: int
    number: int
    enough: int

    def __str__(self) -> str:
        return f"puzzle {self.index + 1}, boards {self.first + 1} to {self.first + self.number}"


_warm: tuple[Grading, GradeBoard, contextlib.ExitStack] | None = None
"""The last bot of this process; tasks of one kind come together, so one is enough."""


@contextlib.contextmanager
def _warm_bot(grading: Grading) -> Iterator[GradeBoard]:
    """Provide this process's bot for a task, and end it if the task fails."""
    global _warm
    if _warm is None or _warm[0] != grading:
        end_bot()
        stack = contextlib.ExitStack()
        _warm = grading, stack.enter_context(grading.started()), stack
    try:
        yield _warm[1]
    except BaseException:
        end_bot()
        raise


def end_bot() -> None:
    """End the bot of this process, if there is one."""
    global _warm
    ended, _warm = _warm, None
    if ended:
        ended[2].close()


atexit.register(end_bot)


def grade_boards(
    grading: Grading, recipe: Recipe, rules: Rules, draws: list[Draws]
) -> tuple[list[list[Grade]], float]:
    """Return the grades of the boards drawn, a list for each of `draws`, and the seconds without a bot's start."""
    with _warm_bot(grading) as grade_board:
        began = time.perf_counter()
        grades = [graded(grade_board, recipe, rules, one) for one in draws]
        return grades, time.perf_counter() - began


def graded(grade_board: GradeBoard, recipe: Recipe, rules: Rules, draws: Draws) -> list[Grade]:
    """Return the grades of boards until enough of them are eligible."""
    grades: list[Grade] = []
    eligible = 0
    for draw in range(draws.first, draws.first + draws.number):
        grades.append(grade_board(drawn_board(recipe, draws.index, draw)[0]))
        eligible += rules.eligible(grades[-1])
        if eligible == draws.enough:
            break
    return grades


def survey_boards(grading: Grading, recipe: Recipe, first: int, number: int) -> Survey:
    """Return the survey of the first boards drawn for `number` puzzles, from index `first` on."""
    survey = Survey()
    with _warm_bot(grading) as grade_board:
        for index in range(first, first + number):
            began = time.perf_counter()
            puzzle = drawn_board(recipe, index, 0)[0]
            row = survey.row(BoardKind.of_puzzle(recipe, index))
            row.add(grade_board(puzzle), grading.line_limit)
            row.seconds += time.perf_counter() - began
    return survey
