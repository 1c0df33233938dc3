"""Base class of both strategies: puts puzzles into a memory, loads kernels, reads results."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar

from nonobot.bot.kernels.loading import load_kernel
from nonobot.bot.kernels.memory import Memory, Struct
from nonobot.bot.result import MOST_TRACE_EVENTS, Result, TraceEvent, grid_of, line_masks
from nonobot.protocol import DEFAULT_SIZE, PartialGrid, Puzzle, Solution
from nonobot.protocol.puzzle import fault_in_clues

_UNLIMITED = 2**62  # time in nanoseconds and number of line solves that no search reaches

OnCompile = Callable[[str, float, float], None]
"""Called as a part is compiled, with its name, and as :data:`~nonobot.bot.kernels.notices.OnCompile`."""

Size = tuple[int, int]  # width and height


def _ignored(part: str, share: float, seconds_left: float) -> None:
    """Report no compilation."""


class StoppedError(BaseException):
    """The search was stopped while its kernels were compiled; not an Exception, which numba would catch."""


class Strategy(ABC):
    """A method of solving puzzles; all its puzzles use the same memory."""

    name: ClassVar[str]
    kernels: ClassVar[str]  # module of the kernels that Python calls
    phases: ClassVar[tuple[str, ...]]  # names of the phases, in the order of `spent` in the memory

    def __init__(self) -> None:
        self._memory: Memory | None = None
        self._kernels: dict[tuple[str, str], Callable[..., int]] = {}
        self._on_compile: OnCompile = _ignored
        self._loading_ns = 0
        self._most_trace_events = 0
        self.is_stopped = False  # by :meth:`stop`

    def prepare(
        self, on_compile: OnCompile = _ignored, size: Size | None = DEFAULT_SIZE, everything: bool = False
    ) -> None:
        """Load the kernels for boards of this size; None: load nothing before the first board.

        `everything`: also load kernels that only some boards need. ValueError: the boards are too large.
        """
        self._on_compile = on_compile
        if size is not None:
            self._memory = self._memory_for(*size)
            self._load_kernels(everything)

    def solve(
        self,
        puzzle: Puzzle,
        *,
        start: PartialGrid | None = None,
        solutions: int = 1,
        seconds: float | None = None,
        line_limit: int | None = None,
    ) -> Result:
        """Search for up to `solutions` solutions of `puzzle` that have the cells of `start`.

        The search ends after `seconds`, without the loading of kernels, or after `line_limit` line solves.
        ValueError: the board is too large, or `solutions` is less than 1.
        """
        if solutions < 1:
            raise ValueError(f"the number of solutions must be at least 1, not {solutions}")
        if fault_in_clues(puzzle):
            return Result(puzzle, "unsolvable", exhausted=True)
        before = time.monotonic_ns()
        self._loading_ns = 0
        memory = self.load(puzzle, start, seconds, line_limit)
        try:
            boards, exhausted = self._search(memory, solutions)
        except StoppedError:
            boards, exhausted = [], False
        counts = memory.struct.members["counts"].layout
        assert isinstance(counts, Struct)
        return Result(
            puzzle,
            status="solved" if boards else "unsolvable" if exhausted else "timeout",
            solutions=tuple(boards),
            exhausted=exhausted,
            known=None if boards or exhausted else self._known(memory),
            seconds=(time.monotonic_ns() - before - self._loading_ns) / 1e9,
            counts={name: memory.items(f"counts.{name}")[0] for name in counts.members},
            phase_seconds={name: ns / 1e9 for name, ns in zip(self.phases, memory.items("spent"), strict=True)},
        )

    def load(
        self,
        puzzle: Puzzle,
        start: PartialGrid | None = None,
        seconds: float | None = None,
        line_limit: int | None = None,
    ) -> Memory:
        """Return the memory as it is before the search of `puzzle`, for calling single kernels."""
        self._memory = memory = self._memory_for(*puzzle.size)
        put_puzzle(memory, puzzle, start)
        self._begin(memory)
        deadline = _UNLIMITED
        if seconds is not None and seconds * 1e9 < _UNLIMITED:
            deadline = time.monotonic_ns() + round(seconds * 1e9)
        memory.items("deadline")[0] = deadline
        memory.items("most_lines")[0] = _UNLIMITED if line_limit is None else line_limit
        memory.items("trace_room")[0] = min(self._most_trace_events, memory.count("trace_events"))
        if self.is_stopped:
            self.stop()
        return memory

    def stop(self) -> None:
        """End the search of another thread, and every later search, soon; each keeps its solutions so far.

        A compilation ends after the kernel in hand, or if LLVM already optimises all, after some seconds.
        """
        self.is_stopped = True
        if self._memory:
            self._memory.items("deadline")[0] = 0

    def resume(self) -> None:
        """Allow searches again after :meth:`stop`."""
        self.is_stopped = False

    def watch(self, most: int = MOST_TRACE_EVENTS) -> None:
        """Record up to `most` trace events of each later search, as far as there is room."""
        self._most_trace_events = most

    def most_trace_events(self) -> int:
        """Return the number of trace events that the last search had room for."""
        return self._memory.items("trace_room")[0] if self._memory else 0

    def trace_events(self) -> Iterator[tuple[TraceEvent, PartialGrid]]:
        """Yield the recorded trace events of the last search, each with the board after it."""
        memory = self._memory
        if memory is None:
            return
        width, height = memory.items("width")[0], memory.items("height")[0]
        for event in memory.structs("trace_events", memory.items("trace_count")[0]):
            black, white = (event.masks(name, height) for name in ("black", "white"))
            yield TraceEvent(event.items("kind")[0]), grid_of(black, white, width)

    def report_compiling(self, part: str, share: float, seconds_left: float) -> None:
        """Report the progress of compiling a part; StoppedError: the search was stopped."""
        self._on_compile(part, share, seconds_left)
        if self.is_stopped and share < 1:
            raise StoppedError

    def _kernel(self, name: str, numbers: int, part: str) -> Callable[..., int]:
        """Return a kernel that takes the current memory and some numbers; search time excludes its loading.

        `part` is its name for `on_compile`; `{}` stands for the size of the largest boards.
        """
        memory = self._memory
        assert memory
        key = name, memory.struct.name
        kernel = self._kernels.get(key)
        if kernel:
            return kernel
        before = time.monotonic_ns()
        longest = memory.count("length") // 2
        on_compile = partial(self.report_compiling, part.format(f"{longest}x{longest}"))
        kernel = load_kernel(self.kernels, name, memory.struct, numbers, on_compile)
        self._kernels[key] = kernel
        loading = time.monotonic_ns() - before
        self._loading_ns += loading
        memory.items("deadline")[0] += loading
        if self.is_stopped:  # since this call began
            self.stop()
        return kernel

    @abstractmethod
    def _memory_for(self, width: int, height: int) -> Memory:
        """Return the memory for boards of this size; ValueError: they are too large."""

    @abstractmethod
    def _load_kernels(self, everything: bool) -> None:
        """Load the kernels that every board of the current memory needs, or all kernels."""

    @abstractmethod
    def _begin(self, memory: Memory) -> None:
        """Set the memory's members that only this strategy has, before a search."""

    def _known(self, memory: Memory) -> PartialGrid | None:
        """Return the cells that a search, which a limit ended, made known for certain; None: not recorded."""
        return None

    @abstractmethod
    def _search(self, memory: Memory, solutions: int) -> tuple[list[Solution], bool]:
        """Return up to `solutions` solutions of the puzzle in the memory, and whether these are all."""


