"""The journal of a run: its events, written to disk as they happen, so that a power cut costs one puzzle.

It is next to the result (`X.json`: `X.journal.jsonl`) and is removed once the result is written. The first line is
the result without attempts and verdicts. Each further line is a record, in the order of the events. An incomplete
last line does not count.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import queue
import signal
import stat
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import psutil
from msgspec import UNSET, Struct, UnsetType

from nonobot.harness import UnusableError
from nonobot.harness.process.bot_process import MARK
from nonobot.harness.process.interrupts import Interrupts
from nonobot.harness.results.conditions import CgroupMeasures, Figure, Whole
from nonobot.harness.results.result_files import MOST_BYTES, UNDECODABLE, content_of, storable
from nonobot.harness.results.run_result import SCHEMA_VERSION, Attempt, PuzzleResult, RunResult, Usage
from nonobot.system import content_in


class AttemptStarted(Struct, frozen=True, tag_field="kind", tag="attempt-started"):
    """A bot was started."""

    started_at: str
    first_puzzle: Whole
    pid: Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
    process_created: Figure  # with `pid`, identifies the process for the live view
    sandboxed: bool  # as in `Attempt`, whose record is lost if the judge is killed
    cgroup_measures: CgroupMeasures
    filtered: bool | UnsetType = UNSET
    mark: str = ""  # of the process, by which a later judge knows it


class PuzzleJudged(Struct, frozen=True, tag_field="kind", tag="judged"):
    """A puzzle got its verdict."""

    result: PuzzleResult


class Alive(Struct, frozen=True, tag_field="kind", tag="alive"):
    """The usage so far of the current attempt: the only record of it if the judge is killed."""

    usage: Usage
    stood_still_seconds: Figure | UnsetType = UNSET  # as in `Attempt`


class AttemptEnded(Struct, frozen=True, tag_field="kind", tag="attempt-ended"):
    """An attempt ended; the counts of duplicates and strays are those of the whole run."""

    attempt: Attempt
    stderr_bytes: Whole
    duplicate_count: Whole
    stray_count: Whole
    notes: list[str]


Record = RunResult | AttemptStarted | PuzzleJudged | Alive | AttemptEnded
BEGINNING = b'{"kind":"run",'  # of the first line of a journal


def journal_path(result_path: Path) -> Path:
    """Return where the journal of a result is; `X.json` and `X.txt` have different ones."""
    return result_path.parent / f"{result_path.name.removesuffix('.json')}.journal.jsonl"


class Journal:
    """An append-only file of records, open for one judge at a time.

    Adding a record does not wait: a thread writes the new records and syncs them to the disk. At the end of its
    `with` block the journal is complete and closed. `records` is its content when it was opened. `trouble` is the
    error that ended the writing, known after :meth:`close`.

    UnusableError if another judge has the file open, it is not a journal, or it cannot be written.
    KeyboardInterrupt if the user stops the judge while it reads the file, which then stays as it is.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.trouble: OSError | None = None
        try:
            self._file = _locked(path)
            with contextlib.ExitStack() as undo:
                undo.callback(os.close, self._file)
                self.records, whole_bytes = _decoded(content_in(self._file, MOST_BYTES), path)
                os.ftruncate(self._file, whole_bytes)
                undo.pop_all()
        except OSError as error:
            raise UnusableError(f"cannot write {path}: {error.strerror}") from None
        self._queue: queue.SimpleQueue[Record | None] = queue.SimpleQueue()
        self._writer: threading.Thread | None = threading.Thread(target=self._write, daemon=True)
        self._writer.start()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, record: Record) -> None:
        """Queue a record for writing."""
        self._queue.put(record)

    def close(self) -> None:
        """Write the remaining records and release the file for other judges."""
        if self._writer is not None:
            self._queue.put(None)
            self._writer.join()
            self._writer = None
            os.close(self._file)

    def remove(self) -> None:
        """Remove the file."""
        self._path.unlink(missing_ok=True)

    def _write(self) -> None:
        going_on = True
        while going_on:
            batch = [self._queue.get()]
            while not self._queue.empty():
                batch.append(self._queue.get())
            going_on = None not in batch
            if self.trouble is None:  # a line after an incomplete one would make both unreadable
                try:
                    _append(self._file, [record for record in batch if record is not None])
                except OSError as error:
                    self.trouble = error


def read_records(path: Path) -> list[Record]:
    """Return the records of a journal, none if there is no file; UnusableError if it is not a journal."""
    try:
        return _decoded(content_of(path), path)[0] if path.exists() else []
    except UnusableError:
        if path.exists():
            raise
        return []  # its judge has just removed it


def _append(file: int, records: Sequence[Record]) -> None:
    data = memoryview(b"".join(msgspec.json.encode(storable(record)) + b"\n" for record in records))
    while data:
        data = data[os.write(file, data) :]
    os.fsync(file)


def _locked(path: Path) -> int:
    """Return the descriptor of `path`, created if missing, with a lock that no other judge has."""
    while True:
        # A stranger's folder may contain a link to a file of the user, another name for it, or a pipe.
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            os.close(file)
            raise UnusableError(f"{path} is not a journal of this nonojudge")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            raise UnusableError(f"{path}: another nonojudge is writing this result") from None
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP):  # file systems without locks
                os.close(file)
                raise
        if os.fstat(file).st_nlink:
            return file
        os.close(file)  # the judge that had the file has just removed it


def _decoded(content: bytes, path: Path) -> tuple[list[Record], int]:
    """Return the records in `content` up to the first damage, and their length in bytes."""
    records: list[Record] = []
    whole_bytes = 0
    while end := content.find(b"\n", whole_bytes) + 1:
        Interrupts.heed()  # a stranger's journal may have millions of records
        line = content[whole_bytes:end]
        try:
            records.append(msgspec.json.decode(line, type=Record))
        except UNDECODABLE:
            break
        whole_bytes = end
    if b"\n" in content:
        head = records[0] if records else None
        is_journal = isinstance(head, RunResult) and head.schema_version == SCHEMA_VERSION
    else:  # a judge was stopped within the first line; a power cut may have left NULs
        is_journal = BEGINNING.startswith(content[: len(BEGINNING)].rstrip(b"\0"))
    if not is_journal:
        raise UnusableError(f"{path} is not a journal of this nonojudge")
    return records, whole_bytes


def end_leftover(records: Sequence[Record]) -> None:
    """Kill the bot and its process group if the journal's last attempt has no end and its process still runs.

    A stranger's journal may name any process, so it has to state the mark of the process, which nobody can guess.
    """
    attempt = next(
        (event for event in reversed(records) if isinstance(event, AttemptStarted | AttemptEnded)), None
    )
    if not isinstance(attempt, AttemptStarted):
        return
    with contextlib.suppress(psutil.Error, ProcessLookupError, PermissionError):
        if attempt.mark and psutil.Process(attempt.pid).environ().get(MARK) == attempt.mark:
            os.killpg(attempt.pid, signal.SIGKILL)
