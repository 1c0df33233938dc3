"""Results: solutions, counts and trace events, the boards in a memory, and the bot's own record of its run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from io import FileIO
from pathlib import Path
from typing import Literal

from nonobot.bot.kernels.memory import Memory
from nonobot.protocol import BLACK, UNKNOWN, WHITE, PartialGrid, Puzzle, Solution
from nonobot.system import write_all

_IS_BLACK = bytes.maketrans(b"01", bytes((WHITE, BLACK)))
_COLOURS = bytes.maketrans(b"012", bytes((UNKNOWN % 256, BLACK, WHITE)))
_BLACK_CELLS = bytes.maketrans(bytes((UNKNOWN % 256, BLACK, WHITE)), b"010")
_WHITE_CELLS = bytes.maketrans(bytes((UNKNOWN % 256, BLACK, WHITE)), b"001")
"""Cells as digits, and back."""


def solution_of(memory: Memory) -> Solution:
    """Return the board in a solver's memory, which is full."""
    width, height = memory.items("width")[0], memory.items("height")[0]
    digits = _digits(memory.masks("board.black", height), width)
    return Solution.from_bytes(digits.translate(_IS_BLACK), (width, height))


def _digits(masks: Sequence[int], width: int) -> bytes:
    """Return the cells of rows, row after row: `1` for a cell in the set, `0` for any other."""
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


@dataclass(frozen=True, slots=True)
class Result:
    """The solutions of a puzzle; it prints as its verdict and a picture of the first solution.

    Attributes
    ----------
    status
        'solved' with at least one solution, even if the time ran out during the search for more.
    exhausted
        Whether the whole search space was searched: there are no other solutions.
    seconds
        Time of the search, without loading or compiling kernels.
    counts
        Exact counts of the search, the same on every machine (see docs/engine.md).
    step_seconds
        Time of the search by the steps of the strategy.
    """

    puzzle: Puzzle
    status: Literal["solved", "unsolvable", "timeout"]
    solutions: tuple[Solution, ...] = ()
    exhausted: bool = False
    seconds: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    step_seconds: dict[str, float] = field(default_factory=dict)

    @property
    def verdict(self) -> Literal["unique", "multiple", "unsolvable", "unknown"]:
        """The number of solutions, as far as it is known."""
        if len(self.solutions) > 1:
            return "multiple"
        if not self.exhausted:
            return "unknown"
        return "unique" if self.solutions else "unsolvable"

    def __str__(self) -> str:
        from nonobot.protocol.characters import text_of_board

        if not self.solutions:
            return self.verdict
        return f"{self.verdict}\n{text_of_board(self.puzzle, self.solutions[0])}"

    def _repr_svg_(self) -> str:
        from nonobot.protocol.svg import svg_of_board

        return svg_of_board(self.puzzle, self.solutions[0] if self.solutions else None)


MOST_TRACE_EVENTS = 1 << 14
"""Trace events that one search records at most: the first ones."""


class TraceEvent(IntEnum):
    """A step of a search that people can watch."""

    PAINTED = 0  # lines made cells known
    PROBED = 1  # probing made cells known
    GUESSED = 2  # a cell was assumed
    TAKEN_BACK = 3  # an assumption was taken back, with all that followed from it
    RESTARTED = 4  # all assumptions were taken back


class _LineFile:
    """A file written line by line, or none; a failure is reported once, and costs no answer."""

    def __init__(self, path: Path | None, on_failure: Callable[[str], None]) -> None:
        self._path = path
        self._on_failure = on_failure
        self._file: FileIO | None = path.open("wb", buffering=0) if path else None
        self._whole_bytes = 0

    def write(self, line: str) -> None:
        if self._file is None:
            return
        data = f"{line}\n".encode("ascii")
        try:
            write_all(self._file.fileno(), data)
            self._whole_bytes += len(data)
        except OSError as error:
            with contextlib.suppress(OSError):  # a pipe cannot be cut
                self._file.truncate(self._whole_bytes)  # half a line may look like a whole one
            self._on_failure(f"cannot write {self._path}: {error.strerror}; no further records go there")
            self.close()

    def close(self) -> None:
        if self._file:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None


class RunLog:
    """The log of times and the statistics of a run, written line by line; either may be missing.

    `on_failure` is called with a message when a file can no longer be written. OSError: one cannot be opened.
    """

    def __init__(self, log: Path | None, stats: Path | None, on_failure: Callable[[str], None]) -> None:
        self._log = _LineFile(log, on_failure)
        self._stats = _LineFile(stats, on_failure)
        self._has_stats = stats is not None

    def add(self, number: int, result: Result | None) -> None:
        """Record a puzzle; `result` is None for one that could not be read."""
        seconds = result.seconds if result else 0.0
        self._log.write(f"#{number}\t{seconds:.6f}")
        if self._has_stats:
            import json  # a tournament does not need it

            line: dict[str, object] = {"puzzle": number, "status": result.status if result else "invalid"}
            line["seconds"] = round(seconds, 6)
            if result:
                line |= {"solutions": len(result.solutions), "verdict": result.verdict, **result.counts}
                line["step_seconds"] = {step: round(spent, 9) for step, spent in result.step_seconds.items()}
            self._stats.write(json.dumps(line))

    def close(self, total_seconds: float | None) -> None:
        """Write the last line of the log, unless the run was cut off (None), and close both."""
        if total_seconds is not None:
            self._log.write(f"total time: {total_seconds:.6f}")
        self._log.close()
        self._stats.close()
