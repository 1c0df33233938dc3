"""Progress bars and lines of a run, with its verdicts so far, and of simultaneous runs."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Self

from nonobot.harness.progress import SECONDS_BETWEEN_LINES, Progress, bars, time_left
from nonobot.harness.results.conditions import busy_warning
from nonobot.harness.results.run_result import EndReason, PuzzleResult, RunResult, Verdict
from nonobot.harness.results.run_text import outcome_of_own
from nonobot.harness.text import duration, on_terminal, say
from nonobot.system import printable, report

if TYPE_CHECKING:
    from rich import progress as rich_progress


class RunProgress(Progress):
    """Progress of a run on a set, with the number of puzzles right so far; until one is judged, with a `note`."""

    def __init__(self, puzzle_count: int, quiet: bool, note: str = "") -> None:
        super().__init__(None if quiet else puzzle_count, 0.0)  # at once, because the first answer may take long
        self._note = note
        self._verdicts: Counter[Verdict] = Counter()
        self._slowest = ""
        self._slowest_seconds = -1.0

    def __enter__(self) -> Self:
        self.show(0, self._line(self._note, 0.0))
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
        counted = [verdict for verdict in Verdict if verdict is Verdict.RIGHT or self._verdicts[verdict]]
        parts = [
            last,
            f"{answered}/{self._total}",
            *(f"{self._verdicts[verdict]} {verdict}" for verdict in counted),
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
        self._started = time.monotonic()
        self._next_line = self._started + SECONDS_BETWEEN_LINES

    def __enter__(self) -> Self:
        if not self._quiet and on_terminal(sys.stderr):
            self._bars = bars("name bar note taken")
            self._tasks[""] = self._bars.add_task("runs", total=self._run_count, note="")
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars:
            self._bars.stop()

    def say(self, line: str) -> None:
        """Print an important line above the bars, even with `--quiet`."""
        say(line)

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
            playing = [f"{run} {note}" for run, note in self._notes.items()]
            played = ", ".join(filter(None, (f"{self._played}/{self._run_count} runs", self._time_left)))
            report("; ".join([played, *playing]))

    @property
    def _time_left(self) -> str:
        return time_left(time.monotonic() - self._started, self._played, self._run_count)

    def end(self, name: str) -> None:
        """Remove a run from the display."""
        del self._puzzle_counts[name], self._notes[name]
        if self._bars:
            self._bars.remove_task(self._tasks.pop(name))

    def take(self, name: str, result: RunResult) -> None:
        """Count a run as played, and print its outcome."""
        self._played += 1
        if self._bars:
            self._bars.update(self._tasks[""], completed=self._played, note=self._time_left)
        if result.end.reason is EndReason.NOT_STARTED:
            self.say(f"{result.bot}: {result.end.detail}")
        elif not self._quiet:
            busy = busy_warning(result.machine)
            place = f"[{self._played}/{self._run_count}] {name}"
            report(f"{place}: {outcome_of_own(result)}{f'; {busy}' if busy else ''}")
