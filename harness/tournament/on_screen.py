"""The runs of a tournament on the screen: played here one after another, or many at a time elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from nonobot.harness.play.match import is_over
from nonobot.harness.play.run_progress import RunProgress
from nonobot.harness.process.interrupts import Interrupts
from nonobot.harness.progress import SECONDS_BETWEEN_LINES, bars, time_left
from nonobot.harness.results.conditions import busy_warning
from nonobot.harness.results.run_result import EndReason, RunResult
from nonobot.harness.results.run_text import outcome, outcome_of_own
from nonobot.harness.text import on_terminal, say
from nonobot.harness.tournament.playing import PlayingFile
from nonobot.harness.tournament.rounds import ScheduledRun
from nonobot.system import printable, report

if TYPE_CHECKING:
    from rich import progress as rich_progress


def all_played(
    todo: Sequence[ScheduledRun], before: Mapping[Path, RunResult], file: PlayingFile, quiet: bool
) -> dict[Path, RunResult]:
    """Return the results, by their paths, from `before` or played now; KeyboardInterrupt if told to stop."""
    results = {}
    to_play = sum(not is_over(before.get(run.result_path)) for run in todo)
    played_now, started = 0, time.monotonic()

    def note(line: str) -> None:
        if not quiet:
            report(line)

    with Interrupts() as interrupts:
        for number, scheduled in enumerate(todo, 1):
            name = f"[{number}/{len(todo)}] {scheduled.name}"
            result = before.get(scheduled.result_path)
            if result and is_over(result):
                note(f"{name}: played before; {outcome(result)}")
            else:
                left = time_left(time.monotonic() - started, played_now, to_play)
                note(f"{name} ...{f' (all runs: {left})' if left else ''}")
                result = _played(scheduled, result, file, quiet)
                played_now += 1
                if result.end.reason is not EndReason.NOT_STARTED:
                    note(f"{name}: {outcome_of_own(result)}")
            if interrupts.told or result.end.reason is EndReason.INTERRUPTED:
                raise KeyboardInterrupt
            if result.end.reason is EndReason.NOT_STARTED:
                say(f"{scheduled.entrant.name}: {result.end.detail}")
            results[scheduled.result_path] = result
    return results


def _played(scheduled: ScheduledRun, before: RunResult | None, file: PlayingFile, quiet: bool) -> RunResult:
    """Play or resume a run, with its progress on the screen; the file says that it is in play."""
    # Not how many answers are right: a bot among the results could read it. The live view has it from the journal.
    file.show(scheduled)
    first = "warm-up first" if scheduled.entrant.warm_up and before is None else ""
    with RunProgress(len(scheduled.puzzle_set.puzzles), quiet, first) as progress:
        result = scheduled.play(before, progress.take)
    file.end(scheduled, is_played=True)
    return result


class ShownRuns:
    """Simultaneous runs of a tournament, in a :class:`PlayingFile`, and on the screen within a `with` block."""

    def __init__(self, file: PlayingFile, quiet: bool) -> None:
        self._file = file
        self._quiet = quiet
        self._run_count = len(file.playing.left)
        self._notes: dict[str, str] = {}  # of the runs in play
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

    def begin(self, run: ScheduledRun) -> None:
        """Show that a run has started."""
        self._file.show(run)
        self._notes[run.name] = "..."
        if self._bars:
            total = len(run.puzzle_set.puzzles)
            self._tasks[run.name] = self._bars.add_task(printable(run.name), total=total, note="")

    def show(self, run: ScheduledRun, answered: int, right: int) -> None:
        """Show the progress of a run."""
        self._file.show(run, answered, right)
        others = f", {answered - right} not right" if answered > right else ""
        self._notes[run.name] = note = f"{answered}/{len(run.puzzle_set.puzzles)}{others}"
        if self._bars:
            self._bars.update(self._tasks[run.name], completed=answered, note=note)
        elif not self._quiet and time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + SECONDS_BETWEEN_LINES
            played = ", ".join(filter(None, (f"{self._played}/{self._run_count} runs", self._time_left)))
            report("; ".join([played, *(f"{name} {note}" for name, note in self._notes.items())]))

    def end(self, run: ScheduledRun) -> None:
        """Remove a run from the display."""
        self._file.end(run, is_played=False)
        del self._notes[run.name]
        if self._bars:
            self._bars.remove_task(self._tasks.pop(run.name))

    def take(self, run: ScheduledRun, result: RunResult) -> None:
        """Count a run as played, and print its outcome."""
        self._file.end(run, is_played=True)
        if self._bars:
            self._bars.update(self._tasks[""], completed=self._played, note=self._time_left)
        if result.end.reason is EndReason.NOT_STARTED:
            say(f"{result.bot}: {result.end.detail}")
        elif not self._quiet:
            busy = busy_warning(result.machine)
            place = f"[{self._played}/{self._run_count}] {run.name}"
            report(f"{place}: {outcome_of_own(result)}{f'; {busy}' if busy else ''}")

    @property
    def _played(self) -> int:
        return self._run_count - len(self._file.playing.left)

    @property
    def _time_left(self) -> str:
        return time_left(time.monotonic() - self._started, self._played, self._run_count)
