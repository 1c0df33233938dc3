"""Which files of a folder the live view reads, and whether the run in each has ended, goes on or was interrupted.

Each subfolder is a tournament. Reading writes nothing and takes no lock, so it does not disturb the runs.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil
from msgspec.structs import replace

from nonobot.harness import UnusableError
from nonobot.harness.play.journal import Reading, is_marked
from nonobot.harness.play.run_events import AttemptStarted, RunSoFar
from nonobot.harness.results.result_files import RESULT_ENDINGS, AnyResult, in_order_of_play, read_any
from nonobot.harness.results.run_result import RunResult, Score
from nonobot.harness.tournament.playing import PLAYING, Playing, read_playing
from nonobot.system import descriptor_of

JOURNAL = ".journal.jsonl"
MOST_ENTRIES = 10_000  # files and folders to look at
MOST_FILES = 500  # results to read, the newest; all journals are read
SILENT_SECONDS = 3.5  # after its last record, a judge does not answer: it writes one every two seconds
FRESH_SECONDS = 30.0  # after its last record, a run whose bot has ended was interrupted

Stamp = tuple[int, int]  # time of a file's last change in nanoseconds, size in bytes; of any clock


@dataclass(frozen=True)
class UnderWay:
    """A run that has a journal and no result yet; its score is that of the answers so far."""

    result: RunResult
    is_running: bool
    is_silent: bool  # the judge has written nothing for a while
    wall_seconds: float


@dataclass(frozen=True)
class Announced:
    """The runs that the command of a tournament plays, as it says itself."""

    playing: Playing
    is_running: bool
    is_silent: bool  # the command has written nothing for a while


class Followed:
    """A run as its journal shows it, None before the first line; each look reads only what is new.

    A shorter journal, or one of another run, is read from its beginning.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._first_line = b""
        self._reading = Reading(path)
        self._run: RunSoFar | None = None

    def look(self) -> None:
        """Read what is new; UnusableError or OSError if the file is not a journal or cannot be read."""
        with descriptor_of(self._path) as file:
            first_line = os.pread(file, len(self._first_line), 0)
            if first_line != self._first_line or os.fstat(file).st_size < self._reading.end:
                self._reading, self._run = Reading(self._path), None
            for event in self._reading.records(file):
                if isinstance(event, RunResult):
                    self._run = RunSoFar(event)
                    self._first_line = os.pread(file, self._reading.end, 0)
                elif self._run:
                    self._run.take(event)

    def run(self, silent_seconds: float) -> UnderWay | None:
        """Return the run, given the time since the last change of its journal; None if it has none yet."""
        run = self._run
        if run is None:
            return None
        is_open = run.open_attempt is not None or not run.attempts  # perhaps the first attempt is about to begin
        is_fresh = silent_seconds < FRESH_SECONDS
        is_running = is_open and (is_fresh or (run.open_attempt is not None and _is_alive(run.open_attempt)))
        is_silent = is_running and silent_seconds > SILENT_SECONDS
        result = replace(run.beginning, score=Score(dict(run.verdicts), list(run.puzzles)))
        return UnderWay(result, is_running, is_silent, run.wall_seconds)


Content = AnyResult | Followed | Playing | str | None
Seen = AnyResult | UnderWay | Announced | str | None


def result_of(journal: Path) -> Path:
    """Return the result file that belongs to a journal."""
    return journal.with_name(journal.name.removesuffix(JOURNAL) + ".json")


def results_to_come(read: Mapping[Path, Seen]) -> set[Path]:
    """Return the result files of runs that are resumed or played again: what they contain is not the result."""
    to_come: set[Path] = set()
    for path, content in read.items():
        if isinstance(content, UnderWay) and content.is_running:
            to_come.add(result_of(path))
        elif isinstance(content, Announced) and content.is_running:
            to_come.update(path.parent / name for name in content.playing.left)
    return to_come


def stamps_of(folder: Path) -> tuple[dict[Path, Stamp], list[str]]:
    """Return the files to read, and messages about files left out."""
    stamps: dict[Path, Stamp] = {}
    left_out, entries = [], 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        entries += len(folders) + len(names)
        for name in names:
            if name == PLAYING or (not name.startswith(".") and name.endswith((*RESULT_ENDINGS, JOURNAL))):
                with contextlib.suppress(OSError):
                    facts = Path(place, name).stat()
                    stamps[Path(place, name)] = facts.st_mtime_ns, facts.st_size
        if entries > MOST_ENTRIES:
            left_out.append(f"more than {MOST_ENTRIES:,} files and folders: none after {place} is looked at")
            break
    results = [path for path in stamps if path.name != PLAYING and not path.name.endswith(JOURNAL)]
    older = sorted(results, key=stamps.__getitem__, reverse=True)[MOST_FILES:]
    if older:
        left_out.append(f"{len(older):,} older results: the newest {MOST_FILES} are shown")
    return {path: stamps[path] for path in in_order_of_play(sorted(stamps.keys() - set(older)))}, left_out


def content_at(path: Path, before: Content) -> Content:
    """Return the content of a file, as `File` has it; that of a journal may continue the one `before`."""
    if path.name == PLAYING:
        return read_playing(path)
    is_journal = path.name.endswith(JOURNAL)
    try:
        if not is_journal:
            return read_any(path)
        followed = before if isinstance(before, Followed) else Followed(path)
        followed.look()
    except (UnusableError, OSError) as error:
        return None if is_journal else str(error)
    return followed


def seen(content: Content, silent_seconds: float) -> Seen:
    """Return what a file shows, given the time since its last change."""
    match content:
        case Followed():
            return content.run(silent_seconds)
        case Playing():
            is_running = silent_seconds < FRESH_SECONDS
            return Announced(content, is_running, is_running and silent_seconds > SILENT_SECONDS)
    return content


def _is_alive(attempt: AttemptStarted) -> bool:
    with contextlib.suppress(psutil.Error):
        started = psutil.Process(attempt.pid).create_time()  # moves when somebody sets the clock
        return abs(started - attempt.process_created) < 1.0 or is_marked(attempt)
    return False
