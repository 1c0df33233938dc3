"""Solving for Python programs: one puzzle, or many on all cores."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nonobot.bot import LONGEST_SIDE
from nonobot.protocol import UNKNOWN, PartialGrid
from nonobot.puzzles import Puzzle, PuzzleError, Record, Solution, own, picture_of, svg_of_board
from nonobot.system import usable_cores

__all__ = ["Difficulty", "Result", "difficulty", "solve", "solve_all"]

_log = logging.getLogger("nonobot")

Verdict = Literal["unique", "multiple", "unsolvable", "unknown"]


@dataclass(frozen=True, slots=True)
class Result:
    """What came of solving a puzzle; it prints as its verdict and a picture of the first solution.

    Attributes
    ----------
    puzzle : Puzzle
    status : 'solved', 'unsolvable' or 'timeout'
        'solved' with at least one solution, even if the time ran out while looking for more.
    verdict : 'unique', 'multiple', 'unsolvable' or 'unknown'
        What is known about the number of solutions.
    solutions : tuple of Solution
        As many as were asked for, or as there are.
    exhausted : bool
        There are no other solutions.
    seconds : float
        What the search took, without loading or compiling kernels.
    counts : dict of str to int
        Exact counts of the search, the same on every machine (see docs/engine.md).
    """

    puzzle: Puzzle
    status: Literal["solved", "unsolvable", "timeout"]
    verdict: Verdict
    solutions: tuple[Solution, ...]
    exhausted: bool
    seconds: float
    counts: dict[str, int]

    def __str__(self) -> str:
        if not self.solutions:
            return self.verdict
        return f"{self.verdict}\n{picture_of(self.puzzle, self.solutions[0].cells)}"

    def _repr_svg_(self) -> str:
        return svg_of_board(self.puzzle, self.solutions[0].cells if self.solutions else None)


def solve(
    puzzle: Puzzle | Record,
    *,
    solutions: int = 2,
    seconds: float | None = 10.0,
    start: npt.ArrayLike | None = None,
) -> Result:
    """Solve a puzzle.

    The first call ever compiles the solver, a quarter of a minute or so, and says so through the logger `nonobot`;
    Ctrl-C ends a search at once.

    Parameters
    ----------
    puzzle : Puzzle or Record
    solutions : int
        Look for so many: two tell whether the puzzle is unique.
    seconds : float or None
        Look for so long, compiling not counted; None: until the end.
    start : array_like of int, shape (height, width), optional
        Cells that are given: 1 black, 0 white, -1 unknown. Without, those of the record.

    Raises
    ------
    PuzzleError
        If the board or `start` is of a size that cannot be.
    """
    _require_positive(solutions)
    [result] = _results([_task(puzzle, start)], 1, solutions, seconds)
    return result


def solve_all(
    puzzles: Iterable[Puzzle | Record],
    *,
    jobs: int | None = 1,
    solutions: int = 2,
    seconds: float | None = 10.0,
) -> Iterator[Result]:
    """Yield the result of each puzzle, in their order, each as soon as it and all before it are solved.

    Parameters
    ----------
    puzzles : iterable of Puzzle or Record
        Looked at up to 1024 puzzles ahead of what is yielded.
    jobs : int or None
        Solve so many at once, each on a core; None: on all cores that may be used. Results do not depend on it.
    solutions, seconds
        As for :func:`solve`, for each puzzle.

    Raises
    ------
    PuzzleError
        As :func:`solve`, in the place of the puzzle.
    """
    jobs = len(usable_cores()) if jobs is None else jobs
    _require_positive(jobs, solutions)
    return _results(map(_task, puzzles), jobs, solutions, seconds)


def _require_positive(*numbers: int) -> None:
    if min(numbers) < 1:
        raise ValueError(f"jobs and solutions are 1 or more, not {min(numbers)}")


_Task = tuple[Puzzle, PartialGrid | None]


def _task(puzzle: Puzzle | Record, start: npt.ArrayLike | None = None) -> _Task:
    """Return a puzzle with the board to start from."""
    if isinstance(puzzle, Record):
        start = puzzle.start if start is None else start
        puzzle = puzzle.puzzle
    board = own(puzzle)
    if max(board.size) > LONGEST_SIDE:
        width, height = board.size
        raise PuzzleError(f"a {width}x{height} board is too large; a side has up to {LONGEST_SIDE} cells")
    if start is None:
        return board, None
    try:
        given = PartialGrid(start)
    except ValueError as error:
        raise PuzzleError(str(error)) from None
    if given.size != board.size:
        raise PuzzleError("a start of {}x{} cells for a {}x{} board".format(*given.size, *board.size))
    return board, given


_idle: list[Any] = []
"""Strategies that have their memory and their kernels, and nothing to do."""


def _strategy() -> Any:
    from nonobot.bot.champion import ChampionStrategy

    try:
        return _idle.pop()
    except IndexError:
        strategy = ChampionStrategy()
        strategy.prepare(lambda what: _log.warning("compiling %s, once for this machine ...", what), size=None)
        return strategy


def _results(tasks: Iterable[_Task], jobs: int, solutions: int, seconds: float | None) -> Iterator[Result]:
    """Solve in threads of their own, so that Ctrl-C is heard meanwhile."""
    from nonobot.bot.workers import in_order

    strategies = [_strategy() for _ in range(jobs)]

    def stop() -> None:
        for strategy in strategies:
            strategy.stop()

    workers = [partial(_solved, strategy, solutions, seconds) for strategy in strategies]
    for _, result in in_order(tasks, workers, stop):
        yield result
    _idle.extend(strategies)  # after an error or Ctrl-C they are stopped for good


def _solved(strategy: Any, solutions: int, seconds: float | None, task: _Task) -> Result:
    puzzle, start = task
    try:
        found = strategy.solve(puzzle, start=start, solutions=solutions, seconds=seconds)
    except ValueError as error:  # a board that there is no room for
        raise PuzzleError(str(error)) from None
    return Result(
        puzzle=puzzle,
        status=found.status,
        verdict=found.verdict,
        solutions=tuple(Solution(one.cells) for one in found.solutions),
        exhausted=found.exhausted,
        seconds=sum(found.step_seconds.values()),
        counts=found.counts,
    )


@dataclass(frozen=True, slots=True)
class Difficulty:
    """What a puzzle takes.

    Attributes
    ----------
    level : 'lines', 'probing', 'search' or 'unknown'
        'lines': one line at a time is enough. 'probing': so is trying each cell in both colours and keeping what
        follows either way (FP1 of Wu et al. 2013), again and again. 'search': neither is, as of every puzzle with
        several solutions; on boards with a side of over 62 cells, where probing is not tried, the lines are not.
        'unknown': the time was not enough, or there is no solution.
    conflicts : int
        Contradictions that the search for all it needs to know met with.
    verdict : 'unique', 'multiple', 'unsolvable' or 'unknown'
    """

    level: Literal["lines", "probing", "search", "unknown"]
    conflicts: int
    verdict: Verdict


def difficulty(puzzle: Puzzle | Record, *, seconds: float | None = 10.0) -> Difficulty:
    """Return what solving a puzzle takes.

    Parameters
    ----------
    puzzle : Puzzle or Record
        Of a record, the board to start from counts.
    seconds : float or None
        For the search.
    """
    from nonobot.bot.papers import deduce
    from nonobot.bot.papers.state import LONGEST_SIDE as LONGEST_PROBED_SIDE

    result = solve(puzzle, seconds=seconds)
    conflicts = result.counts.get("conflicts", 0)
    if not result.solutions:
        return Difficulty("unknown", conflicts, result.verdict)
    board, start = _task(puzzle)
    if result.counts["decisions"] == 0 and result.verdict == "unique":
        level: Literal["lines", "probing", "search"] = "lines"
    elif max(board.size) <= LONGEST_PROBED_SIDE and start is None and _is_full(deduce(board, 1)):
        level = "probing"
    else:
        level = "search"
    return Difficulty(level, conflicts, result.verdict)


def _is_full(cells: npt.NDArray[np.int8] | None) -> bool:
    return cells is not None and not (cells == UNKNOWN).any()
