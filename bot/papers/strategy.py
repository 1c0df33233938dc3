"""The strategy `papers`: the method of Chen & Hung and of Wu et al. 2013, complete.

`solve` and `deduce` are for a single puzzle; `PapersStrategy` keeps its arrays from puzzle to puzzle.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from nonobot.bot import LONGEST_SIDE
from nonobot.bot.bits import MASK, u64
from nonobot.bot.cache import cache_folder, note_use, tidy_cache
from nonobot.bot.exchange import MOST_MOMENTS, Moment, Result, cells_of, line_masks, moments_of, seconds_of
from nonobot.bot.lines import SOLVERS
from nonobot.bot.papers.search import EXHAUSTED, FOUND, deduce_kernel, search_kernel
from nonobot.bot.papers.state import BLACK, COUNT_NAMES, STEP_NAMES, WHITE, State, line_clues, new_state
from nonobot.protocol import PartialGrid, Puzzle, Solution
from nonobot.protocol.clues import fault_in_clues

__all__ = ["PROBINGS", "PapersStrategy", "deduce", "solve"]

PROBINGS = {"fp1": u64(1), "fp2": u64(2), "fp3": u64(3)}
"""The fully probing relations by name."""

_SMALL_PUZZLE = Puzzle(columns=((1,), (1,)), rows=((1,), (1,)))

_FOREVER_NS = np.int64(2**62)


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
        if solver not in SOLVERS:
            raise ValueError(f"no line solver {solver!r}; there are {', '.join(SOLVERS)}")
        self._level = PROBINGS[probing]
        self._solver = SOLVERS[solver]
        self._states: dict[tuple[int, int], State] = {}
        self._room = MASK(0)

    def prepare(self, on_compile: Callable[[], None]) -> None:
        """Load the kernels; `on_compile` is called first if they have to be compiled."""
        folder = cache_folder()
        mark = folder / "papers.compiled" if folder else None
        if mark is None or not mark.exists():
            on_compile()
        self.solve(_SMALL_PUZZLE)
        if mark and not mark.exists():
            with contextlib.suppress(OSError):
                mark.touch()
            tidy_cache()
        else:
            note_use()

    def solve(
        self,
        puzzle: Puzzle,
        *,
        start: PartialGrid | None = None,
        solutions: int = 1,
        seconds: float | None = None,
    ) -> Result:
        """Look for up to `solutions` solutions of `puzzle` that have the cells of `start`, for at most `seconds`.

        Raises
        ------
        ValueError
            If a side of the board is longer than 62 cells, or no solution is asked for.
        """
        if solutions < 1:
            raise ValueError(f"at least one solution must be looked for, not {solutions}")
        deadline = _FOREVER_NS if seconds is None else np.int64(time.monotonic_ns() + round(seconds * 1e9))
        if fault_in_clues(puzzle):
            return Result("unsolvable", exhausted=True)
        state = self._load(puzzle)
        if start is not None:
            state.start[BLACK], state.start[WHITE] = line_masks(start)
        width, height = u64(puzzle.width), u64(puzzle.height)
        found: list[Solution] = []
        ended = FOUND
        while ended == FOUND and len(found) < solutions:
            ended = search_kernel(state, self._solver, self._level, width, height, deadline, bool(found))
            if ended == FOUND:
                found.append(Solution(_board(state, puzzle)))
        exhausted = bool(ended == EXHAUSTED)
        return Result(
            status="solved" if found else "unsolvable" if exhausted else "timeout",
            solutions=tuple(found),
            exhausted=exhausted,
            counts=dict(zip(COUNT_NAMES, state.counts.tolist(), strict=True)),
            step_seconds=seconds_of(STEP_NAMES, state.spent),
        )

    def watch(self) -> None:
        """Note the moments of every search from now on."""
        self._room = MASK(MOST_MOMENTS)

    def moments(self) -> Iterator[tuple[Moment, PartialGrid]]:
        """Yield the moments of the last search, the first MOST_MOMENTS."""
        state = self._last
        height = state.moments.shape[1] // 2
        noted = state.moments[: int(state.moment_count[0])]
        return moments_of(noted[:, -1], noted[:, :height], noted[:, height:-1], state.start.shape[1] - height)

    def deduce(self, puzzle: Puzzle, level: int) -> npt.NDArray[np.int8] | None:
        """Return what follows without a choice; see :func:`deduce`."""
        if fault_in_clues(puzzle):
            return None
        state = self._load(puzzle)
        width, height = u64(puzzle.width), u64(puzzle.height)
        if not deduce_kernel(state, self._solver, u64(level), width, height, _FOREVER_NS):
            return None
        return _board(state, puzzle)

    def _load(self, puzzle: Puzzle) -> State:
        """Put `puzzle` into the state of its board size."""
        size = puzzle.size
        if not all(1 <= side <= LONGEST_SIDE for side in size):
            raise ValueError(f"a side of a board has 1 to {LONGEST_SIDE} cells; this is {size[0]}x{size[1]}")
        if size not in self._states:
            self._states[size] = new_state(*size)
        state = self._states[size]
        state.clues.fill(0)
        for line, clue in enumerate(line_clues(puzzle)):
            state.clues[line, : len(clue)] = clue
            state.blocks[line] = len(clue)
        state.cache_age[0] += u64(1)
        state.start.fill(0)
        state.counts.fill(0)
        state.spent.fill(0)
        state.moment_count[:] = 0, self._room
        self._last = state
        return state


def _board(state: State, puzzle: Puzzle) -> npt.NDArray[np.int8]:
    return cells_of(state.grid[BLACK, : puzzle.height], state.grid[WHITE, : puzzle.height], puzzle.width)


def solve(
    puzzle: Puzzle,
    *,
    probing: str = "fp2",
    solver: str = "bitset",
    solutions: int = 1,
    seconds: float | None = None,
) -> Result:
    """Look for up to `solutions` solutions of one puzzle, for at most `seconds` (None: no limit)."""
    return PapersStrategy(probing, solver).solve(puzzle, solutions=solutions, seconds=seconds)


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
    return PapersStrategy(solver=solver).deduce(puzzle, level)
