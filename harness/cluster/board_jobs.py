"""Many boards judged by many workers: which boards are asked for next, and what is made of the answers.

What comes of it depends on the boards alone: neither on how they were put into tasks, nor on who did them when.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nonobot.harness.cluster.board_tasks import Draws, Judge, Judged, end_bot, grade_boards, survey_boards
from nonobot.harness.cluster.fit_workers import SchedulerLostError, talking
from nonobot.harness.errors import UnusableError
from nonobot.harness.survey import Survey
from nonobot.tournament_data import Recipe
from nonobot.tournament_data.generate import Board, check_numbers
from nonobot.tournament_data.select import Choice, Drawn, Grade, Rules

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Plan", "completed", "select_on", "survey_on"]

TASK_SECONDS = 1.0
"""What a task should take: some hundred times what dask needs for it."""

MOST_TASKS_A_SECOND = 100
"""Half of what a scheduler and this process can do; with more workers than that, tasks get longer."""

FIRST_BOARDS = 16
"""Boards of the first tasks, before it is known what one takes."""

TASKS_A_WORKER = 2
"""One is done while the next one waits."""

MOST_AHEAD = 10_000
"""Puzzles that may be begun before the first of them is chosen."""

SECONDS_BETWEEN_COUNTS = 2.0


class _Pace:
    """How many boards a task should have."""

    def __init__(self) -> None:
        self._seconds_a_board: float | None = None

    def note(self, boards: int, seconds: float) -> None:
        """Take what a task took; the last ones count most."""
        latest = seconds / boards
        known = self._seconds_a_board
        self._seconds_a_board = latest if known is None else (known + latest) / 2

    def boards(self, workers: int, left: float) -> int:
        """Return how many boards the next task has, of about `left`: fewer where the last ones are shared."""
        share = math.ceil(left / (3 * workers))
        if self._seconds_a_board is None:
            return max(1, min(FIRST_BOARDS, share))
        seconds = max(TASK_SECONDS, workers / MOST_TASKS_A_SECOND)
        return max(1, min(int(seconds / max(self._seconds_a_board, 1e-9)), share))


def completed(
    client: Client | None, function: Callable[..., Any], next_work: Callable[[int], tuple[Any, ...] | None]
) -> Generator[tuple[tuple[Any, ...], Any]]:
    """Yield work with what `function` made of it, in the order in which it is done.

    Parameters
    ----------
    client : Client or None
        None: the work is done here, one after the other.
    next_work : callable
        Asked, with the number of workers, whenever there is room for more; None: for now there is none.

    Raises
    ------
    UnusableError
        If the scheduler goes, or no worker gets through with some work.
    """
    if client is None:
        try:
            while (work := next_work(1)) is not None:
                yield work, function(*work)
        finally:
            end_bot()
        return
    from distributed import CancelledError, KilledWorker, as_completed

    gone = UnusableError("the scheduler has gone or has dropped the work; the same command begins anew")
    works: dict[Any, tuple[Any, ...]] = {}
    answers = as_completed(loop=client.loop, with_results=True)
    workers, counted = 1, -math.inf
    try:
        while True:
            if time.monotonic() > counted + SECONDS_BETWEEN_COUNTS:
                with talking():
                    workers, counted = max(1, len(client.ncores())), time.monotonic()
            while len(works) < TASKS_A_WORKER * workers and (work := next_work(workers)) is not None:
                with talking():
                    future = client.submit(function, *work, pure=False)
                works[future.key] = work
                answers.add(future)
                del future
            if not works:
                return
            future, result = next(answers)
            if isinstance(result, CancelledError):
                raise gone
            yield works.pop(future.key), result
            del future
    except KilledWorker as error:
        what = "; ".join(map(str, works[error.task][1:]))
        raise UnusableError(f"{error.allowed_failures + 1} workers died of the same boards: {what}") from None
    except (CancelledError, StopIteration, SchedulerLostError):  # what it waited for was taken away
        raise gone from None
    finally:
        if answers.futures:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                client.cancel(list(answers.futures), force=True)


# --- sets -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Puzzle:
    """A puzzle whose board is being chosen."""

    choice: Choice
    asked: int = 0  # boards that tasks were made of
    out: int = 0  # tasks on the way
    waiting: dict[int, list[Grade]] = field(default_factory=dict)  # by the first draw, until those before are in

    @property
    def ahead(self) -> int:
        """Boards asked for of which nothing is known yet."""
        return self.asked - self.choice.drawn


class Plan:
    """The choice of the boards of a set, from answers that come in any order.

    Parameters
    ----------
    recipe : Recipe
    rules : Rules
    on_draw : callable
        Told of every board that counts, each puzzle's in their order.
    """

    def __init__(self, recipe: Recipe, rules: Rules, on_draw: Callable[[Drawn], None]) -> None:
        self._recipe = recipe
        self._rules = rules
        self._on_draw = on_draw
        self._pace = _Pace()
        self._open: dict[int, _Puzzle] = {}
        self._hungry: deque[int] = deque()  # puzzles that boards may be asked for without looking at any in vain
        self._begun = self._written = 0  # puzzles
        self._end = recipe.count  # one behind the last puzzle that matters: the first that has no board
        self._drawn = self._eligible = 0

    @property
    def over(self) -> bool:
        """Whether all boards were yielded."""
        return self._written == self._recipe.count

    def next_draws(self, workers: int) -> list[Draws]:
        """Return boards for a task, which :meth:`take` gets back; none: they are all on the way."""
        left = self._recipe.count * self._rules.choices - self._eligible
        room = most = self._pace.boards(workers, left / self._rate)
        draws = []
        while room > 0 and (index := self._next_hungry()) is not None:
            puzzle = self._open[index]
            draws.append(self._asked(index, min(most, self._likely(puzzle))))
            room -= draws[-1].number
            if puzzle.ahead < puzzle.choice.missing:
                self._hungry.appendleft(index)  # so many will be looked at in any case
        return draws or self._in_advance(most, TASKS_A_WORKER * workers)

    def take(self, draws: Sequence[Draws], judged: Judged) -> None:
        """Take what was found about boards."""
        self._pace.note(sum(map(len, judged.grades)), judged.seconds)
        for one, grades in zip(draws, judged.grades, strict=True):
            puzzle = self._open.get(one.index)
            if puzzle is None:
                continue  # chosen meanwhile: these were asked for in advance
            puzzle.out -= 1
            puzzle.waiting[one.first] = grades
            self._look_at(one.index, puzzle)
            if puzzle.choice.hopeless:
                self._end = min(self._end, one.index + 1)
            elif not puzzle.choice.over and not puzzle.out and one.index not in self._hungry:
                self._hungry.appendleft(one.index)

    def ready(self) -> Iterator[Board]:
        """Yield the boards that are chosen, in their order.

        Raises
        ------
        NoBoardError
            If there is none for the next puzzle.
        """
        while self._written in self._open and self._open[self._written].choice.over:
            yield self._open.pop(self._written).choice.board(self._recipe, self._written)
            self._written += 1

    @property
    def _rate(self) -> float:
        """Eligible boards in a board, as it seems by now."""
        return (self._eligible + 1) / (self._drawn + 1)

    def _likely(self, puzzle: _Puzzle) -> int:
        """Return how many more boards will probably be looked at for a puzzle."""
        rate = min(self._rate, (puzzle.choice.eligible + 1) / (puzzle.choice.drawn + 1), 1.0)
        return min(math.ceil(puzzle.choice.missing / rate), puzzle.choice.most)

    def _next_hungry(self) -> int | None:
        while self._hungry:
            index = self._hungry.popleft()
            puzzle = self._open.get(index)  # None: its board is chosen, and written
            if index < self._end and puzzle and not puzzle.choice.over:
                return index
        if self._begun == min(self._end, self._written + MOST_AHEAD):
            return None
        self._open[self._begun] = _Puzzle(Choice(self._rules))
        self._begun += 1
        return self._begun - 1

    def _in_advance(self, most: int, tasks: int) -> list[Draws]:
        """Return boards that matter if those before them are not enough; none while there is enough to do."""
        if len(self._open) > tasks:
            return []
        for index, puzzle in self._open.items():
            if index < self._end and not puzzle.choice.over and puzzle.ahead < self._likely(puzzle):
                return [self._asked(index, min(most, self._likely(puzzle) - puzzle.ahead))]
        return []

    def _asked(self, index: int, number: int) -> Draws:
        puzzle = self._open[index]
        draws = Draws(index, puzzle.asked, number, puzzle.choice.missing)
        puzzle.asked += number
        puzzle.out += 1
        return draws

    def _look_at(self, index: int, puzzle: _Puzzle) -> None:
        choice = puzzle.choice
        while not choice.over and choice.drawn in puzzle.waiting:
            for grade in puzzle.waiting.pop(choice.drawn):
                if choice.over:
                    break
                before = choice.eligible
                choice.add(grade)
                self._drawn += 1
                self._eligible += choice.eligible - before
                self._on_draw(Drawn(index + 1, choice.eligible, self._drawn, grade))


def select_on(
    client: Client, judge: Judge, recipe: Recipe, rules: Rules, on_draw: Callable[[Drawn], None]
) -> Iterator[Board]:
    """Yield the boards that :func:`~nonobot.tournament_data.select.select` does, drawn and judged by workers.

    Raises
    ------
    ValueError
        If no board can be made from the recipe.
    NoBoardError
        From the iterator, if too many boards in a row were not eligible.
    UnusableError
        From the iterator, if a worker has no bot, or no worker gets through with some boards.
    """
    check_numbers(recipe.width, recipe.height, recipe.count, recipe.p1, recipe.p2)
    plan = Plan(recipe, rules, on_draw)

    def next_work(workers: int) -> tuple[Any, ...] | None:
        draws = plan.next_draws(workers)
        return (judge, recipe, rules, draws) if draws else None

    def boards() -> Iterator[Board]:
        with contextlib.closing(completed(client, grade_boards, next_work)) as done:
            for (*_, draws), judged in done:
                plan.take(draws, judged)
                yield from plan.ready()
                if plan.over:
                    return

    return boards()


# --- surveys --------------------------------------------------------------------------------------------------


def survey_on(
    client: Client | None, asked: Sequence[tuple[Judge, Recipe]], on_cells: Callable[[int], None]
) -> Survey:
    """Return what was seen of the boards of all recipes, the first one drawn for each puzzle.

    Parameters
    ----------
    client : Client or None
        None: all is done here.
    asked : sequence of (Judge, Recipe)
    on_cells : callable
        Told how many cells the boards have that are done: large boards take longer.

    Raises
    ------
    ValueError
        If no board can be made from a recipe.
    UnusableError
        As :func:`select_on`.
    """
    for _, recipe in asked:
        check_numbers(recipe.width, recipe.height, recipe.count, recipe.p1, recipe.p2)
    # The largest boards first: at the end short tasks are left, and no worker waits for long.
    to_do = deque(sorted(asked, key=lambda one: one[1].width * one[1].height, reverse=True))
    pace, first = _Pace(), 0

    def next_work(workers: int) -> tuple[Any, ...] | None:
        nonlocal pace, first
        if to_do and first == to_do[0][1].count:
            to_do.popleft()
            pace, first = _Pace(), 0
        if not to_do:
            return None
        judge, recipe = to_do[0]
        start, left = first, recipe.count - first
        first += min(pace.boards(workers, left), left)
        return judge, recipe, start, first - start

    seen, cells = Survey(), 0
    with contextlib.closing(completed(client, survey_boards, next_work)) as done:
        for (_, recipe, _, number), part in done:
            if to_do and recipe is to_do[0][1]:
                pace.note(number, sum(row.seconds for _, row in part.rows()))
            seen += part
            cells += number * recipe.width * recipe.height
            on_cells(cells)
    return seen
