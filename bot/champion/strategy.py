"""The strategy `champion`: propagation, belief propagation, conflict learning."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from nonobot.bot import LONGEST_SIDE as LONGEST_LINE
from nonobot.bot import STAGE_NAMES
from nonobot.bot.champion.state import (
    ALL,
    ANY,
    BLOCKS,
    BOARD,
    CELLS,
    CLUE,
    COLUMN_OF,
    COUNT_NAMES,
    COUNTS,
    DEADLINE,
    HEIGHT,
    LENGTH,
    LINES,
    MOMENT_COUNT,
    MOMENT_KIND,
    MOMENT_ROOM,
    MOMENTS,
    MOST_BLOCKS,
    MOST_LINES,
    NEXT,
    RANDOM,
    ROW_OF,
    SOLVED,
    SPENT,
    STAGES,
    START,
    STEP_NAMES,
    UNSOLVABLE,
    WIDTH,
    layout,
)
from nonobot.bot.exchange import MOST_MOMENTS, Moment, Result, line_masks, moments_of, seconds_of
from nonobot.bot.memory import Memory
from nonobot.bot.native import load_kernel
from nonobot.protocol import PartialGrid, Puzzle, Solution
from nonobot.protocol.clues import fault_in_clues

__all__ = ["ChampionStrategy"]

_FOREVER_NS = 2**62

_SEED_MIX = 0x9E3779B97F4A7C15  # odd; seeds that differ by one give random numbers that have nothing in common


class ChampionStrategy:
    """Solves puzzles by propagation, BP descents and conflict learning.

    Parameters
    ----------
    seed : int
        Of all random choices; the search is the same for the same seed on every machine, and does not depend on
        the puzzles solved before.
    without : iterable of str
        Stages to leave out, of `STAGE_NAMES`.
    """

    name = "champion"

    def __init__(self, seed: int = 0, without: Iterable[str] = ()) -> None:
        self._run_stages: Callable[..., int] | None = None
        self._memory = Memory(layout)
        self._size = (0, 0)
        self._random = ((seed + 1) * _SEED_MIX % 2**64) or 1
        self._view = {field: self._memory.view(field) for field in (BLOCKS, CLUE, COUNTS, SPENT, START, BOARD)}
        self._memory.view(STAGES)[0] = sum(
            1 << i for i, name in enumerate(STAGE_NAMES) if name not in set(without)
        )

    def prepare(self, on_compile: Callable[[], None]) -> None:
        """Load the kernels; `on_compile` is called first if they have to be compiled."""
        self._run_stages = load_kernel("nonobot.bot.champion.stages", "run_stages", 2, on_compile)

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
        self._load(puzzle, start, deadline)
        found: list[Solution] = []
        ended = self._run(ANY if solutions == 1 else ALL)
        while ended == SOLVED:
            found.append(self._solution(puzzle))
            if len(found) == solutions:
                break
            ended = self._run(NEXT)
        exhausted = bool(ended == UNSOLVABLE)
        return Result(
            status="solved" if found else "unsolvable" if exhausted else "timeout",
            solutions=tuple(found),
            exhausted=exhausted,
            counts=dict(zip(COUNT_NAMES, self._view[COUNTS].tolist(), strict=True)),
            step_seconds=seconds_of(STEP_NAMES, self._view[SPENT]),
        )

    def watch(self) -> None:
        """Note the moments of every search from now on."""
        self._memory.view(MOMENT_ROOM)[0] = MOST_MOMENTS

    def moments(self) -> Iterator[tuple[Moment, PartialGrid]]:
        """Yield the moments of the last search, the first MOST_MOMENTS."""
        width, height = self._size
        noted = self._memory.view(MOMENTS)[: int(self._memory.view(MOMENT_COUNT)[0])]
        return moments_of(noted[:, int(MOMENT_KIND)], noted[:, :height], noted[:, height : 2 * height], width)

    def _run(self, wanted: np.uint64) -> int:
        """Call the kernel."""
        if self._run_stages is None:
            self.prepare(lambda: None)
        assert self._run_stages is not None
        return self._run_stages(self._memory.address, wanted)

    def _load(self, puzzle: Puzzle, start: PartialGrid | None, deadline: int) -> None:
        """Put `puzzle` and the board to start from into the memory."""
        size = puzzle.width, puzzle.height
        if size != self._size:
            self._set_size(*size)
        clues = (*puzzle.rows, *puzzle.columns)
        packed = b"".join(bytes(clue).ljust(MOST_BLOCKS, b"\0") for clue in clues)
        self._view[CLUE][: len(clues)] = np.frombuffer(packed, np.uint8).reshape(len(clues), MOST_BLOCKS)
        self._view[BLOCKS][: len(clues)] = [len(clue) for clue in clues]
        self._view[START].fill(0)
        if start is not None:
            self._view[START].reshape(2, MOST_LINES)[:, : len(clues)] = line_masks(start)
        self._view[COUNTS].fill(0)
        self._view[SPENT].fill(0)
        self._memory.view(MOMENT_COUNT)[0] = 0
        self._memory.view(DEADLINE)[0] = deadline
        self._memory.view(RANDOM)[0] = self._random

    def _set_size(self, width: int, height: int) -> None:
        if not (1 <= width <= LONGEST_LINE and 1 <= height <= LONGEST_LINE):
            raise ValueError(f"a side of a board has 1 to {LONGEST_LINE} cells; this is {width}x{height}")
        view = self._memory.view
        cells = np.arange(width * height)
        for field, value in ((WIDTH, width), (HEIGHT, height), (LINES, width + height), (CELLS, width * height)):
            view(field)[0] = value
        view(LENGTH)[: width + height] = [width] * height + [height] * width
        view(ROW_OF)[: cells.size] = cells // width
        view(COLUMN_OF)[: cells.size] = cells % width
        self._size = width, height

    def _solution(self, puzzle: Puzzle) -> Solution:
        rows = self._view[BOARD][: puzzle.height, np.newaxis]
        return Solution((rows >> np.arange(puzzle.width, dtype=np.uint64) & np.uint64(1)).astype(np.uint8))
