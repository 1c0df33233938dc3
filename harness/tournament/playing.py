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
from nonobot.harness.results.conditions import Whole
from nonobot.harness.results.limits import MOST_OTHER_BYTES
from nonobot.harness.results.result_files import from_json, storable
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
        self.playing = Playing(datetime.now(UTC).isoformat(timespec="seconds"), len(todo), left)
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
        total = len(run.puzzle_set.puzzles)
        now = RunInPlay(run.result_path.name, run.entrant.name, run.puzzle_set.name, total, answered, right)
        self._replace(run, [now], self.playing.left)

    def end(self, run: ScheduledRun, is_played: bool) -> None:
        """Note that a run is not in play any more."""
        left = [file for file in self.playing.left if not (is_played and file == run.result_path.name)]
        self._replace(run, [], left)

    def _replace(self, run: ScheduledRun, now: list[RunInPlay], left: list[str]) -> None:
        others = [other for other in self.playing.in_play if other.result_file != run.result_path.name]
        self.playing = msgspec.structs.replace(self.playing, in_play=[*others, *now], left=left)

    def _write(self) -> None:
        written = None
        while not self._is_over.is_set():
            with contextlib.suppress(UnusableError, OSError):
                if written is self.playing:
                    os.utime(self._path)
                else:
                    written = self.playing
                    write_output(self._path, msgspec.json.encode(storable(written)), follows=False)
            self._is_over.wait(SECONDS_BETWEEN_SIGNS)


def read_playing(path: Path) -> Playing | None:
    """Return what a :class:`PlayingFile` has written; None if it is another file, or has just been removed."""
    with contextlib.suppress(OSError, ValueError):
        playing: Playing = from_json(content_of(path, MOST_OTHER_BYTES), Playing)
        return playing
    return None
