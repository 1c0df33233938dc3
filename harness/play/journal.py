"""The journal of a run: its events, written to disk as they happen, so that a power cut costs one puzzle.

It is next to the result (`X.json`: `X.journal.jsonl`) and is removed once the result is written. The first line is
the result without attempts and verdicts. Each further line is a record, in the order of the events. An incomplete
last line does not count. A record of a kind that only a later version knows is skipped. Reading ends at a damaged
line: with the verdicts after it, those lost in it would count as missing.
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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import msgspec
import psutil
from msgspec import Struct

from nonobot.harness import UnusableError
from nonobot.harness.play.run_events import Alive, AttemptEnded, AttemptStarted, Event, PuzzleJudged
from nonobot.harness.process.bot_process import MARK
from nonobot.harness.process.interrupts import Interrupts
from nonobot.harness.results.file_limits import MOST_BYTES, MOST_OTHER_BYTES, MOST_VERDICTS, too_large
from nonobot.harness.results.result_files import UNDECODABLE, storable
from nonobot.harness.results.run_result import SCHEMA_VERSION, RunResult
from nonobot.harness.text import first_of, say
from nonobot.protocol.clues import count, shown
from nonobot.system import PIECE_BYTES, descriptor_of, reason_of, whole_file

BEGINNING = b'{"kind":"run",'  # of the first line of a journal
DECODE = msgspec.json.Decoder(Event).decode
KINDS = {record.__struct_config__.tag for record in get_args(Event)}
MOST_NAMED = 5  # kinds of records that a warning names


def journal_path(result_path: Path) -> Path:
    """Return where the journal of a result is; `X.json` and `X.txt` have different ones."""
    return result_path.parent / f"{result_path.name.removesuffix('.json')}.journal.jsonl"


class _Kind(Struct):
    kind: str


class Reading:
    """The reading of a journal, which continues where it ended when there is more to read.

    `end` is the number of bytes up to the end of the last whole record, in `line_count` lines. The last reading
    found `size` bytes, and `lost_count` lines from the first damaged one on. `later_kinds` are the first kinds of
    records that only a later version knows.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.end = self.size = self.line_count = self.lost_count = 0
        self.later_kinds: dict[str, None] = {}
        self._verdict_count = 0
        self._other_bytes = 0

    def records(self, file: int) -> Iterator[Event]:
        """Yield the records in an open file from the last end on, up to the first damage.

        UnusableError if it is not a journal or too large, KeyboardInterrupt if the user stops the judge.
        """
        self.size, self.lost_count = os.fstat(file).st_size, 0
        if self.size > MOST_BYTES:
            raise too_large(str(self._path), MOST_BYTES)
        for line in self._lines(file):
            Interrupts.raise_if_stopped()  # a stranger's journal may have millions of records
            if self.lost_count:
                self.lost_count += 1
                continue
            try:
                record = self._record(line)
            except UNDECODABLE:
                self.lost_count = 1
                continue
            if not self.end and not (isinstance(record, RunResult) and record.schema_version == SCHEMA_VERSION):
                raise self._other_file
            self.end += len(line) + 1
            self.line_count += 1
            if record is not None:
                self._require_room(record, len(line))
                yield record
        # A judge may have been stopped within the first line; a power cut may have left NULs.
        begun = os.pread(file, min(len(BEGINNING), self.size), 0).rstrip(b"\0")
        if not self.end and (self.lost_count or not BEGINNING.startswith(begun)):
            raise self._other_file

    @property
    def _other_file(self) -> UnusableError:
        return UnusableError(f"{self._path} is not a journal of this nonojudge")

    def _lines(self, file: int) -> Iterator[bytes]:
        """Yield the whole lines from the end on; of one that is too long, only the beginning."""
        kept, position = b"", self.end
        while piece := os.pread(file, min(PIECE_BYTES, self.size - position), position):
            position += len(piece)
            *lines, rest = piece.split(b"\n")
            if lines:
                yield kept + lines[0]
                yield from lines[1:]
                kept = b""
            if len(kept) <= MOST_OTHER_BYTES:
                kept += rest

    def _record(self, line: bytes) -> Event | None:
        """Return the record in a line, None for one of a kind that only a later version knows."""
        if len(line) > MOST_OTHER_BYTES:
            raise ValueError("too long")
        try:
            return DECODE(line)
        except UNDECODABLE:
            kind = msgspec.json.decode(line, type=_Kind).kind
            if kind in KINDS or not self.end:
                raise
            if len(self.later_kinds) <= MOST_NAMED:
                self.later_kinds[shown(kind)] = None
            return None

    def _require_room(self, record: Event, length: int) -> None:
        if isinstance(record, PuzzleJudged):
            self._verdict_count += 1
            if self._verdict_count > MOST_VERDICTS:
                raise UnusableError(f"cannot read {self._path}: more than {MOST_VERDICTS:,} verdicts")
        elif not isinstance(record, Alive):
            self._other_bytes += length
            if self._other_bytes > MOST_OTHER_BYTES:
                raise too_large(str(self._path), MOST_OTHER_BYTES, " besides the verdicts")


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
        self._reading: Reading | None = Reading(path)
        try:
            self._file = _locked(path)
            with contextlib.ExitStack() as undo:
                undo.callback(os.close, self._file)
                self.records = list(self._reading.records(self._file))
                undo.pop_all()
        except OSError as error:
            raise UnusableError(f"cannot write {path}: {reason_of(error)}") from None
        self._queue: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._writer: threading.Thread | None = threading.Thread(target=self._write, daemon=True)
        self._writer.start()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def mend(self) -> None:
        """Cut off what is not whole, before the first record is added; tell the user what that loses.

        Damage is kept in a copy next to the file, with a name that no command reads. UnusableError if it cannot be
        written.
        """
        if self._reading is None:
            return
        reading, self._reading = self._reading, None
        if reading.lost_count:
            lost = f"{count(reading.lost_count, 'record')} ({reading.size - reading.end:,} bytes)"
            say(
                f"{self._path}: warning: line {reading.line_count + 1} is damaged: the run is resumed before it, "
                f"without the last {lost}; the whole file is kept as {self._kept_copy()}"
            )
        if reading.later_kinds:
            kinds = first_of([*reading.later_kinds], MOST_NAMED)
            say(f"{self._path}: warning: records of the kind {kinds} are skipped: a later nonojudge wrote them")
        try:
            os.ftruncate(self._file, reading.end)
        except OSError as error:
            raise UnusableError(f"cannot write {self._path}: {reason_of(error)}") from None

    def _kept_copy(self) -> Path:
        number = 1
        while os.path.lexists(copy := Path(f"{self._path}.damaged-{number}")):
            number += 1
        try:
            with whole_file(copy, lasting=True, follows=False) as file:
                position = 0
                while piece := os.pread(self._file, PIECE_BYTES, position):
                    Interrupts.raise_if_stopped()
                    position += file.write(piece)
        except OSError as error:
            raise UnusableError(f"cannot write {copy}: {reason_of(error)}") from None
        return copy

    def add(self, record: Event) -> None:
        """Queue a record for writing; UnusableError as for :meth:`mend`."""
        self.mend()
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


