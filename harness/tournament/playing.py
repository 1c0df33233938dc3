"""How the command of a tournament plays its runs, and shows them: on the screen, and in a file for the live view.

A run on a worker has its journal there, and a run in its warm-up has none yet. The file is in the folder of the
results, hidden, while the command plays. A command that is killed leaves it, and then it grows old.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from nonobot.harness import UnusableError
from nonobot.harness.play.match import is_over
from nonobot.harness.play.run_progress import RunProgress
from nonobot.harness.process.interrupts import Interrupts
from nonobot.harness.progress import SECONDS_BETWEEN_LINES, bars, time_left
from nonobot.harness.results.conditions import Whole, busy_warning
from nonobot.harness.results.file_limits import MOST_OTHER_BYTES
from nonobot.harness.results.result_files import from_json, storable
from nonobot.harness.results.run_result import EndReason, RunResult
from nonobot.harness.results.run_text import outcome, outcome_of_own
from nonobot.harness.text import on_terminal, say
from nonobot.harness.tournament.scheduled_runs import ScheduledRun
from nonobot.harness.user_files import write_output
from nonobot.system import content_of, printable, report

if TYPE_CHECKING:
    from rich import progress as rich_progress

PLAYING = ".playing"
SECONDS_BETWEEN_SIGNS = 1.0  # after a few of them the live view knows that the command was killed


class RunInPlay(msgspec.Struct, frozen=True):
    """A run that the command plays, with its answers so far."""

    result_file: str  # its name, without the folder
    bot: str
    set: str
    puzzle_count: Whole
    answered: Whole = 0
    right: Whole = 0


class Playing(msgspec.Struct, frozen=True):
    """The runs of a tournament that its command plays, and has yet to play."""

    started_at: str
    run_count: Whole
    left: list[str]  # the result files of the runs that are not played, those in play included
    in_play: list[RunInPlay] = []


class PlayingFile:
    """Writes the file while its `with` block plays; a disk without space stops no tournament."""

    def __init__(self, todo: Sequence[ScheduledRun], played: Collection[Path]) -> None:
        self.left = [run.result_path.name for run in todo if run.result_path not in played]  # as in `Playing`
        self._path = todo[0].result_path.with_name(PLAYING)
        self._started_at = datetime.now(UTC).isoformat(timespec="seconds")
        self._run_count = len(todo)
        self._in_play: dict[str, RunInPlay] = {}  # by result file
        self._is_over = threading.Event()
        self._writer = threading.Thread(target=self._write, daemon=True)

    def __enter__(self) -> Self:
        self._writer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._writer.join()
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)

    def show(self, run: ScheduledRun, answered: int = 0, right: int = 0) -> None:
        """Note that a run is in play, and its answers so far."""
        name, facts = run.result_path.name, run.puzzle_set
        self._in_play[name] = RunInPlay(name, run.entrant.name, facts.name, len(facts.puzzles), answered, right)

    def end(self, run: ScheduledRun, is_played: bool) -> None:
        """Note that a run is not in play any more."""
        self._in_play.pop(run.result_path.name, None)
        if is_played:
            self.left.remove(run.result_path.name)

    def _write(self) -> None:
        written = None
        while not self._is_over.is_set():
            now = Playing(self._started_at, self._run_count, [*self.left], [*self._in_play.values()])
            with contextlib.suppress(UnusableError, OSError):
                if written == now:
                    os.utime(self._path)
                else:
                    written = now
                    write_output(self._path, msgspec.json.encode(storable(written)), follows=False)
            self._is_over.wait(SECONDS_BETWEEN_SIGNS)


class ShownRuns:
    """Simultaneous runs of a tournament, in a :class:`PlayingFile`, and on the screen within a `with` block."""

    def __init__(self, file: PlayingFile, quiet: bool) -> None:
        self._file = file
        self._quiet = quiet
        self._run_count = len(file.left)
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
            played, left = self._so_far()
            runs = ", ".join(filter(None, (f"{played}/{self._run_count} runs", left)))
            report("; ".join([runs, *(f"{name} {note}" for name, note in self._notes.items())]))

    def end(self, run: ScheduledRun) -> None:
        """Remove a run from the display."""
        self._file.end(run, is_played=False)
        del self._notes[run.name]
        if self._bars:
            self._bars.remove_task(self._tasks.pop(run.name))

    def take(self, run: ScheduledRun, result: RunResult) -> None:
        """Count a run as played, and print its outcome."""
        self._file.end(run, is_played=True)
        played, left = self._so_far()
        if self._bars:
            self._bars.update(self._tasks[""], completed=played, note=left)
        if result.end.reason is EndReason.NOT_STARTED:
            say(f"{result.bot}: {result.end.detail}")
        elif not self._quiet:
            parts = filter(None, (outcome_of_own(result), busy_warning(result.machine)))
            report(f"[{played}/{self._run_count}] {run.name}: {'; '.join(parts)}")

    def _so_far(self) -> tuple[int, str]:
        played = self._run_count - len(self._file.left)
        return played, time_left(time.monotonic() - self._started, played, self._run_count)


def all_played(
    todo: Sequence[ScheduledRun], before: Mapping[Path, RunResult], file: PlayingFile, quiet: bool
) -> dict[Path, RunResult]:
    """Return the results, by their paths, from `before` or played now; KeyboardInterrupt if told to stop."""
    results = {}
    to_play, started = len(file.left), time.monotonic()
    note = (lambda line: None) if quiet else report
    with Interrupts() as interrupts:
        for number, scheduled in enumerate(todo, 1):
            name = f"[{number}/{len(todo)}] {scheduled.name}"
            result = before.get(scheduled.result_path)
            if result and is_over(result):
                note(f"{name}: played before; {outcome(result)}")
            else:
                left = time_left(time.monotonic() - started, to_play - len(file.left), to_play)
                note(f"{name} ...{f' (all runs: {left})' if left else ''}")
                first = "warm-up first" if scheduled.entrant.warm_up and result is None else ""
                file.show(scheduled)  # not how many answers are right: a bot among the results could read it
                with RunProgress(len(scheduled.puzzle_set.puzzles), quiet, first) as progress:
                    result = scheduled.play(result, progress.take)
                file.end(scheduled, is_played=True)
                if result.end.reason is not EndReason.NOT_STARTED:
                    note(f"{name}: {outcome_of_own(result)}")
            if interrupts.stop_requested or result.end.reason is EndReason.INTERRUPTED:
                raise KeyboardInterrupt
            if result.end.reason is EndReason.NOT_STARTED:
                say(f"{scheduled.entrant.name}: {result.end.detail}")
            results[scheduled.result_path] = result
    return results


def read_playing(path: Path) -> Playing | None:
    """Return what a :class:`PlayingFile` has written; None if it is another file, or has just been removed."""
    with contextlib.suppress(OSError, ValueError):
        playing: Playing = from_json(content_of(path, MOST_OTHER_BYTES), Playing)
        return playing
    return None
