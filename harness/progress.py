"""How far a long job is: a bar on a terminal, plain lines elsewhere.

It goes to stderr; stdout is for what comes of the job.
"""

from __future__ import annotations

import os
import sys
import time

from nonobot.harness.text import in_unit

__all__ = ["BarProgress", "LineProgress", "Progress", "progress_for"]

SECONDS_BEFORE_BAR = 1.0
"""A job that is done by then shows no bar."""

SECONDS_BETWEEN_LINES = 10.0


def progress_for(total: float, seconds_before_bar: float | None = None) -> Progress:
    """Return what fits the place where stderr goes.

    Parameters
    ----------
    total : float
        What :meth:`Progress.show` will be told at the end.
    seconds_before_bar : float, optional
        How long a job goes on before it gets a bar (default: 1 s).
    """
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        return BarProgress(total, SECONDS_BEFORE_BAR if seconds_before_bar is None else seconds_before_bar)
    return LineProgress(total)


class Progress:
    """Shows nothing; the others show a job, within a `with` block."""

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave what was shown as it is."""

    def show(self, done: float, note: str, seconds: float | None = None) -> None:
        """Take how much of the total is done, and a few words for people.

        `seconds` is what that took, for a job that did a part of it before (default: the time since the start).
        """


class LineProgress(Progress):
    """A line now and then, for logs."""

    def __init__(self, total: float) -> None:
        self._total = total
        self._started = time.monotonic()
        self._next_line = self._started + SECONDS_BETWEEN_LINES

    def show(self, done: float, note: str, seconds: float | None = None) -> None:
        """Write a line if the last one was written long ago."""
        now = time.monotonic()
        if now < self._next_line:
            return
        self._next_line = now + SECONDS_BETWEEN_LINES
        taken = now - self._started if seconds is None else seconds
        left = f", about {in_unit(taken * (self._total - done) / done, 1, 0)} s to go" if done else ""
        print(f"{note}{left}", file=sys.stderr, flush=True)


class BarProgress(Progress):
    """A live line with a bar."""

    def __init__(self, total: float, seconds_before_bar: float) -> None:
        self._total = total
        self._seconds_before_bar = seconds_before_bar
        self._started = time.monotonic()
        self._bar: _Bar | None = None

    def __exit__(self, *_: object) -> None:
        """Draw the last state and leave it there."""
        if self._bar:
            self._bar.stop()

    def show(self, done: float, note: str, seconds: float | None = None) -> None:
        """Draw the state, unless the job is too young."""
        if self._bar is None:
            if time.monotonic() < self._started + self._seconds_before_bar:
                return
            self._bar = _Bar(self._total)
        self._bar.show(done, note)


class _Bar:
    """The bar itself, once there is something to show."""

    def __init__(self, total: float) -> None:
        from rich.console import Console  # only here: rich takes longer to import than a small job lasts
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}", markup=False),
            console=Console(stderr=True),
            refresh_per_second=4,
        )
        self._task = self._progress.add_task("", total=total)
        self._progress.start()

    def show(self, done: float, note: str) -> None:
        self._progress.update(self._task, completed=done, description=note)

    def stop(self) -> None:
        self._progress.stop()
