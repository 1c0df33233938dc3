"""The strategy `champion`: propagation, belief propagation, conflict learning."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from nonobot.bot.champion.state import COUNT_NAMES, OUTCOME, STEP, WANTED, champion_map
from nonobot.bot.exchange import MOST_MOMENTS, Moment, Result, line_masks, moments_of, seconds_of
from nonobot.bot.limits import LONGEST_LINE, STAGE_NAMES
from nonobot.bot.memory import Memory
from nonobot.bot.native import load_kernel
from nonobot.protocol import PartialGrid, Puzzle, Solution
from nonobot.protocol.faults import fault_in_clues

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
        self._memory = Memory(champion_map(64))
        self._size = (0, 0)
        self._random = ((seed + 1) * _SEED_MIX % 2**64) or 1
        self._view = self._memory.view
        self._view("stages")[0] = sum(
            1 << i for i, name in enumerate(STAGE_NAMES) if name not in set(without)
        )

    def prepare(self, on_compile: Callable[[], None]) -> None:
        """Load the kernels; `on_compile` is called first if they have to be compiled."""
        self._run_stages = load_kernel(
            "nonobot.bot.champion.stages", "run_stages", self._memory.struct, 1, on_compile
        )

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
        ended = self._run(WANTED.any if solutions == 1 else WANTED.all)
        while ended == OUTCOME.solved:
            found.append(self._solution(puzzle))
            if len(found) == solutions:
                break
            ended = self._run(WANTED.next)
        exhausted = bool(ended == OUTCOME.unsolvable)
        return Result(
            status="solved" if found else "unsolvable" if exhausted else "timeout",
            solutions=tuple(found),
            exhausted=exhausted,
            counts={name: int(self._view(f"counts.{name}")[0]) for name in COUNT_NAMES},
            step_seconds=seconds_of(STEP._fields, self._view("spent")),
        )

    def watch(self) -> None:
        """Note the moments of every search from now on."""
        self._view("moment_room")[0] = MOST_MOMENTS

    def moments(self) -> Iterator[tuple[Moment, PartialGrid]]:
        """Yield the moments of the last search, the first MOST_MOMENTS."""
        width, height = self._size
        noted = self._view("moments")[: int(self._view("moment_count")[0])]
        return moments_of(noted["kind"], noted["black"][:, :height], noted["white"][:, :height], width)

    def _run(self, wanted: int) -> int:
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
        table = self._view("clue")
        most = table.shape[1]
        table[: len(clues)] = [[*clue, *[0] * (most - len(clue))] for clue in clues]
        self._view("blocks")[: len(clues)] = [len(clue) for clue in clues]
        given = np.zeros((2, len(clues)), np.uint64) if start is None else line_masks(start)
        self._view("start.black")[: len(clues)], self._view("start.white")[: len(clues)] = given
        for name in COUNT_NAMES:
            self._view(f"counts.{name}")[0] = 0
        self._view("spent").fill(0)
        self._view("moment_count")[0] = 0
        self._view("deadline")[0] = deadline
        self._view("random")[0] = self._random

    def _set_size(self, width: int, height: int) -> None:
        if not (1 <= width <= LONGEST_LINE and 1 <= height <= LONGEST_LINE):
            raise ValueError(f"a side of a board has 1 to {LONGEST_LINE} cells; this is {width}x{height}")
        view = self._view
        cells = np.arange(width * height)
        for name, value in (("width", width), ("height", height), ("lines", width + height), ("cells", cells.size)):
            view(name)[0] = value
        view("length")[: width + height] = [width] * height + [height] * width
        view("row_of")[: cells.size] = cells // width
        view("column_of")[: cells.size] = cells % width
        self._size = width, height

    def _solution(self, puzzle: Puzzle) -> Solution:
        rows = self._view("board.black")[: puzzle.height, np.newaxis]
        return Solution((rows >> np.arange(puzzle.width, dtype=np.uint64) & np.uint64(1)).astype(np.uint8))
