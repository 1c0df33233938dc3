"""Progress of long jobs on stderr: bars on a terminal, otherwise an occasional line."""

from __future__ import annotations

import sys
import time
from collections import Counter
from math import ceil
from typing import TYPE_CHECKING, Self

from nonobot.harness.results.run_result import EndReason, PuzzleResult, RunResult, Verdict
from nonobot.harness.text import duration, on_terminal, print_line
from nonobot.system import printable

if TYPE_CHECKING:
    from rich import progress as rich_progress

SECONDS_BETWEEN_LINES = 10.0


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
                self._bars = _bars("bar percent left note")
                self._bars.add_task("", total=self._total, note="")
            self._bars.update(self._bars.task_ids[0], completed=done, note=note)
        else:
            self._due = now + SECONDS_BETWEEN_LINES
            taken = now - self._started if seconds is None else seconds
            more = ceil(taken * (self._total - done) / done) if 0 < done < self._total else 0
            left = f", about {more:,} s to go" if more else ""
            print_line(f"{note}{left}")


def _bars(columns: str) -> rich_progress.Progress:
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


class RunProgress(Progress):
    """Progress of a run on a set, with the number of puzzles right so far."""

    def __init__(self, puzzle_count: int, quiet: bool) -> None:
        super().__init__(None if quiet else puzzle_count, 0.0)  # at once, because the first answer may take long
        self._verdicts: Counter[Verdict] = Counter()
        self._slowest = ""
        self._slowest_seconds = -1.0

    def __enter__(self) -> Self:
        self.show(0, self._line("", 0.0))
        return self

    def take(self, result: PuzzleResult, seconds: float) -> None:
        """Count the result of a puzzle whose answer arrived `seconds` after the start."""
        self._verdicts[result.verdict] += 1
        if result.took_seconds is not None and result.took_seconds > self._slowest_seconds:
            self._slowest_seconds = result.took_seconds
            self._slowest = f"slowest ${result.number} {duration(result.took_seconds)}"
        self.show(self._verdicts.total(), self._line(f"${result.number}", seconds), seconds)

    def _line(self, last: str, seconds: float) -> str:
        """Return a line that begins with the most important figures, because terminals are narrow."""
        answered = self._verdicts.total()
        parts = [
            last,
            f"{answered}/{self._total}",
            *(f"{self._verdicts[one]} {one}" for one in Verdict if one is Verdict.RIGHT or self._verdicts[one]),
            f"{answered / seconds:.1f}/s" if seconds > 0 else "",
            self._slowest,
        ]
        return ", ".join(filter(None, parts))


class AllRunsProgress:
    """Progress of the simultaneous runs of a tournament, shown within a `with` block."""

    def __init__(self, run_count: int, quiet: bool) -> None:
        self._run_count = run_count
        self._quiet = quiet
        self._played = 0
        self._puzzle_counts: dict[str, int] = {}  # of the runs in play
        self._notes: dict[str, str] = {}
        self._bars: rich_progress.Progress | None = None
        self._tasks: dict[str, rich_progress.TaskID] = {}
        self._next_line = time.monotonic() + SECONDS_BETWEEN_LINES

    def __enter__(self) -> Self:
        if not self._quiet and on_terminal(sys.stderr):
            self._bars = _bars("name bar note taken")
            self._tasks[""] = self._bars.add_task("runs", total=self._run_count, note="")
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars:
            self._bars.stop()

    def say(self, line: str) -> None:
        """Print an important line above the bars, even with `--quiet`."""
        print_line(f"nonojudge: {line}")

    def begin(self, name: str, puzzle_count: int) -> None:
        """Show that a run has started."""
        self._puzzle_counts[name] = puzzle_count
        self._notes[name] = "..."
        if self._bars:
            self._tasks[name] = self._bars.add_task(printable(name), total=puzzle_count, note="")

    def show(self, name: str, answered: int, right: int) -> None:
        """Show the progress of a run."""
        others = f", {answered - right} not right" if answered > right else ""
        self._notes[name] = f"{answered}/{self._puzzle_counts[name]}{others}"
        if self._bars:
            self._bars.update(self._tasks[name], completed=answered, note=self._notes[name])
        elif not self._quiet and time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + SECONDS_BETWEEN_LINES
            playing = [f"{one} {note}" for one, note in self._notes.items()]
            print_line("; ".join([f"{self._played}/{self._run_count} runs", *playing]))

    def end(self, name: str) -> None:
        """Remove a run from the display."""
        del self._puzzle_counts[name], self._notes[name]
        if self._bars:
            self._bars.remove_task(self._tasks.pop(name))

    def take(self, name: str, result: RunResult) -> None:
        """Count a run as played, and print its outcome."""
        from nonobot.harness.process.machine import busy_warning  # most jobs with progress are not runs

        self._played += 1
        if self._bars:
            self._bars.update(self._tasks[""], completed=self._played)
        if result.end.reason is EndReason.NOT_STARTED:
            self.say(f"{result.bot}: {result.end.detail}")
        elif not self._quiet:
            busy = busy_warning(result.machine)
            line = f"[{self._played}/{self._run_count}] {name}: {result.outcome}{f'; {busy}' if busy else ''}"
            print_line(line)
