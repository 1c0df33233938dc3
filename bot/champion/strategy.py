"""The strategy `champion`: propagation, belief propagation, conflict learning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nonobot.bot import IN_BROWSER, LONGEST_SIDE, STAGE_NAMES
from nonobot.bot.champion.state import LARGE, OUTCOME, PART, PHASE, SMALL, WANTED, Room, champion_map
from nonobot.bot.kernels.memory import MASK_BITS, Memory, Struct
from nonobot.bot.result import grid_of, solution_of
from nonobot.bot.strategy import StoppedError, Strategy
from nonobot.protocol import PartialGrid, Puzzle, Solution
from nonobot.protocol.puzzle import fault_in_clues

_SEED_MIX = 0x9E3779B97F4A7C15  # odd; so seeds that differ by one give unrelated random numbers

_PROPAGATE = ("propagate_root", 0, "line logic for boards of up to {}")
_SEARCH = ("search", 1, "the search for boards of up to {}")


class ChampionStrategy(Strategy):
    """Solves puzzles by propagation, BP descents and conflict learning, without some stages of `STAGE_NAMES`.

    The search depends only on the puzzle and the seed of all random choices. For tests and benchmarks,
    `least_bits` is the smallest width of masks, one of `MASK_BITS`, and `room` has the capacities.
    """

    name = "champion"
    kernels = "nonobot.bot.champion.stages"
    phases = PHASE._fields

    def __init__(
        self,
        seed: int = 0,
        without: Iterable[str] = (),
        least_bits: int = MASK_BITS[0],
        room: Room = SMALL if IN_BROWSER else LARGE,
    ) -> None:
        super().__init__()
        self._random = ((seed + 1) * _SEED_MIX % 2**64) or 1
        left_out = set(without)
        self._stages = sum(1 << i for i, name in enumerate(STAGE_NAMES) if name not in left_out)
        self._least_bits = least_bits
        self._room = room
        self._memories: dict[int, Memory] = {}
        self._has_learned = False  # whether the memory has what a search learned

    def _memory_for(self, width: int, height: int) -> Memory:
        longest = max(width, height)
        if longest > LONGEST_SIDE:
            raise ValueError(f"a {width}x{height} board is too large; the limit is {LONGEST_SIDE} rows or columns")
        bits = next(bits for bits in MASK_BITS if bits >= self._least_bits and longest <= bits - 2)
        struct = champion_map(bits, self._room)
        end = None if self._room == LARGE else PART.trace if self._most_trace_events else PART.root
        try:
            if bits not in self._memories:
                if end:
                    self._release_memories()
                self._memories[bits] = Memory(struct, end)
            self._memories[bits].extend(end)
        except MemoryError:
            self._release_memories()
            raise _no_room((width, height), struct) from None
        return self._memories[bits]

    def _release_memories(self) -> None:
        for memory in self._memories.values():
            memory.release()
        self._memories.clear()
        self._memory = None

    def _load_kernels(self, everything: bool) -> None:
        """Load line logic, then the search: most larger pictures do not need the search."""
        self._kernel(*_PROPAGATE)
        if everything or self._memory is self._memories.get(MASK_BITS[0]):
            self._kernel(*_SEARCH)

    def _begin(self, memory: Memory) -> None:
        memory.items("random")[0] = self._random
        memory.items("stages")[0] = self._stages

    def _search(self, memory: Memory, solutions: int) -> tuple[list[Solution], bool]:
        self._has_learned = False
        outcome = self._kernel(*_PROPAGATE)(memory.address)
        if outcome == OUTCOME.solved:
            return [solution_of(memory)], True
        if outcome != OUTCOME.open:
            return [], outcome == OUTCOME.unsolvable
        size = memory.items("width")[0], memory.items("height")[0]
        try:
            memory.extend()
        except MemoryError:
            self._release_memories()
            raise _no_room(size, memory.struct) from None
        search = self._kernel(*_SEARCH)
        memory.put_masks("root_known", [0] * sum(size))
        self._has_learned = True
        boards: list[Solution] = []
        outcome = search(memory.address, WANTED.any if solutions == 1 else WANTED.all)
        if outcome == OUTCOME.too_large:
            needed = f"over {self._room.variables:,} variables"
            raise ValueError(f"{size[0]}x{size[1]}: what line logic leaves open needs {needed}")
        while outcome == OUTCOME.solved:
            boards.append(solution_of(memory))
            if len(boards) == solutions:
                break
            outcome = search(memory.address, WANTED.next)
        return boards, outcome == OUTCOME.unsolvable

    def each(self, puzzle: Puzzle, start: PartialGrid | None = None) -> Iterator[Solution]:
        """Yield all solutions of `puzzle` that have the cells of `start`, each before the search for the next one.

        Nothing else may use this strategy meanwhile. :meth:`stop` ends the search early.
        """
        if fault_in_clues(puzzle):
            return
        memory = self.load(puzzle, start)
        try:
            boards, _ = self._search(memory, 2)
        except StoppedError:
            return
        yield from boards
        if boards[1:]:
            search = self._kernel(*_SEARCH)
            while search(memory.address, WANTED.next) == OUTCOME.solved:
                yield solution_of(memory)

    def _known(self, memory: Memory) -> PartialGrid:
        """Return what propagation and the learned clauses made known, without the search's assumptions."""
        width, height = memory.items("width")[0], memory.items("height")[0]
        known = memory.masks("root_known", height) if self._has_learned else [0] * height

        def rows(colour: str) -> list[int]:
            boards = (memory.masks(f"{board}.{colour}", height) for board in ("root", "board"))
            return [root | (cells & for_good) for root, cells, for_good in zip(*boards, known, strict=True)]

        return grid_of(rows("black"), rows("white"), width)


def _no_room(size: tuple[int, int], struct: Struct) -> ValueError:
    megabytes = struct.size >> 20
    return ValueError(f"{size[0]}x{size[1]}: not enough memory for the tables, up to {megabytes:,} MiB")
