"""The strategy `champion`: propagation, belief propagation, conflict learning."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

import numpy as np

from nonobot.bot import LONGEST_SIDE, STAGE_NAMES
from nonobot.bot.champion.state import COUNT_NAMES, MOST_VARIABLES, OUTCOME, STEP, WANTED, champion_map
from nonobot.bot.exchange import Moment, Result, line_masks, moments_of, seconds_of, unpacked
from nonobot.bot.memory import Memory
from nonobot.bot.native import load_kernel
from nonobot.protocol import PartialGrid, Puzzle, Solution
from nonobot.protocol.clues import fault_in_clues

__all__ = ["MASK_BITS", "ChampionStrategy"]

MASK_BITS = (64, 128, 256, 512, 1024)
"""Widths of masks that kernels are compiled for; each takes boards of up to two cells less a side."""

_FOREVER_NS = 2**62

_SEED_MIX = 0x9E3779B97F4A7C15  # odd; seeds that differ by one give random numbers that have nothing in common


class _Engine:
    """The memory and the kernels for boards of up to `bits` - 2 cells a side, each loaded when it is needed.

    Parameters
    ----------
    bits : int
        Of a mask.
    on_compile : callable
        Told what has to be compiled before it is.
    """

    def __init__(self, bits: int, on_compile: Callable[[str], None]) -> None:
        self.memory = Memory(champion_map(bits))
        self.size = (0, 0)
        self.bits = bits
        self._on_compile = on_compile

    @cached_property
    def propagate(self) -> Callable[..., int]:
        """`stages.propagate_root`."""
        return self._kernel("propagate_root", 0, "line logic")

    @cached_property
    def search(self) -> Callable[..., int]:
        """`stages.search`."""
        return self._kernel("search", 1, "the search")

    def _kernel(self, name: str, numbers: int, what: str) -> Callable[..., int]:
        def on_compile() -> None:
            self._on_compile(f"{what} for boards of up to {self.bits - 2} cells a side")

        return load_kernel("nonobot.bot.champion.stages", name, self.memory.struct, numbers, on_compile)

    def load(self, puzzle: Puzzle, start: PartialGrid | None) -> None:
        """Put a puzzle and the board to start from into the memory, and set all counts to 0."""
        view = self.memory.view
        if (puzzle.width, puzzle.height) != self.size:
            self._set_size(puzzle.width, puzzle.height)
        clues = (*puzzle.rows, *puzzle.columns)
        table = view("clue")
        row_bytes = table.strides[0]
        packed = b"".join(array(table.dtype.char, clue).tobytes().ljust(row_bytes, b"\0") for clue in clues)
        table[: len(clues)] = np.frombuffer(packed, table.dtype).reshape(len(clues), -1)
        view("blocks")[: len(clues)] = [len(clue) for clue in clues]
        black, white = view("start.black")[: len(clues)], view("start.white")[: len(clues)]
        if start is None:
            black.fill(0)
            white.fill(0)
        else:
            black[:], white[:] = line_masks(start, black.shape[1:])
        for name in COUNT_NAMES:
            view(f"counts.{name}")[0] = 0
        view("spent").fill(0)
        view("moment_count")[0] = 0

    def _set_size(self, width: int, height: int) -> None:
        view = self.memory.view
        cells = np.arange(width * height)
        for name, value in (
            ("width", width),
            ("height", height),
            ("lines", width + height),
            ("cells", cells.size),
        ):
            view(name)[0] = value
        view("length")[: width + height] = [width] * height + [height] * width
        view("row_of")[: cells.size] = cells // width
        view("column_of")[: cells.size] = cells % width
        self.size = width, height

    def solution(self) -> Solution:
        """Return the board as a solution."""
        width, height = self.size
        return Solution(unpacked(self.memory.view("board.black")[:height], width))


class ChampionStrategy:
    """Solves puzzles by propagation, BP descents and conflict learning.

    Parameters
    ----------
    seed : int
        Of all random choices; the search is the same for the same seed on every machine, and does not depend on
        the puzzles solved before.
    without : iterable of str
        Stages to leave out, of `STAGE_NAMES`.
    least_bits : int
        Masks have so many bits or more, of `MASK_BITS`, however small the board: for tests and benchmarks.
    """

    name = "champion"

    def __init__(self, seed: int = 0, without: Iterable[str] = (), least_bits: int = MASK_BITS[0]) -> None:
        self._random = ((seed + 1) * _SEED_MIX % 2**64) or 1
        left_out = set(without)
        self._stages = sum(1 << i for i, name in enumerate(STAGE_NAMES) if name not in left_out)
        self._least_bits = least_bits
        self._engines: dict[int, _Engine] = {}
        self._engine: _Engine | None = None
        self._is_watched = False
        self._on_compile: Callable[[str], None] = lambda what: None

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
            The search too. Otherwise, on boards of more than 62 cells a side, it waits for the first one that line
            logic leaves open: most pictures have no need of it.

        Raises
        ------
        ValueError
            If a side is too long.
        """
        self._on_compile = on_compile
        if size is None:
            return
        engine = self._engine_for(*size)
        _ = engine.propagate
        if everything or engine.bits == MASK_BITS[0]:
            _ = engine.search

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
            If the board is too large, or no solution is asked for.
        """
        if solutions < 1:
            raise ValueError(f"at least one solution must be looked for, not {solutions}")
        deadline = _FOREVER_NS if seconds is None else time.monotonic_ns() + round(seconds * 1e9)
        if fault_in_clues(puzzle):
            return Result("unsolvable", exhausted=True)
        self._engine = engine = self._engine_for(puzzle.width, puzzle.height)
        engine.load(puzzle, start)
        memory = engine.memory
        memory.view("deadline")[0] = deadline
        memory.view("random")[0] = self._random
        found: list[Solution] = []
        ended = engine.propagate(memory.address)
        if ended == OUTCOME.solved:
            found.append(engine.solution())
            ended = OUTCOME.unsolvable  # there is no other
        elif ended == OUTCOME.open:
            before = time.monotonic_ns()
            search = engine.search
            if seconds is not None:  # it may have had to be compiled, and that is not the puzzle's time
                memory.view("deadline")[0] = deadline + time.monotonic_ns() - before
            ended = search(memory.address, WANTED.any if solutions == 1 else WANTED.all)
            if ended == OUTCOME.too_large:
                size = f"{puzzle.width}x{puzzle.height}"
                raise ValueError(f"{size}: what line logic leaves open needs over {MOST_VARIABLES:,} variables")
            while ended == OUTCOME.solved:
                found.append(engine.solution())
                if len(found) == solutions:
                    break
                ended = search(memory.address, WANTED.next)
        exhausted = bool(ended == OUTCOME.unsolvable)
        return Result(
            status="solved" if found else "unsolvable" if exhausted else "timeout",
            solutions=tuple(found),
            exhausted=exhausted,
            counts={name: int(memory.view(f"counts.{name}")[0]) for name in COUNT_NAMES},
            step_seconds=seconds_of(STEP._fields, memory.view("spent")),
        )

    def watch(self) -> None:
        """Note the moments of every search from now on."""
        self._is_watched = True

    def moments(self) -> Iterator[tuple[Moment, PartialGrid]]:
        """Yield the moments of the last search, the first of them if there are very many."""
        if self._engine is None:
            return iter(())
        width, height = self._engine.size
        view = self._engine.memory.view
        noted = view("moments")[: int(view("moment_count")[0])]
        return moments_of(noted["kind"], noted["black"][:, :height], noted["white"][:, :height], width)

    def _engine_for(self, width: int, height: int) -> _Engine:
        longest = max(width, height)
        if not (min(width, height) >= 1 and longest <= LONGEST_SIDE):
            raise ValueError(f"a side of a board has 1 to {LONGEST_SIDE} cells; this is {width}x{height}")
        bits = next(bits for bits in MASK_BITS if bits >= self._least_bits and longest <= bits - 2)
        if bits not in self._engines:
            try:
                engine = _Engine(bits, lambda what: self._on_compile(what))
            except MemoryError:
                megabytes = champion_map(bits).size >> 20
                raise ValueError(
                    f"{width}x{height}: there is no room for the tables of such boards, up to {megabytes:,} MiB"
                ) from None
            engine.memory.view("stages")[0] = self._stages
            self._engines[bits] = engine
        engine = self._engines[bits]
        moments = engine.memory.view("moments")
        engine.memory.view("moment_room")[0] = len(moments) if self._is_watched else 0
        return engine
