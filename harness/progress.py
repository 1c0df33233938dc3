"""Progress of long jobs on stderr, with the time left: bars on a terminal, otherwise an occasional line."""

from __future__ import annotations

import sys
import time
from math import ceil
from typing import TYPE_CHECKING, Self

from nonobot.harness.text import on_terminal
from nonobot.system import report

if TYPE_CHECKING:
    from rich import progress as rich_progress

SECONDS_BETWEEN_LINES = 10.0
UNITS = ((86400, "days"), (3600, "h"), (60, "min"))  # of a time left that is longer than two of them


class Progress:
    """Progress of a job, shown within a `with` block; nothing without a total, and no bar for a short job."""

    def __init__(self, total: float | None = None, seconds_before_bar: float = 1.0) -> None:
        self._total = total
        self._on_terminal = on_terminal(sys.stderr)
        self._started = time.monotonic()
        self._due = self._started + (seconds_before_bar if self._on_terminal else SECONDS_BETWEEN_LINES)
        self._bars: rich_progress.Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars:
            self._bars.stop()

    def show(self, done: float, note: str, seconds: float | None = None) -> None:
        """Show the part done, with a note; `seconds` is the time so far, if not since this start."""
        now = time.monotonic()
        if self._total is None or now < self._due:
            return
        if self._on_terminal:
            if self._bars is None:
                self._bars = bars("bar percent left note")
                self._bars.add_task("", total=self._total, note="")
            self._bars.update(self._bars.task_ids[0], completed=done, note=note)
        else:
            self._due = now + SECONDS_BETWEEN_LINES
            taken = now - self._started if seconds is None else seconds
            report(", ".join(filter(None, (note, time_left(taken, done, self._total)))))


def time_left(seconds: float, done: float, total: float) -> str:
    """Return an estimate such as `about 40 s to go`, from the seconds of the part done; empty without one."""
    left = seconds * (total - done) / done if 0 < done < total else 0
    size, unit = next((pair for pair in UNITS if left > 2 * pair[0]), (1, "s"))
    return f"about {ceil(left / size):,} {unit} to go" if left else ""


def bars(columns: str) -> rich_progress.Progress:
    """Return a started display of bars, with these columns in this order."""
    from rich import progress as rich_progress  # imported here: importing rich takes longer than a small job
    from rich.console import Console

    kinds: dict[str, rich_progress.ProgressColumn] = {
        "name": rich_progress.TextColumn("{task.description}", markup=False),
        "bar": rich_progress.BarColumn(),
        "percent": rich_progress.TaskProgressColumn(),
        "left": rich_progress.TimeRemainingColumn(),
        "taken": rich_progress.TimeElapsedColumn(),
        "note": rich_progress.TextColumn("{task.fields[note]}", markup=False),
    }
    bars = rich_progress.Progress(
        *(kinds[name] for name in columns.split()), console=Console(stderr=True), refresh_per_second=4
    )
    bars.start()
    return bars
