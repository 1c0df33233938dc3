"""Which files of a folder the live view reads, and whether the run in each has ended, goes on or was interrupted.

Each subfolder is a tournament. Reading writes nothing and takes no lock, so it does not disturb the runs.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import psutil

from nonobot.harness import UnusableError
from nonobot.harness.play.journal import Alive, AttemptEnded, AttemptStarted, PuzzleJudged, read_records
from nonobot.harness.results.result_files import RESULT_ENDINGS, AnyResult, in_order_of_play, read_any
from nonobot.harness.results.run_result import RunResult, Score
from nonobot.harness.tournament.playing import PLAYING, Playing, read_playing

JOURNAL = ".journal.jsonl"
MOST_ENTRIES = 10_000  # files and folders to look at
MOST_FILES = 500  # results to read, the newest; all journals are read
SILENT_SECONDS = 3.5  # after its last record, a judge does not answer: it writes one every two seconds
FRESH_SECONDS = 30.0  # after its last record, a run whose bot has ended was interrupted

Stamp = tuple[int, int]  # time of a file's last change in nanoseconds, size in bytes


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


Content = AnyResult | UnderWay | Announced | str | None


def started_at(content: AnyResult | UnderWay | Announced) -> str:
    """Return when a run or the command of a tournament began; nothing if that is unknown."""
    match content:
        case UnderWay(result):
            return result.started_at
        case Announced(playing):
            return playing.started_at
    return content.started_at if isinstance(content, RunResult) else ""


def result_of(journal: Path) -> Path:
    """Return the result file that belongs to a journal."""
    return journal.with_name(journal.name.removesuffix(JOURNAL) + ".json")


def results_to_come(read: Mapping[Path, Content]) -> set[Path]:
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


def content_at(path: Path) -> Content:
    """Return what a file contains: an error message if it is unreadable, None for a journal without a run."""
    if path.name == PLAYING:
        return _announcement(path)
    is_journal = path.name.endswith(JOURNAL)
    try:
        return _under_way(path) if is_journal else read_any(path)
    except (UnusableError, OSError) as error:
        return None if is_journal else str(error)


def _under_way(path: Path) -> UnderWay | None:
    records = read_records(path)
    age_seconds = time.time() - path.stat().st_mtime
    if not records or not isinstance(records[0], RunResult):
        return None
    score = Score.of(record.result for record in records if isinstance(record, PuzzleJudged))
    wall, before, running = 0.0, 0.0, age_seconds < FRESH_SECONDS  # its first attempt is about to begin
    for record in records:
        match record:
            case AttemptStarted(_, _, pid, created):
                running = age_seconds < FRESH_SECONDS or _is_alive(pid, created)
            case Alive(usage):
                wall = before + usage.wall_seconds
            case AttemptEnded(attempt):
                before += attempt.usage.wall_seconds
                wall, running = before, False
    arrived = max((puzzle.arrived_seconds or 0.0 for puzzle in score.puzzles), default=0.0)
    is_silent = running and age_seconds > SILENT_SECONDS
    return UnderWay(msgspec.structs.replace(records[0], score=score), running, is_silent, max(wall, arrived))


def _announcement(path: Path) -> Announced | None:
    playing = read_playing(path)
    try:
        age_seconds = time.time() - path.stat().st_mtime
    except OSError:  # the command has just ended
        return None
    is_running = age_seconds < FRESH_SECONDS
    return Announced(playing, is_running, is_running and age_seconds > SILENT_SECONDS) if playing else None


def _is_alive(pid: int, created: float) -> bool:
    try:
        return abs(psutil.Process(pid).create_time() - created) < 1.0
    except psutil.Error:
        return False
