"""Sets of boards that many workers grade: the tasks, and the use of their results.

The outcome depends on the boards alone, neither on the tasks nor on the order of the results.
"""

from __future__ import annotations

import atexit
import contextlib
import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from nonobot.harness import UnusableError
from nonobot.harness.cluster.cluster_workers import SchedulerLostError, SilenceError, result_of, talking
from nonobot.harness.puzzles.grading import GradeBoard, Grading
from nonobot.tournament_data import Recipe
from nonobot.tournament_data.generate import Board, check_numbers
from nonobot.tournament_data.select import Choice, Drawn, Grade, Rules, drawn_board, select

if TYPE_CHECKING:
    from distributed import Client

TASK_SECONDS = 1.0  # time that a task should take, some hundred times the time that dask needs for it
MOST_TASKS_A_SECOND = 100  # half of what a scheduler and this process can handle
FIRST_BOARDS = 16  # boards in each of the first tasks, before the time of a board is known
TASKS_A_WORKER = 2  # tasks assigned to each worker: one in progress and one waiting
MOST_AHEAD = 10_000  # puzzles that may be begun before the board of the first is chosen
SECONDS_BETWEEN_COUNTS = 2.0

# --- tasks of workers -----------------------------------------------------------------------------------------
# A task is pure. It names boards by the seed and their numbers, so that any worker makes the same boards and the
# same grades, also after another worker died of the task.


@dataclass(frozen=True, slots=True)
class Draws:
    """Consecutive boards that are drawn for a puzzle."""

    index: int  # of the puzzle, from 0
    first: int  # index of the first board, from 0
    number: int  # of boards, at most
    enough: int  # eligible boards that make the rest unnecessary

    def __str__(self) -> str:
        return f"puzzle {self.index + 1}, boards {self.first + 1} to {self.first + self.number}"


_warm: dict[Grading, GradeBoard] = {}  # the last bot of this process

_running = contextlib.ExitStack()


@contextlib.contextmanager
def _warm_bot(grading: Grading) -> Iterator[GradeBoard]:
    """Provide this process's bot for a task, and end it if the task fails."""
    if grading not in _warm:
        end_bot()
        _warm[grading] = _running.enter_context(grading.started())
    try:
        yield _warm[grading]
    except BaseException:
        end_bot()
        raise


def end_bot() -> None:
    """End the bot of this process, if there is one."""
    _warm.clear()
    _running.close()


atexit.register(end_bot)


def grade_boards(
    grading: Grading, recipe: Recipe, rules: Rules, draws: list[Draws]
) -> tuple[list[list[Grade]], float]:
    """Return the grades of the boards drawn, a list for each of `draws`, and the seconds without a bot's start."""
    with _warm_bot(grading) as grade_board:
        began = time.perf_counter()
        grades = [graded(grade_board, recipe, rules, request) for request in draws]
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


# --- tasks handed out -----------------------------------------------------------------------------------------


class _Pace:
    """Chooses the number of boards of a task from the time that the last tasks took."""

    _seconds_a_board: float | None = None

    def note(self, boards: int, seconds: float) -> None:
        """Note the time of a task; the latest count most."""
        latest, known = seconds / boards, self._seconds_a_board
        self._seconds_a_board = latest if known is None else (known + latest) / 2

    def boards(self, workers: int, left: float) -> int:
        """Return the boards of the next task, of about `left` that are left; the last ones are shared."""
        share = math.ceil(left / (3 * workers))
        if self._seconds_a_board is None:
            return max(1, min(FIRST_BOARDS, share))
        seconds = max(TASK_SECONDS, workers / MOST_TASKS_A_SECOND)
        return max(1, min(int(seconds / max(self._seconds_a_board, 1e-9)), share))


def completed(
    client: Client | None, function: Callable[..., Any], next_work: Callable[[int], tuple[Any, ...] | None]
) -> Generator[tuple[tuple[Any, ...], Any]]:
    """Yield each work item (arguments of `function`) with its result, as they are completed; without client, here.

    `next_work` takes the number of workers, and returns None if there is no work for now. UnusableError if the
    scheduler is lost, or an item killed several workers.
    """
    if client is None:
        try:
            while (work := next_work(1)) is not None:
                yield work, function(*work)
        finally:
            end_bot()
        return
    from distributed import CancelledError, KilledWorker, as_completed

    gone = UnusableError("the scheduler has gone or has dropped the work; the same command starts again")
    works: dict[Any, tuple[Any, ...]] = {}
    answers = as_completed(loop=client.loop, with_results=True)
    workers, counted = 1, -math.inf
    try:
        while True:
            if time.monotonic() > counted + SECONDS_BETWEEN_COUNTS:
                with talking():
                    workers = max(1, len(result_of(client.ncores, client=client)))
                    counted = time.monotonic()
            while len(works) < TASKS_A_WORKER * workers and (work := next_work(workers)) is not None:
                with talking():
                    future = client.submit(function, *work, pure=False)
                works[future.key] = work
                answers.add(future)
                del future
            if not works:
                return
            future, result = result_of(partial(next, answers), client=client)
            if isinstance(result, CancelledError):
                raise gone
            yield works.pop(future.key), result
            del future
    except KilledWorker as error:
        boards = "; ".join(map(str, works[error.task][1:]))
        raise UnusableError(f"{error.allowed_failures + 1} workers died of the same boards: {boards}") from None
    except (CancelledError, StopIteration, SchedulerLostError, SilenceError):  # the tasks were taken away
        raise gone from None
    finally:
        if answers.futures:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                client.cancel(list(answers.futures), force=True)


