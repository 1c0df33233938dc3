"""The strategy `papers`: the method of Chen & Hung and of Wu et al. 2013, complete."""

from __future__ import annotations

from collections import defaultdict
from math import log1p
from typing import TYPE_CHECKING

from nonobot.bot.kernels.memory import Memory
from nonobot.bot.papers.state import LOG_UNIT_BITS, LONGEST_SIDE, OUTCOME, PHASE, SOLVER, papers_map
from nonobot.bot.result import grid_of, solution_of
from nonobot.bot.strategy import Strategy
from nonobot.protocol import PartialGrid, Puzzle, Solution
from nonobot.protocol.puzzle import fault_in_clues

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PROBINGS = {"fp1": 1, "fp2": 2, "fp3": 3}  # the fully probing relations by name
_SEARCH = ("search", 1, "the papers' search")
_DEDUCE = ("deduce", 0, "the papers' search")


class PapersStrategy(Strategy):
    """Solves puzzles by propagation, fully probing (one of `PROBINGS`) and backtracking, with one of SOLVER."""

    name = "papers"
    kernels = "nonobot.bot.papers.search"
    phases = PHASE._fields

    def __init__(self, probing: str = "fp1", solver: str = "bitset") -> None:
        super().__init__()
        self._level = PROBINGS[probing]
        try:
            self._memory = memory = Memory(papers_map())
        except MemoryError:
            raise ValueError(f"not enough memory for the tables, {papers_map().size >> 20} MiB") from None
        memory.items("solver")[0] = getattr(SOLVER, solver)
        table = memory.items("log_table")
        for number in range(len(table)):
            table[number] = round(log1p(number) * 2**LOG_UNIT_BITS)

    def deduce(self, puzzle: Puzzle, level: int, start: PartialGrid | None) -> npt.NDArray[np.int8] | None:
        """Return the cells that follow without a choice; see :func:`deduce`."""
        if fault_in_clues(puzzle):
            return None
        memory = self.load(puzzle, start)
        memory.items("level")[0] = level
        if self._kernel(*_DEDUCE)(memory.address) == OUTCOME.unsolvable:
            return None
        black, white = (memory.masks(f"board.{name}", puzzle.height) for name in ("black", "white"))
        return grid_of(black, white, puzzle.width).cells

    def _memory_for(self, width: int, height: int) -> Memory:
        if max(width, height) > LONGEST_SIDE:
            limit = f"boards of up to {LONGEST_SIDE} cells a side"
            raise ValueError(f"the strategy papers takes {limit}; this is {width}x{height}")
        assert self._memory
        return self._memory

    def _load_kernels(self, everything: bool) -> None:
        self._kernel(*_SEARCH)

    def _begin(self, memory: Memory) -> None:
        memory.items("cache_age")[0] += 1
        memory.items("level")[0] = self._level

    def _search(self, memory: Memory, solutions: int) -> tuple[list[Solution], bool]:
        search = self._kernel(*_SEARCH)
        boards: list[Solution] = []
        outcome: int = OUTCOME.solved
        while outcome == OUTCOME.solved and len(boards) < solutions:
            outcome = search(memory.address, int(bool(boards)))
            if outcome == OUTCOME.solved:
                boards.append(solution_of(memory))
        return boards, outcome == OUTCOME.unsolvable


def deduce(
    puzzle: Puzzle, level: int, solver: str = "bitset", start: PartialGrid | None = None
) -> npt.NDArray[np.int8] | None:
    """Return the cells that follow without a choice, shape (height, width): 1 black, 0 white, -1 unknown.

    `level` 0: propagation alone; 1, 2, 3: FP1, FP2, FP3 to their fixpoint. `start` contains cells known at the
    start. None: the puzzle has no solution.
    """
    try:
        strategy = _idle[solver].pop()  # another thread may use another one
    except IndexError:
        strategy = PapersStrategy("fp1", solver)
    cells = strategy.deduce(puzzle, level, start)
    _idle[solver].append(strategy)
    return cells


_idle: defaultdict[str, list[PapersStrategy]] = defaultdict(list)  # each has a large memory and starts slowly
