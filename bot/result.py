"""Results of a search, boards in the solver's memory, trace events, and the bot's own log of its run."""

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
from nonobot.system import reason_of, write_all

_IS_BLACK = bytes.maketrans(b"01", bytes((WHITE, BLACK)))
_COLOURS = bytes.maketrans(b"012", bytes((UNKNOWN % 256, BLACK, WHITE)))
_BLACK_CELLS = bytes.maketrans(bytes((UNKNOWN % 256, BLACK, WHITE)), b"010")
_WHITE_CELLS = bytes.maketrans(bytes((UNKNOWN % 256, BLACK, WHITE)), b"001")
"""Translations between the cells of a grid and digits."""


def solution_of(memory: Memory) -> Solution:
    """Return the full board in a solver's memory as a solution."""
    width, height = memory.items("width")[0], memory.items("height")[0]
    digits = _digits(memory.masks("board.black", height), width)
    return Solution.from_bytes(digits.translate(_IS_BLACK), (width, height))


def _digits(masks: Sequence[int], width: int) -> bytes:
    """Return the cells row by row: `1` for a cell in the set, `0` for any other."""
    form = f"0{width}b"
    return "".join([format(mask, form) for mask in reversed(masks)]).encode()[::-1]


def line_masks(grid: PartialGrid) -> tuple[list[int], list[int]]:
    """Return the black and the white cells of each line of a board, rows first; bit i is cell i of the line."""
    lines = grid.rows + grid.columns
    black, white = (
        [int(line.translate(digits)[::-1], 2) for line in lines] for digits in (_BLACK_CELLS, _WHITE_CELLS)
    )
    return black, white


def grid_of(black: Sequence[int], white: Sequence[int], width: int) -> PartialGrid:
    """Return the board whose rows have these black and white cells; bit x is cell x of the row."""
    # One hexadecimal digit per cell, so that one addition combines all cells.
    both = int(_digits(black, width), 16) + 2 * int(_digits(white, width), 16)
    cells = f"{both:0{len(black) * width}x}".encode()
    return PartialGrid.from_bytes(cells.translate(_COLOURS), (width, len(black)))


@dataclass(frozen=True, slots=True)
class Result:
    """Solutions found for a puzzle; prints as the verdict and a drawing of the first solution.

    Results with the same outcome are equal, whatever the search took.

    Attributes
    ----------
    status
        'solved' if there is at least one solution, even if the time ran out during the search for more.
    exhausted
        Whether the whole search space was searched, so that other solutions cannot exist.
    seconds
        Wall time of the search, without loading or compiling kernels.
    counts
        Exact counts of the search, the same on every machine (see docs/engine.md).
    phase_seconds
        Wall time of the search by phase of the strategy.
    known
        The cells that every solution has, as far as the search knew them when a limit ended it without a solution;
        otherwise None.
    """

    puzzle: Puzzle
    status: Literal["solved", "unsolvable", "timeout"]
    solutions: tuple[Solution, ...] = ()
    exhausted: bool = False
    seconds: float = field(default=0.0, compare=False)
    counts: dict[str, int] = field(default_factory=dict, compare=False)
    phase_seconds: dict[str, float] = field(default_factory=dict, compare=False)
    known: PartialGrid | None = field(default=None, compare=False)

    @property
    def verdict(self) -> Literal["unique", "multiple", "unsolvable", "unknown"]:
        """What the search showed about the number of solutions."""
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


MOST_TRACE_EVENTS = 1 << 14  # largest number of trace events that one search records; later ones are dropped


class TraceEvent(IntEnum):
    """Kind of a search step that `--watch` and the page show."""

    PAINTED = 0  # lines made cells known
    PROBED = 1  # probing made cells known
    GUESSED = 2  # a cell was assumed
    TAKEN_BACK = 3  # an assumption and its consequences were undone
    RESTARTED = 4  # all assumptions were undone


class _LineFile:
    """An optional file written one text line at a time; a failure is reported once and affects no answer."""

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
            with contextlib.suppress(OSError):  # a pipe cannot be truncated
                self._file.truncate(self._whole_bytes)  # half a text line may look like a whole one
            self._on_failure(f"cannot write {self._path}: {reason_of(error)}; no further records go there")
            self.close()

    def close(self) -> None:
        if self._file:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None


class RunLog:
    """The optional files that record a run, the log of times and the statistics; OSError: one cannot be opened.

    `on_failure` is called with a message when a file can no longer be written.
    """

    def __init__(self, log: Path | None, stats: Path | None, on_failure: Callable[[str], None]) -> None:
        self._log = _LineFile(log, on_failure)
        self._stats = _LineFile(stats, on_failure)
        self._has_stats = stats is not None

    def add(self, number: int, result: Result | None) -> None:
        """Record a puzzle; `result` is None for a puzzle that could not be read."""
        seconds = result.seconds if result else 0.0
        self._log.write(f"#{number}\t{seconds:.6f}")
        if self._has_stats:
            import json  # a tournament does not need it

            status = result.status if result else "invalid"
            line: dict[str, object] = {"puzzle": number, "status": status, "seconds": round(seconds, 6)}
            if result:
                line |= {"solutions": len(result.solutions), "verdict": result.verdict, **result.counts}
                line["phase_seconds"] = {phase: round(spent, 9) for phase, spent in result.phase_seconds.items()}
            self._stats.write(json.dumps(line))

    def close(self, total_seconds: float | None) -> None:
        """Write the last text line of the log, unless the run was interrupted (None), and close both files."""
        if total_seconds is not None:
            self._log.write(f"total time: {total_seconds:.6f}")
        self._log.close()
        self._stats.close()