# --- sets -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _OpenPuzzle:
    """A puzzle whose board is being chosen."""

    index: int
    choice: Choice
    requested: int = 0  # boards in tasks so far
    waiting: dict[int, list[Grade]] = field(default_factory=dict)  # by the first draw, until those before are in

    @property
    def ahead(self) -> int:
        """Number of requested boards that the choice does not know yet."""
        return self.requested - self.choice.drawn

    def request(self, number: int) -> Draws:
        """Return the next boards to draw."""
        draws = Draws(self.index, self.requested, number, self.choice.missing)
        self.requested += number
        return draws


class Plan:
    """The choice of the boards of a set, from grades in any order; `on_draw` gets each board that counts."""

    def __init__(self, recipe: Recipe, rules: Rules, on_draw: Callable[[Drawn], None]) -> None:
        self._recipe = recipe
        self._rules = rules
        self._on_draw = on_draw
        self._pace = _Pace()
        self._open: dict[int, _OpenPuzzle] = {}
        self._begun = self._written = 0  # puzzles
        self._end = recipe.count  # index after the last puzzle that matters, the first without a board
        self._drawn = self._eligible = 0

    @property
    def over(self) -> bool:
        """Whether the plan has yielded all boards."""
        return self._written == self._recipe.count

    def next_draws(self, workers: int) -> list[Draws]:
        """Return the boards of a task, for :meth:`take` with its result; none if all are on the way."""
        left = self._recipe.count * self._rules.choices - self._eligible
        room = most = self._pace.boards(workers, left / self._rate)
        draws: list[Draws] = []
        for puzzle in self._in_need():
            draws.append(puzzle.request(min(most, self._likely(puzzle))))
            room -= draws[-1].number
            if room <= 0:
                break
        if not draws and len(self._open) <= TASKS_A_WORKER * workers:
            # No other work is left: boards that matter if those before them are not enough.
            for puzzle in self._undecided():
                if (number := self._likely(puzzle) - puzzle.ahead) > 0:
                    return [puzzle.request(min(most, number))]
        return draws

    def take(self, draws: Sequence[Draws], grades_of: Sequence[list[Grade]], seconds: float) -> None:
        """Store the grades of a task's boards, and the time that it took."""
        self._pace.note(sum(map(len, grades_of)), seconds)
        for request, grades in zip(draws, grades_of, strict=True):
            if puzzle := self._open.get(request.index):  # otherwise chosen meanwhile: these were drawn in advance
                puzzle.waiting[request.first] = grades
                self._look_at(puzzle)

    def ready(self) -> Iterator[Board]:
        """Yield the chosen boards in the order of the puzzles; NoBoardError if the next puzzle has none."""
        while self._written in self._open and self._open[self._written].choice.over:
            yield self._open.pop(self._written).choice.board(self._recipe, self._written)
            self._written += 1

    @property
    def _rate(self) -> float:
        """Share of eligible boards, as estimated so far."""
        return (self._eligible + 1) / (self._drawn + 1)

    def _likely(self, puzzle: _OpenPuzzle) -> int:
        """Return the number of further boards that a puzzle will probably need."""
        rate = min(self._rate, (puzzle.choice.eligible + 1) / (puzzle.choice.drawn + 1), 1.0)
        return min(math.ceil(puzzle.choice.missing / rate), puzzle.choice.most)

    def _undecided(self) -> Iterator[_OpenPuzzle]:
        return (puzzle for puzzle in self._open.values() if puzzle.index < self._end and not puzzle.choice.over)

    def _in_need(self) -> Iterator[_OpenPuzzle]:
        """Yield the puzzles that need more boards than requested, open ones first."""
        yield from (puzzle for puzzle in self._undecided() if puzzle.ahead < puzzle.choice.missing)
        while self._begun < min(self._end, self._written + MOST_AHEAD):
            puzzle = self._open[self._begun] = _OpenPuzzle(self._begun, Choice(self._rules))
            self._begun += 1
            yield puzzle

    def _look_at(self, puzzle: _OpenPuzzle) -> None:
        """Choose among the graded boards; all earlier boards are known."""
        choice = puzzle.choice
        while not choice.over and choice.drawn in puzzle.waiting:
            for grade in puzzle.waiting.pop(choice.drawn):
                if choice.over:
                    break
                choice.add(grade)
                self._drawn += 1
                self._eligible += self._rules.eligible(grade)
                self._on_draw(Drawn(puzzle.index + 1, choice.eligible, self._drawn, grade))
        if choice.hopeless:
            self._end = min(self._end, puzzle.index + 1)


def select_on(
    client: Client | None, grading: Grading, recipe: Recipe, rules: Rules, on_draw: Callable[[Drawn], None]
) -> Generator[Board]:
    """Yield the boards of `select`, drawn and graded here or by workers; UnusableError if these fail."""
    if client is None:
        with grading.started() as bot:
            yield from select(recipe, bot, rules, on_draw)
        return
    check_numbers(recipe.width, recipe.height, recipe.count, recipe.p1, recipe.p2)
    plan = Plan(recipe, rules, on_draw)

    def next_work(workers: int) -> tuple[Any, ...] | None:
        draws = plan.next_draws(workers)
        return (grading, recipe, rules, draws) if draws else None

    with contextlib.closing(completed(client, grade_boards, next_work)) as done:
        for (*_, draws), (grades, seconds) in done:
            plan.take(draws, grades, seconds)
            yield from plan.ready()
            if plan.over:
                return
