"""What is shown of runs that go on at one time: a bar for each on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from nonobot.harness.play.machine import busy_warning
from nonobot.harness.progress import SECONDS_BETWEEN_LINES
from nonobot.harness.results.result_text import outcome_line
from nonobot.harness.results.run_result import EndReason, RunResult

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["AllRunsScreen"]


class AllRunsScreen:
    """Shows runs, within a `with` block, on stderr.

    Parameters
    ----------
    run_count : int
        How many there are to play.
    quiet : bool
        Show nothing but what keeps runs from being played.
    """

    def __init__(self, run_count: int, quiet: bool) -> None:
        self._run_count = run_count
        self._quiet = quiet
        self._played = 0
        self._puzzles: dict[str, int] = {}  # of the runs in play
        self._far: dict[str, str] = {}
        self._bars: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._next_line = time.monotonic() + SECONDS_BETWEEN_LINES

    def __enter__(self) -> AllRunsScreen:
        if not self._quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            self._bars = _new_bars()
            self._tasks[""] = self._bars.add_task("runs", total=self._run_count, far="")
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars:
            self._bars.stop()

    def say(self, line: str) -> None:
        """Print a line that matters, above the bars."""
        print(f"nonojudge: {line}", file=sys.stderr, flush=True)

    def begin(self, name: str, puzzle_count: int) -> None:
        """Take note that a run is in play."""
        self._puzzles[name] = puzzle_count
        if self._bars:
            self._tasks[name] = self._bars.add_task(name, total=puzzle_count, far="")

    def show(self, name: str, answered: int, right: int) -> None:
        """Take how far a run is."""
        others = answered - right
        self._far[name] = f"{answered}/{self._puzzles[name]}" + (f", {others} not right" if others else "")
        if self._bars:
            self._bars.update(self._tasks[name], completed=answered, far=self._far[name])
        elif not self._quiet and time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + SECONDS_BETWEEN_LINES
            playing = [f"{one} {self._far.get(one, '...')}" for one in self._puzzles]
            print("; ".join([f"{self._played}/{self._run_count} runs", *playing]), file=sys.stderr, flush=True)

    def end(self, name: str) -> None:
        """Take note that a run is in play no more."""
        del self._puzzles[name]
        self._far.pop(name, None)
        if self._bars:
            self._bars.remove_task(self._tasks.pop(name))

    def take(self, name: str, result: RunResult) -> None:
        """Say what came of a run."""
        self._played += 1
        if self._bars:
            self._bars.update(self._tasks[""], completed=self._played)
        if result.end.reason is EndReason.NOT_STARTED:
            self.say(f"{result.bot}: {result.end.detail}")
        elif not self._quiet:
            busy = busy_warning(result.machine)
            line = (
                f"[{self._played}/{self._run_count}] {name}: {outcome_line(result)}{f'; {busy}' if busy else ''}"
            )
            print(line, file=sys.stderr, flush=True)


def _new_bars() -> Progress:
    from rich.console import Console  # only here: rich takes long to import
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[far]}", markup=False),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        refresh_per_second=4,
    )