def put_puzzle(memory: Memory, puzzle: Puzzle, start: PartialGrid | None) -> None:
    """Put a puzzle and its known cells into a memory that has room for them, and reset the counts and times."""
    items = memory.items
    width, height = puzzle.size
    if (width, height) != (items("width")[0], items("height")[0]):
        for name, numbers in (
            ("width", [width]),
            ("height", [height]),
            ("lines", [width + height]),
            ("cells", [width * height]),
            ("length", [width] * height + [height] * width),
            ("row_of", [y for y in range(height) for _ in range(width)]),
            ("column_of", [*range(width)] * height),
        ):
            room = items(name)
            room[: len(numbers)] = array(room.format, numbers)
    clues = (*puzzle.rows, *puzzle.columns)
    table, blocks = items("clue"), items("blocks")
    row_bytes = table.nbytes // memory.count("clue")
    packed = b"".join(array(table.format, clue).tobytes().ljust(row_bytes, b"\0") for clue in clues)
    table.cast("B")[: len(packed)] = packed
    blocks[: len(clues)] = array(blocks.format, map(len, clues))
    for name in ("start", "counts", "spent", "trace_count"):
        content = items(name).cast("B")
        content[:] = bytes(len(content))
    if start is not None:
        for name, masks in zip(("start.black", "start.white"), line_masks(start), strict=True):
            memory.put_masks(name, masks)
