"""The strategy `papers`: the method of Chen & Hung and of Wu et al. 2013, complete.

`solve` and `deduce` are for a single puzzle; `PapersStrategy` keeps its memory from puzzle to puzzle.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from math import log1p
from typing import TYPE_CHECKING

from nonobot.bot.kernels.loading import load_kernel
from nonobot.bot.kernels.memory import Memory
from nonobot.bot.papers.state import LOG_UNIT_BITS, LONGEST_SIDE, OUTCOME, SOLVER, STEP, papers_map
from nonobot.bot.result import (
    FOREVER_NS,
    MOST_TRACE_EVENTS,
    UNLIMITED,
    Result,
    TraceEvent,
    deadline_after,
    grid_of,
    put_puzzle,
    result_of,
    solution_of,
    trace_events_in,
)
from nonobot.protocol import DEFAULT_SIZE, PartialGrid, Puzzle, Solution
from nonobot.protocol.clues import fault_in_clues

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["PROBINGS", "PapersStrategy", "deduce", "solve"]

PROBINGS = {"fp1": 1, "fp2": 2, "fp3": 3}
"""The fully probing relations by name."""


class PapersStrategy:
    """Solves puzzles by propagation, fully probing and backtracking.

    Parameters
    ----------
    probing : {'fp1', 'fp2', 'fp3'}
    solver : {'bitset', 'recurrence'}
        The line solver.
    """

    name = "papers"

    def __init__(self, probing: str = "fp1", solver: str = "bitset") -> None:
        if probing not in PROBINGS:
            raise ValueError(f"no probing {probing!r}; there are {', '.join(PROBINGS)}")
        if solver not in SOLVER._fields:
            raise ValueError(f"no line solver {solver!r}; there are {', '.join(SOLVER._fields)}")
        self._level = PROBINGS[probing]
        self._memory = Memory(papers_map())
        self._on_compile: Callable[[str], None] = lambda what: None
        self._is_stopped = False
        self._put("solver", getattr(SOLVER, solver))
        table = self._memory.items("log_table")
        for number in range(len(table)):
            table[number] = round(log1p(number) * 2**LOG_UNIT_BITS)

    def prepare(
        self,
        on_compile: Callable[[str], None],
        size: tuple[int, int] | None = DEFAULT_SIZE,
        everything: bool = False,
    ) -> None:
        """Load the kernels for boards of a size, and have it told from now on what has to be compiled.

        Parameters
        ----------
        on_compile : callable
            Told what has to be compiled before it is.
        size : (int, int) or None
            Width and height; None: nothing is loaded before the first board.
        everything : bool
            There is one kernel, and every board needs it.

        Raises
        ------
        ValueError
            If a side is longer than 62 cells.
        """
        self._on_compile = on_compile
        if size is not None:
            _require(*size)
            self._kernel("search", 1)

    def solve(
        self,
        puzzle: Puzzle,
        *,
        start: PartialGrid | None = None,
        solutions: int = 1,
        seconds: float | None = None,
        line_limit: int | None = None,
    ) -> Result:
        """Look for up to `solutions` solutions of `puzzle` that have the cells of `start`, for at most `seconds`.

        After `line_limit` painted lines the search is given up too, on every machine at the same place.

        Raises
        ------
        ValueError
            If a side of the board is longer than 62 cells, or no solution is asked for.
        """
        if solutions < 1:
            raise ValueError(f"at least one solution must be looked for, not {solutions}")
        if fault_in_clues(puzzle):
            return Result("unsolvable", exhausted=True)
        before = time.monotonic_ns()
        search = self._kernel("search", 1)
        loading = time.monotonic_ns() - before
        memory = self.load(puzzle, start, self._level, deadline_after(seconds))
        if line_limit is not None:
            self._put("most_lines", line_limit)
        found: list[Solution] = []
        ended: int = OUTCOME.solved
        while ended == OUTCOME.solved and len(found) < solutions:
            ended = search(memory.address, int(bool(found)))
            if ended == OUTCOME.solved:
                found.append(solution_of(memory))
        return result_of(memory, found, ended == OUTCOME.unsolvable, STEP._fields, loading)

    def load(
        self, puzzle: Puzzle, start: PartialGrid | None = None, level: int = 1, deadline: int = FOREVER_NS
    ) -> Memory:
        """Return the memory as it is before the search of `puzzle`, for kernels that are called one by one."""
        _require(puzzle.width, puzzle.height)
        put_puzzle(self._memory, puzzle, start)
        self._memory.items("cache_age")[0] += 1
        self._put("level", level)
        self._put("deadline", deadline)
        self._put("most_lines", UNLIMITED)
        if self._is_stopped:
            self.stop()
        return self._memory

    def stop(self) -> None:
        """Let the search that another thread is in return soon, with what it has, and every one after it."""
        self._is_stopped = True
        self._put("deadline", 0)

    def watch(self, most: int = MOST_TRACE_EVENTS) -> None:
        """Record the trace events of every search from now on, the first ones, up to `most` of each."""
        self._put("trace_room", min(most, self._memory.count("trace_events")))

    def trace_events(self) -> Iterator[tuple[TraceEvent, PartialGrid]]:
        """Yield the trace events of the last search, the first of them if there are very many."""
        return trace_events_in(self._memory)

    def deduce(self, puzzle: Puzzle, level: int) -> npt.NDArray[np.int8] | None:
        """Return what follows without a choice; see :func:`deduce`."""
        if fault_in_clues(puzzle):
            return None
        self.load(puzzle, None, level)
        if self._kernel("deduce", 0)(self._memory.address) == OUTCOME.unsolvable:
            return None
        black, white = (self._memory.masks(f"board.{name}", puzzle.height) for name in ("black", "white"))
        return grid_of(black, white, puzzle.width).cells

    def _kernel(self, name: str, numbers: int) -> Callable[..., int]:
        """Return a kernel of `bot.papers.search`."""
        on_compile = partial(self._on_compile, "the papers' search")
        return load_kernel("nonobot.bot.papers.search", name, self._memory.struct, numbers, on_compile)

    def _put(self, name: str, value: int) -> None:
        self._memory.items(name)[0] = value


def _require(width: int, height: int) -> None:
    """Raise a ValueError for a board that there is no room for."""
    if not (min(width, height) >= 1 and max(width, height) <= LONGEST_SIDE):
        raise ValueError(
            f"the strategy papers takes boards of up to {LONGEST_SIDE} cells a side; this is {width}x{height}"
        )


@cache
def _shared(probing: str, solver: str) -> PapersStrategy:
    """Return a strategy of this kind: its memory is large, and touching one for the first time takes long."""
    return PapersStrategy(probing, solver)


def solve(
    puzzle: Puzzle,
    *,
    probing: str = "fp2",
    solver: str = "bitset",
    solutions: int = 1,
    seconds: float | None = None,
) -> Result:
    """Look for up to `solutions` solutions of one puzzle, for at most `seconds` (None: no limit)."""
    return _shared(probing, solver).solve(puzzle, solutions=solutions, seconds=seconds)


def deduce(puzzle: Puzzle, level: int, solver: str = "bitset") -> npt.NDArray[np.int8] | None:
    """Return what follows for the cells of a puzzle without a choice.

    Parameters
    ----------
    puzzle : Puzzle
    level : int
        0: propagation alone; 1, 2, 3: FP1, FP2, FP3 to their fixpoint.
    solver : {'bitset', 'recurrence'}

    Returns
    -------
    int8 array, shape (height, width), or None
        1 black, 0 white, -1 unknown; None on a conflict: the puzzle has no solution.
    """
    if level not in (0, 1, 2, 3):
        raise ValueError(f"level {level}: expected 0 (propagation) or 1 to 3 (FP1 to FP3)")
    return _shared("fp1", solver).deduce(puzzle, level)
