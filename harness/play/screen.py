"""What is shown of a run while it goes on: a bar on a terminal, plain lines elsewhere, or nothing.

It goes to stderr; stdout is for the result.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter

from harness.referee import Ruling, Verdict

__all__ = ["BarScreen", "LineScreen", "Screen", "screen_for"]

SECONDS_BETWEEN_LINES = 10.0


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

    def show(self, ruling: Ruling, seconds: float) -> None:
        """Take a ruling whose answer arrived `seconds` after the start."""


class LineScreen(Screen):
    """A line now and then, for logs.

    Parameters
    ----------
    puzzle_count : int
    """

    def __init__(self, puzzle_count: int) -> None:
        self._total = puzzle_count
        self._found: Counter[Verdict] = Counter()
        self._next_line = time.monotonic() + SECONDS_BETWEEN_LINES

    def show(self, ruling: Ruling, seconds: float) -> None:
        """Take a ruling; write a line if the last one was written long ago."""
        self._found[ruling.verdict] += 1
        if time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + SECONDS_BETWEEN_LINES
            print(self._line(ruling, seconds), file=sys.stderr, flush=True)

    def _line(self, ruling: Ruling, seconds: float) -> str:
        answered = self._found.total()
        rate = answered / max(seconds, 1e-9)
        left_seconds = (self._total - answered) / rate
        return (
            f"${ruling.number}: {answered}/{self._total} answered, {tally(self._found)}, "
            f"{rate:.1f}/s, about {left_seconds:.0f} s to go"
        )


class BarScreen(Screen):
    """A live line with a bar.

    Parameters
    ----------
    puzzle_count : int
    """

    def __init__(self, puzzle_count: int) -> None:
        from rich.console import Console  # only here: rich takes longer to import than a small run lasts
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._found: Counter[Verdict] = Counter()
        self._progress = Progress(
            TextColumn("{task.fields[puzzle]}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[tally]}"),
            console=Console(stderr=True),
            refresh_per_second=4,
        )
        self._task = self._progress.add_task("", total=puzzle_count, puzzle="", rate="", tally="")

    def __enter__(self) -> Screen:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Draw the last state and leave it there."""
        self._progress.stop()

    def show(self, ruling: Ruling, seconds: float) -> None:
        """Take a ruling; the bar is drawn again by itself."""
        self._found[ruling.verdict] += 1
        rate = f"{self._found.total() / max(seconds, 1e-9):.1f}/s"
        self._progress.update(
            self._task, advance=1, puzzle=f"${ruling.number}", rate=rate, tally=tally(self._found)
        )


def tally(found: Counter[Verdict]) -> str:
    """Return how many are right, and how many are not where there are any."""
    others = [
        f"{found[verdict]} {verdict}" for verdict in Verdict if verdict is not Verdict.RIGHT and found[verdict]
    ]
    return ", ".join([f"{found[Verdict.RIGHT]} right", *others])
