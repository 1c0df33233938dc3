"""What a worker does with boards: it draws and judges those of a task, with a bot that stays warm between tasks.

A task is pure: it names boards by the seed and their numbers, so that any worker, or another one after the first
has died, makes and finds the same.
"""

from __future__ import annotations

import atexit
import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from nonobot.harness.grading import grading_bot, level_grader
from nonobot.harness.results.conditions import Contain
from nonobot.harness.survey import Kind, Survey
from nonobot.protocol import Puzzle
from nonobot.tournament_data import Recipe
from nonobot.tournament_data.select import Grade, Rules, drawn_board

__all__ = ["Draws", "Judge", "Judged", "end_bot", "grade_boards", "survey_boards"]


@dataclass(frozen=True, slots=True)
class Judge:
    """What is asked about boards of a size, and when a board is given up.

    Attributes
    ----------
    size : (int, int)
    solutions : int
        2: is it unique?
    levels : bool
        Whether the levels of unique boards are asked for.
    puzzle_seconds : float
    line_limit : int
    contain : Contain
        Whether the bot runs within walls.
    """

    size: tuple[int, int]
    solutions: int
    levels: bool
    puzzle_seconds: float
    line_limit: int
    contain: Contain = Contain.NO

    def bot(self) -> contextlib.AbstractContextManager[Callable[[Puzzle], Grade]]:
        """Return what starts the bot that answers this, and ends it."""
        terms: dict[str, Any] = {
            "puzzle_seconds": self.puzzle_seconds,
            "line_limit": self.line_limit,
            "contain": self.contain,
        }
        if self.levels:
            return level_grader(self.size, **terms)
        return grading_bot(self.size, solutions=self.solutions, **terms)


@dataclass(frozen=True, slots=True)
class Draws:
    """Boards that are drawn for a puzzle one after the other.

    Attributes
    ----------
    index : int
        Of the puzzle, counted from 0.
    first, number : int
        The first board, counted from 0, and how many at most.
    enough : int
        Eligible boards after which the rest is not needed.
    """

    index: int
    first: int
    number: int
    enough: int

    def __str__(self) -> str:
        return f"puzzle {self.index + 1}, boards {self.first + 1} to {self.first + self.number}"


@dataclass(frozen=True, slots=True)
class Judged:
    """What a task found.

    Attributes
    ----------
    grades : list of list of Grade
        For each of its `Draws`, of each board that was drawn.
    seconds : float
        What it took, without the start of a bot.
    """

    grades: list[list[Grade]]
    seconds: float


_warm: tuple[Judge, Callable[[Puzzle], Grade], contextlib.ExitStack] | None = None
"""The last bot of this process; tasks of one kind come together, so one is enough."""


def _bot(judge: Judge) -> Callable[[Puzzle], Grade]:
    global _warm
    if _warm is None or _warm[0] != judge:
        end_bot()
        stack = contextlib.ExitStack()
        _warm = judge, stack.enter_context(judge.bot()), stack
    return _warm[1]


def end_bot() -> None:
    """End the bot of this process, if there is one."""
    global _warm
    ended, _warm = _warm, None
    if ended:
        ended[2].close()


atexit.register(end_bot)


@contextlib.contextmanager
def _ending_bot_on_error() -> Iterator[None]:
    """A bot that failed is not asked again."""
    try:
        yield
    except BaseException:
        end_bot()
        raise


def grade_boards(judge: Judge, recipe: Recipe, rules: Rules, draws: list[Draws]) -> Judged:
    """Draw and judge boards."""
    with _ending_bot_on_error():
        grade_board = _bot(judge)
        began = time.perf_counter()
        found = [_graded(grade_board, recipe, rules, one) for one in draws]
        return Judged(found, time.perf_counter() - began)


def _graded(grade_board: Callable[[Puzzle], Grade], recipe: Recipe, rules: Rules, draws: Draws) -> list[Grade]:
    found: list[Grade] = []
    eligible = 0
    for draw in range(draws.first, draws.first + draws.number):
        found.append(grade_board(drawn_board(recipe, draws.index, draw)[0]))
        eligible += rules.eligible(found[-1])
        if eligible == draws.enough:
            break
    return found


def survey_boards(judge: Judge, recipe: Recipe, first: int, number: int) -> Survey:
    """Draw and judge the first board of each of `number` puzzles; return what was seen of them together."""
    seen = Survey()
    with _ending_bot_on_error():
        grade_board = _bot(judge)
        for index in range(first, first + number):
            began = time.perf_counter()
            puzzle = drawn_board(recipe, index, 0)[0]
            row = seen.row(Kind.of_puzzle(recipe, index))
            row.add(grade_board(puzzle), judge.line_limit)
            row.seconds += time.perf_counter() - began
    return seen
