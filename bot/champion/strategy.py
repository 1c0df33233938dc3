"""The strategy `champion`: propagation, belief propagation, conflict learning."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from nonobot.bot import LONGEST_SIDE, STAGE_NAMES
from nonobot.bot.champion.state import MOST_VARIABLES, OUTCOME, STEP, WANTED, champion_map
from nonobot.bot.kernels.loading import load_kernel
from nonobot.bot.kernels.memory import Memory
from nonobot.bot.result import (
    FOREVER_NS,
    MOST_TRACE_EVENTS,
    UNLIMITED,
    Result,
    TraceEvent,
    deadline_after,
    put_puzzle,
    result_of,
    solution_of,
    trace_events_in,
)
from nonobot.protocol import DEFAULT_SIZE, PartialGrid, Puzzle, Solution
from nonobot.protocol.clues import fault_in_clues

__all__ = ["MASK_BITS", "ChampionStrategy"]

MASK_BITS = (64, 128, 256, 512, 1024)
"""Widths of masks that kernels are compiled for; each takes boards of up to two cells less a side."""

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
        self._most_trace_events = 0
        self._is_stopped = False
        self._on_compile: Callable[[str], None] = lambda what: None

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
        line_limit: int | None = None,
    ) -> Result:
        """Look for up to `solutions` solutions of `puzzle` that have the cells of `start`, for at most `seconds`.

        After `line_limit` painted lines the search is given up too, on every machine at the same place.

        Raises
        ------
        ValueError
            If the board is too large, or no solution is asked for.
        """
        if solutions < 1:
            raise ValueError(f"at least one solution must be looked for, not {solutions}")
        if fault_in_clues(puzzle):
            return Result("unsolvable", exhausted=True)
        memory = self.load(puzzle, start)
        engine, items = self._engine_for(puzzle.width, puzzle.height), memory.items
        before = time.monotonic_ns()
        propagate = engine.propagate
        loading = time.monotonic_ns() - before  # what had to be compiled is not the puzzle's time
        items("deadline")[0] = deadline_after(seconds)
        items("most_lines")[0] = UNLIMITED if line_limit is None else line_limit
        if self._is_stopped:
            self.stop()
        found: list[Solution] = []
        ended = propagate(memory.address)
        if ended == OUTCOME.solved:
            found.append(solution_of(memory))
            ended = OUTCOME.unsolvable  # there is no other
        elif ended == OUTCOME.open:
            before = time.monotonic_ns()
            search = engine.search
            items("deadline")[0] += time.monotonic_ns() - before
            if self._is_stopped:  # meanwhile
                self.stop()
            loading += time.monotonic_ns() - before
            ended = search(memory.address, WANTED.any if solutions == 1 else WANTED.all)
            if ended == OUTCOME.too_large:
                size = f"{puzzle.width}x{puzzle.height}"
                raise ValueError(f"{size}: what line logic leaves open needs over {MOST_VARIABLES:,} variables")
            while ended == OUTCOME.solved:
                found.append(solution_of(memory))
                if len(found) == solutions:
                    break
                ended = search(memory.address, WANTED.next)
        return result_of(memory, found, bool(ended == OUTCOME.unsolvable), STEP._fields, loading)

    def load(self, puzzle: Puzzle, start: PartialGrid | None = None) -> Memory:
        """Return the memory as it is before the search of `puzzle`, for kernels that are called one by one."""
        self._engine = engine = self._engine_for(puzzle.width, puzzle.height)
        put_puzzle(engine.memory, puzzle, start)
        for name, value in (("random", self._random), ("deadline", FOREVER_NS), ("most_lines", UNLIMITED)):
            engine.memory.items(name)[0] = value
        return engine.memory

    def stop(self) -> None:
        """Let the search that another thread is in return soon, with what it has, and every one after it."""
        self._is_stopped = True
        if self._engine:
            self._engine.memory.items("deadline")[0] = 0

    def watch(self, most: int = MOST_TRACE_EVENTS) -> None:
        """Record the trace events of every search from now on, the first ones, up to `most` of each."""
        self._most_trace_events = min(most, MOST_TRACE_EVENTS)

    def trace_events(self) -> Iterator[tuple[TraceEvent, PartialGrid]]:
        """Yield the trace events of the last search, the first of them if there are very many."""
        return trace_events_in(self._engine.memory) if self._engine else iter(())

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
            engine.memory.items("stages")[0] = self._stages
            self._engines[bits] = engine
        engine = self._engines[bits]
        engine.memory.items("trace_room")[0] = min(self._most_trace_events, engine.memory.count("trace_events"))
        return engine
