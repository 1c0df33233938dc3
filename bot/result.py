"""What goes into a strategy and what comes out: boards to start from, results, trace events."""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal, NamedTuple

from nonobot.bot.kernels.memory import Memory, Struct, masks_in
from nonobot.protocol import BLACK, UNKNOWN, WHITE, PartialGrid, Puzzle, Solution

__all__ = [
    "FOREVER_NS",
    "MOST_TRACE_EVENTS",
    "TRACE",
    "UNLIMITED",
    "Result",
    "Status",
    "TraceEvent",
    "deadline_after",
    "grid_of",
    "line_masks",
    "put_puzzle",
    "result_of",
    "solution_of",
    "trace_events_in",
]

FOREVER_NS = 2**62
"""A deadline that does not come."""

UNLIMITED = 2**62
"""Lines that no search paints."""


_IS_BLACK = bytes.maketrans(b"01", bytes((WHITE, BLACK)))
_COLOURS = bytes.maketrans(b"012", bytes((UNKNOWN % 256, BLACK, WHITE)))
_BLACK_CELLS = bytes.maketrans(bytes((UNKNOWN % 256, BLACK, WHITE)), b"010")
_WHITE_CELLS = bytes.maketrans(bytes((UNKNOWN % 256, BLACK, WHITE)), b"001")
"""Cells as digits, and back."""


def deadline_after(seconds: float | None) -> int:
    """Return the time, on the kernels' clock, when `seconds` have gone by; None, or a century and more: never."""
    if seconds is None or seconds * 1e9 >= FOREVER_NS:
        return FOREVER_NS
    return time.monotonic_ns() + round(seconds * 1e9)


def put_puzzle(memory: Memory, puzzle: Puzzle, start: PartialGrid | None) -> None:
    """Put a puzzle and the board to start from into a solver's memory, and set its records to 0.

    Parameters
    ----------
    memory : Memory
        Of a map with the members that both strategies have: the board's size, the places of its cells, `clue`
        and `blocks`, `start`, `counts`, `spent` and `trace_count`.
    puzzle : Puzzle
        There is room for it.
    start : PartialGrid or None
    """
    items = memory.items
    if puzzle.size != (items("width")[0], items("height")[0]):
        _put_size(memory, *puzzle.size)
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


def _put_size(memory: Memory, width: int, height: int) -> None:
    """Put a board's size into a solver's memory, and the places of its cells."""
    items = memory.items
    for name, number in (
        ("width", width),
        ("height", height),
        ("lines", width + height),
        ("cells", width * height),
    ):
        items(name)[0] = number
    for name, numbers in (
        ("length", [width] * height + [height] * width),
        ("row_of", [y for y in range(height) for _ in range(width)]),
        ("column_of", [*range(width)] * height),
    ):
        room = items(name)
        room[: len(numbers)] = array(room.format, numbers)


def solution_of(memory: Memory) -> Solution:
    """Return the board in a solver's memory, which is full."""
    width, height = memory.items("width")[0], memory.items("height")[0]
    digits = _digits(memory.masks("board.black", height), width)
    return Solution.from_bytes(digits.translate(_IS_BLACK), (width, height))


def _digits(masks: Sequence[int], width: int) -> bytes:
    """Return the cells of rows, row after row: `1` where one is in the set, else `0`."""
    form = f"0{width}b"
    return "".join([format(mask, form) for mask in reversed(masks)]).encode()[::-1]


def line_masks(grid: PartialGrid) -> tuple[list[int], list[int]]:
    """Return the black and the white cells of every line of a board, rows first: bit i is cell i of the line."""
    lines = grid.rows + grid.columns
    black, white = ([int(line.translate(one)[::-1], 2) for line in lines] for one in (_BLACK_CELLS, _WHITE_CELLS))
    return black, white