def records_in(path: Path) -> Iterator[Event]:
    """Yield the records of a journal, none if there is no file; UnusableError if it is not a journal."""
    try:
        with descriptor_of(path) as file:
            yield from Reading(path).records(file)
    except (FileNotFoundError, NotADirectoryError):  # its judge may just have removed it
        return
    except OSError as error:
        raise UnusableError(f"cannot read {path}: {reason_of(error)}") from None


def read_records(path: Path) -> list[Event]:
    """Return the records of a journal; see :func:`records_in`."""
    return list(records_in(path))


def _append(file: int, records: Sequence[Event]) -> None:
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


def end_leftover(records: Sequence[Event]) -> None:
    """Kill the bot and its process group if the journal's last attempt has no end and its process still runs.

    A stranger's journal may name any process, so it has to state the mark of the process, which nobody can guess.
    """
    attempt = next(
        (event for event in reversed(records) if isinstance(event, AttemptStarted | AttemptEnded)), None
    )
    if isinstance(attempt, AttemptStarted) and is_marked(attempt):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(attempt.pid, signal.SIGKILL)


def is_marked(attempt: AttemptStarted) -> bool:
    """Return whether the process of an attempt still runs, by its mark."""
    with contextlib.suppress(psutil.Error):
        return attempt.mark != "" and psutil.Process(attempt.pid).environ().get(MARK) == attempt.mark
    return False
