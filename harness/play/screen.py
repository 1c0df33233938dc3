"""What is shown of a run while it goes on: a bar on a terminal, plain lines elsewhere, or nothing.

It goes to stderr; stdout is for the result.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter

from harness.results.model import PuzzleResult, Verdict

__all__ = ["BarScreen", "LineScreen", "Screen", "screen_for"]

SECONDS_BETWEEN_LINES = 10.0

NOT_RIGHT = [verdict for verdict in Verdict if verdict is not Verdict.RIGHT]


def screen_for(puzzle_count: int, quiet: bool) -> Screen:
    """Return the screen that fits the place where stderr goes."""
    if quiet:
        return Screen()
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        return BarScreen(puzzle_count)
    return LineScreen(puzzle_count)


class Screen:
    """Shows nothing; the others show a run, within a `with` block."""

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave what was shown as it is."""

    def show(self, ruling: PuzzleResult, seconds: float, took_seconds: float | None) -> None:
        """Take a ruling whose answer arrived `seconds` after the start and took `took_seconds`."""


class Standing:
    """What has come of a run so far, in words.

    Parameters
    ----------
    puzzle_count : int
    """

    def __init__(self, puzzle_count: int) -> None:
        self._total = puzzle_count
        self._found: Counter[Verdict] = Counter()
        self._slowest: tuple[float, int] | None = None
        self._seconds = 0.0

    def take(self, ruling: PuzzleResult, seconds: float, took_seconds: float | None) -> None:
        """Take a ruling."""
        self._found[ruling.verdict] += 1
        self._seconds = seconds
        if took_seconds is not None and (self._slowest is None or took_seconds > self._slowest[0]):
            self._slowest = took_seconds, ruling.number

    @property
    def rate(self) -> str:
        """Rulings a second."""
        return f"{self._rate:.1f}/s"

    @property
    def tally(self) -> str:
        """How many are right, and how many are not where there are any."""
        found = self._found
        others = [f"{found[verdict]} {verdict}" for verdict in NOT_RIGHT if found[verdict]]
        return ", ".join([f"{found[Verdict.RIGHT]} right", *others])

    @property
    def slowest(self) -> str:
        """The slowest answer yet."""
        return f"slowest ${self._slowest[1]} {self._slowest[0]:.2f} s" if self._slowest else ""

    @property
    def line(self) -> str:
        """All of it in one line."""
        answered = self._found.total()
        left = (self._total - answered) / self._rate
        said = [
            f"{answered}/{self._total} answered",
            self.tally,
            self.rate,
            self.slowest,
            f"about {left:.0f} s to go",
        ]
        return ", ".join(filter(None, said))

    @property
    def _rate(self) -> float:
        return self._found.total() / max(self._seconds, 1e-9)


class LineScreen(Screen):
    """A line now and then, for logs.

    Parameters
    ----------
    puzzle_count : int
    """

    def __init__(self, puzzle_count: int) -> None:
        self._standing = Standing(puzzle_count)
        self._next_line = time.monotonic() + SECONDS_BETWEEN_LINES

    def show(self, ruling: PuzzleResult, seconds: float, took_seconds: float | None) -> None:
        """Take a ruling; write a line if the last one was written long ago."""
        self._standing.take(ruling, seconds, took_seconds)
        if time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + SECONDS_BETWEEN_LINES
            print(f"${ruling.number}: {self._standing.line}", file=sys.stderr, flush=True)


class BarScreen(Screen):
    """A live line with a bar.

    Parameters
    ----------
    puzzle_count : int
    """

    def __init__(self, puzzle_count: int) -> None:
        from rich.console import Console  # only here: rich takes longer to import than a small run lasts
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._standing = Standing(puzzle_count)
        self._progress = Progress(
            TextColumn("{task.fields[puzzle]}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[standing].rate}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[standing].tally}"),
            TextColumn("{task.fields[standing].slowest}"),
            console=Console(stderr=True),
            refresh_per_second=4,
        )
        self._task = self._progress.add_task("", total=puzzle_count, puzzle="", standing=self._standing)

    def __enter__(self) -> Screen:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Draw the last state and leave it there."""
        self._progress.stop()

    def show(self, ruling: PuzzleResult, seconds: float, took_seconds: float | None) -> None:
        """Take a ruling; the bar is drawn again by itself."""
        self._standing.take(ruling, seconds, took_seconds)
        self._progress.update(self._task, advance=1, puzzle=f"${ruling.number}")