def grid_of(black: Sequence[int], white: Sequence[int], width: int) -> PartialGrid:
    """Return the board whose rows have these black and these white cells: bit x is cell x of the row."""
    # A digit a cell, of numbers in base 16, so that one addition combines all of them.
    both = int(_digits(black, width), 16) + 2 * int(_digits(white, width), 16)
    cells = f"{both:0{len(black) * width}x}".encode()
    return PartialGrid.from_bytes(cells.translate(_COLOURS), (width, len(black)))


Status = Literal["solved", "unsolvable", "timeout"]


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one puzzle.

    Attributes
    ----------
    status : {'solved', 'unsolvable', 'timeout'}
        'solved' with at least one solution, even if the time ran out while looking for more.
    solutions : tuple of Solution
        As many as were asked for, or as there are.
    exhausted : bool
        The whole search space was looked at: there are no other solutions.
    counts : dict of str to int
        Exact counts of the search, the same on every machine.
    step_seconds : dict of str to float
        Where the time of the search went, by the steps of the strategy.
    loading_seconds : float
        What it took beside the search to load kernels, or to compile them: as a rule 0, but for the first boards.
    """

    status: Status
    solutions: tuple[Solution, ...] = ()
    exhausted: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    step_seconds: dict[str, float] = field(default_factory=dict)
    loading_seconds: float = 0.0

    @property
    def verdict(self) -> Literal["unique", "multiple", "unsolvable", "unknown"]:
        """What is known about the number of solutions."""
        if len(self.solutions) > 1:
            return "multiple"
        if not self.exhausted:
            return "unknown"
        return "unique" if self.solutions else "unsolvable"


def _counts_in(memory: Memory) -> dict[str, int]:
    counts = memory.struct.members["counts"].what
    assert isinstance(counts, Struct)
    return {name: memory.items(f"counts.{name}")[0] for name in counts.members}


def result_of(
    memory: Memory, found: Sequence[Solution], exhausted: bool, steps: Sequence[str], loading_ns: int
) -> Result:
    """Return the outcome of a search with what its memory has recorded; `steps` names its times in `spent`."""
    return Result(
        status="solved" if found else "unsolvable" if exhausted else "timeout",
        solutions=tuple(found),
        exhausted=exhausted,
        counts=_counts_in(memory),
        step_seconds={name: spent / 1e9 for name, spent in zip(steps, memory.items("spent"), strict=True)},
        loading_seconds=loading_ns / 1e9,
    )


MOST_TRACE_EVENTS = 1 << 14
"""So many trace events of one search are kept, the first ones."""


class TraceEvent(IntEnum):
    """What had just happened.

    PAINTED: lines told cells. PROBED: probing told cells. GUESSED: a cell was assumed. TAKEN_BACK: what followed
    from an assumption was. RESTARTED: so were all assumptions.
    """

    PAINTED = 0
    PROBED = 1
    GUESSED = 2
    TAKEN_BACK = 3
    RESTARTED = 4


class _TraceEvents(NamedTuple):
    painted: int = int(TraceEvent.PAINTED)
    probed: int = int(TraceEvent.PROBED)
    guessed: int = int(TraceEvent.GUESSED)
    taken_back: int = int(TraceEvent.TAKEN_BACK)
    restarted: int = int(TraceEvent.RESTARTED)


TRACE = _TraceEvents()
"""The same, as kernels note them."""


def trace_events_in(memory: Memory) -> Iterator[tuple[TraceEvent, PartialGrid]]:
    """Yield the trace events in a memory with their boards, up to `MOST_TRACE_EVENTS`."""
    width, height = memory.items("width")[0], memory.items("height")[0]
    noted = memory.view("trace_events")[: memory.items("trace_count")[0]]
    for kind, black, white in zip(noted["kind"].tolist(), noted["black"], noted["white"], strict=True):
        rows = [masks_in(masks[:height].tobytes(), masks[0].nbytes) for masks in (black, white)]
        yield TraceEvent(kind), grid_of(rows[0], rows[1], width)
