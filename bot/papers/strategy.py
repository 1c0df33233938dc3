"""The strategy `papers`: the method of Chen & Hung and of Wu et al. 2013, complete.

`solve` and `deduce` are for a single puzzle; `PapersStrategy` keeps its memory from puzzle to puzzle.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np
import numpy.typing as npt

from nonobot.bot.exchange import Moment, Result, cells_of, line_masks, moments_of, seconds_of, unpacked
from nonobot.bot.memory import Memory
from nonobot.bot.native import load_kernel
from nonobot.bot.papers.state import COUNT_NAMES, LOG_UNIT_BITS, LONGEST_SIDE, OUTCOME, SOLVER, STEP, papers_map
from nonobot.protocol import PartialGrid, Puzzle, Solution
from nonobot.protocol.clues import fault_in_clues

__all__ = ["PROBINGS", "PapersStrategy", "deduce", "solve"]

PROBINGS = {"fp1": 1, "fp2": 2, "fp3": 3}
"""The fully probing relations by name."""

_FOREVER_NS = 2**62

_kernels: dict[str, Callable[..., int]] = {}  # those loaded: all memories are alike


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
        self._size = (0, 0)
        self._on_compile: Callable[[str], None] = lambda what: None
        self._put("solver", getattr(SOLVER, solver))
        table = self._memory.view("log_table")
        table[:] = np.round(np.log1p(np.arange(len(table))) * 2**LOG_UNIT_BITS)

    def prepare(
        self, on_compile: Callable[[str], None], size: tuple[int, int] | None = (25, 25), everything: bool = False
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
    ) -> Result:
        """Look for up to `solutions` solutions of `puzzle` that have the cells of `start`, for at most `seconds`.

        Raises
        ------
        ValueError
            If a side of the board is longer than 62 cells, or no solution is asked for.
        """
        if solutions < 1:
            raise ValueError(f"at least one solution must be looked for, not {solutions}")
        deadline = _FOREVER_NS if seconds is None else time.monotonic_ns() + round(seconds * 1e9)
        if fault_in_clues(puzzle):
            return Result("unsolvable", exhausted=True)
        self._load(puzzle, start, self._level, deadline)
        search, address, view = self._kernel("search", 1), self._memory.address, self._memory.view
        found: list[Solution] = []
        ended: int = OUTCOME.solved
        while ended == OUTCOME.solved and len(found) < solutions:
            ended = search(address, int(bool(found)))
            if ended == OUTCOME.solved:
                found.append(Solution(unpacked(view("board.black")[: puzzle.height], puzzle.width)))
        exhausted = ended == OUTCOME.unsolvable
        return Result(
            status="solved" if found else "unsolvable" if exhausted else "timeout",
            solutions=tuple(found),
            exhausted=exhausted,
            counts={name: int(view(f"counts.{name}")[0]) for name in COUNT_NAMES},
            step_seconds=seconds_of(STEP._fields, view("spent")),
        )

    def watch(self) -> None:
        """Note the moments of every search from now on."""
        self._put("moment_room", len(self._memory.view("moments")))

    def moments(self) -> Iterator[tuple[Moment, PartialGrid]]:
        """Yield the moments of the last search, the first of them if there are very many."""
        width, height = self._size
        noted = self._memory.view("moments")[: int(self._memory.view("moment_count")[0])]
        return moments_of(noted["kind"], noted["black"][:, :height], noted["white"][:, :height], width)

    def deduce(self, puzzle: Puzzle, level: int) -> npt.NDArray[np.int8] | None:
        """Return what follows without a choice; see :func:`deduce`."""
        if fault_in_clues(puzzle):
            return None
        self._load(puzzle, None, level, _FOREVER_NS)
        if self._kernel("deduce", 0)(self._memory.address) == OUTCOME.unsolvable:
            return None
        black, white = (self._memory.view(f"board.{name}")[: puzzle.height] for name in ("black", "white"))
        return cells_of(black, white, puzzle.width)

    def _kernel(self, name: str, numbers: int) -> Callable[..., int]:
        """Return a kernel of `bot.papers.search`."""
        if name not in _kernels:
            struct, on_compile = self._memory.struct, partial(self._on_compile, "the papers' search")
            _kernels[name] = load_kernel("nonobot.bot.papers.search", name, struct, numbers, on_compile)
        return _kernels[name]

    def _put(self, name: str, value: int) -> None:
        self._memory.view(name)[0] = value

    def _load(self, puzzle: Puzzle, start: PartialGrid | None, level: int, deadline: int) -> None:
        """Put a puzzle and the board to start from into the memory, and set all counts to 0."""
        view = self._memory.view
        if (puzzle.width, puzzle.height) != self._size:
            self._set_size(puzzle.width, puzzle.height)
        clues = (*puzzle.rows, *puzzle.columns)
        for line, clue in enumerate(clues):
            view("clue")[line, : len(clue)] = clue
        view("blocks")[: len(clues)] = [len(clue) for clue in clues]
        black, white = view("start.black")[: len(clues)], view("start.white")[: len(clues)]
        black[:], white[:] = (0, 0) if start is None else line_masks(start)
        self._put("level", level)
        self._put("deadline", deadline)
        view("cache_age")[0] += 1
        for name in COUNT_NAMES:
            self._put(f"counts.{name}", 0)
        view("spent").fill(0)
        self._put("moment_count", 0)

    def _set_size(self, width: int, height: int) -> None:
        _require(width, height)
        view = self._memory.view
        cells = np.arange(width * height)
        for name, value in (
            ("width", width),
            ("height", height),
            ("lines", width + height),
            ("cells", cells.size),
        ):
            self._put(name, value)
        view("length")[: width + height] = [width] * height + [height] * width
        view("row_of")[: cells.size] = cells // width
        view("column_of")[: cells.size] = cells % width
        # Of other boards; the hits that are counted are those of a strategy that began with boards of this size.
        if view("cache_age")[0]:
            view("cache")["tag"] = 0
            self._put("cache_age", 0)
        self._size = width, height


def _require(width: int, height: int) -> None:
    """Raise a ValueError for a board that there is no room for."""
    if not (min(width, height) >= 1 and max(width, height) <= LONGEST_SIDE):
        raise ValueError(
            f"the strategy papers takes boards of up to {LONGEST_SIDE} cells a side; this is {width}x{height}"
        )


_made = cache(PapersStrategy)


def _shared(probing: str, solver: str) -> PapersStrategy:
    """Return a strategy as good as new: its memory is large, and touching one for the first time takes long."""
    strategy = _made(probing, solver)
    strategy._size = (0, 0)
    return strategy


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
