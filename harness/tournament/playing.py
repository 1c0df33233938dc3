"""The file in which the command of a tournament says which runs it plays: the live view reads it.

A run on a worker has its journal there, and a run in its warm-up has none yet. The file is in the folder of the
results, hidden, while the command plays. A command that is killed leaves it, and then it grows old.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import msgspec

from nonobot.harness import UnusableError
from nonobot.harness.play.run_progress import AllRunsProgress
from nonobot.harness.results.conditions import Whole
from nonobot.harness.results.limits import MOST_OTHER_BYTES
from nonobot.harness.results.result_files import from_json, storable
from nonobot.harness.results.run_result import RunResult
from nonobot.harness.tournament.rounds import ScheduledRun
from nonobot.harness.user_files import write_output
from nonobot.system import content_of

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
        left = [run.result_path.name for run in todo if run.result_path not in played]
        self._path = todo[0].result_path.with_name(PLAYING)
        self._playing = Playing(datetime.now(UTC).isoformat(timespec="seconds"), len(todo), left)
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
        name, total = run.result_path.name, len(run.puzzle_set.puzzles)
        now = RunInPlay(name, run.entrant.name, run.puzzle_set.name, total, answered, right)
        self._replace([*self._others(name), now], self._playing.left)

    def end(self, run: ScheduledRun, is_played: bool) -> None:
        """Note that a run is not in play any more."""
        name, left = run.result_path.name, self._playing.left
        self._replace(self._others(name), [file for file in left if not (is_played and file == name)])

    def _others(self, result_file: str) -> list[RunInPlay]:
        return [run for run in self._playing.in_play if run.result_file != result_file]

    def _replace(self, in_play: list[RunInPlay], left: list[str]) -> None:
        self._playing = msgspec.structs.replace(self._playing, in_play=in_play, left=left)

    def _write(self) -> None:
        written = None
        while not self._is_over.is_set():
            with contextlib.suppress(UnusableError, OSError):
                if written is self._playing:
                    os.utime(self._path)
                else:
                    written = self._playing
                    write_output(self._path, msgspec.json.encode(storable(written)), follows=False)
            self._is_over.wait(SECONDS_BETWEEN_SIGNS)


class ShownProgress(AllRunsProgress):
    """Progress of simultaneous runs on the screen and in a :class:`PlayingFile`."""

    def __init__(self, todo: Sequence[ScheduledRun], file: PlayingFile, quiet: bool) -> None:
        super().__init__(len(todo), quiet)
        self._runs = {run.name: run for run in todo}
        self._file = file

    def begin(self, name: str, puzzle_count: int) -> None:
        """Show that a run has started."""
        super().begin(name, puzzle_count)
        self._file.show(self._runs[name])

    def show(self, name: str, answered: int, right: int) -> None:
        """Show the progress of a run."""
        super().show(name, answered, right)
        self._file.show(self._runs[name], answered, right)

    def end(self, name: str) -> None:
        """Remove a run from the display."""
        super().end(name)
        self._file.end(self._runs[name], is_played=False)

    def take(self, name: str, result: RunResult) -> None:
        """Count a run as played, and print its outcome."""
        super().take(name, result)
        self._file.end(self._runs[name], is_played=True)


def read_playing(path: Path) -> Playing | None:
    """Return what a :class:`PlayingFile` has written; None if it is another file, or has just been removed."""
    with contextlib.suppress(OSError, ValueError):
        playing: Playing = from_json(content_of(path, MOST_OTHER_BYTES), Playing)
        return playing
    return None
