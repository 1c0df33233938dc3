"""What goes into a strategy and what comes out: boards to start from, results, moments of the search."""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from nonobot.bot.memory import Memory, Struct
from nonobot.protocol import BLACK, UNKNOWN, WHITE, PartialGrid, Puzzle, Solution

__all__ = [
    "FOREVER_NS",
    "MOMENT",
    "MOST_MOMENTS",
    "UNLIMITED",
    "Moment",
    "Result",
    "Status",
    "cells_of",
    "deadline_after",
    "line_masks",
    "moments_of",
    "put_puzzle",
    "result_of",
    "solution_of",
]

FOREVER_NS = 2**62
"""A deadline that does not come."""

UNLIMITED = 2**62
"""Lines that no search paints."""


def deadline_after(seconds: float | None) -> int:
    """Return the time, on the kernels' clock, when `seconds` have gone by; None: never."""
    return FOREVER_NS if seconds is None else time.monotonic_ns() + round(seconds * 1e9)


def put_puzzle(memory: Memory, puzzle: Puzzle, start: PartialGrid | None) -> None:
    """Put a puzzle and the board to start from into a solver's memory, and set its records to 0.

    Parameters
    ----------
    memory : Memory
        Of a map with the members that both strategies have: the board's size, the places of its cells, `clue`
        and `blocks`, `start`, `counts`, `spent` and `moment_count`.
    puzzle : Puzzle
        There is room for it.
    start : PartialGrid or None
    """
    view = memory.view
    width, height = puzzle.width, puzzle.height
    if (width, height) != (view("width")[0], view("height")[0]):
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
    for name in _count_names(memory):
        view(f"counts.{name}")[0] = 0
    view("spent").fill(0)
    view("moment_count")[0] = 0


def _count_names(memory: Memory) -> list[str]:
    counts = memory.struct.members["counts"].what
    assert isinstance(counts, Struct)
    return list(counts.members)


def solution_of(memory: Memory) -> Solution:
    """Return the board in a solver's memory, which is full."""
    width, height = (int(memory.view(name)[0]) for name in ("width", "height"))
    return Solution(_unpacked(memory.view("board.black")[:height], width))


def line_masks(grid: PartialGrid, words: tuple[int, ...] = ()) -> npt.NDArray[np.uint64]:
    """Return the black and the white cells of every line of a board, rows first.

    Parameters
    ----------
    grid : PartialGrid
    words : tuple of int
        Empty for masks of 64 bits; else the number of words of 64 bits.

    Returns
    -------
    uint64 array, shape (2, height + width, *words)
        Black cells, then white ones; bit i is cell i of the line.
    """
    height, width = grid.cells.shape
    bits = np.zeros((2, height + width, 64 * (words or (1,))[0]), np.bool_)
    for colour, masks in zip((BLACK, WHITE), bits, strict=True):
        masks[:height, :width] = grid.cells == colour
        masks[height:, :height] = (grid.cells == colour).T
    return np.packbits(bits, axis=2, bitorder="little").view("<u8").reshape(2, height + width, *words)


def _unpacked(masks: npt.NDArray[np.uint64], length: int) -> npt.NDArray[np.uint8]:
    """Return the first `length` cells of masks, 1 where a cell is in the set.

    Parameters
    ----------
    masks : uint64 array, shape (n,) or (n, words)
    length : int

    Returns
    -------
    uint8 array, shape (n, length)
    """
    words = np.ascontiguousarray(masks).reshape(len(masks), -1)
    return np.unpackbits(words.view(np.uint8), axis=1, count=length, bitorder="little")


def cells_of(black: npt.NDArray[np.uint64], white: npt.NDArray[np.uint64], width: int) -> npt.NDArray[np.int8]:
    """Return a board whose rows have these black and these white cells.

    Parameters
    ----------
    black, white : uint64 array, shape (height,) or (height, words)
        Bit x is cell x of the row.
    width : int

    Returns
    -------
    int8 array, shape (height, width)
    """
    is_black, is_white = _unpacked(black, width), _unpacked(white, width)
    return np.where(is_black, np.int8(BLACK), np.where(is_white, np.int8(WHITE), np.int8(UNKNOWN)))


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


def result_of(
    memory: Memory, found: Sequence[Solution], exhausted: bool, steps: Sequence[str], loading_ns: int
) -> Result:
    """Return the outcome of a search with what its memory has recorded; `steps` names its times in `spent`."""
    return Result(
        status="solved" if found else "unsolvable" if exhausted else "timeout",
        solutions=tuple(found),
        exhausted=exhausted,
        counts={name: int(memory.view(f"counts.{name}")[0]) for name in _count_names(memory)},
        step_seconds=dict(zip(steps, (memory.view("spent") / 1e9).tolist(), strict=True)),
        loading_seconds=loading_ns / 1e9,
    )


MOST_MOMENTS = 1 << 14
"""So many moments of one search are kept, the first ones."""


class Moment(IntEnum):
    """What had just happened.

    PAINTED: lines told cells. PROBED: probing told cells. GUESSED: a cell was assumed. TAKEN_BACK: what followed
    from an assumption was. RESTARTED: so were all assumptions.
    """

    PAINTED = 0
    PROBED = 1
    GUESSED = 2
    TAKEN_BACK = 3
    RESTARTED = 4


class _Moments(NamedTuple):
    painted: int = int(Moment.PAINTED)
    probed: int = int(Moment.PROBED)
    guessed: int = int(Moment.GUESSED)
    taken_back: int = int(Moment.TAKEN_BACK)
    restarted: int = int(Moment.RESTARTED)


MOMENT = _Moments()
"""The same, as kernels note them."""


def moments_of(memory: Memory) -> Iterator[tuple[Moment, PartialGrid]]:
    """Yield the moments that a search has noted in its memory, the first of them if there are very many."""
    width, height = (int(memory.view(name)[0]) for name in ("width", "height"))
    noted = memory.view("moments")[: int(memory.view("moment_count")[0])]
    for kind, black, white in zip(noted["kind"].tolist(), noted["black"], noted["white"], strict=True):
        yield Moment(kind), PartialGrid(cells_of(black[:height], white[:height], width))
