"""The puzzles on standard input, whatever their form: a batch as it arrives, other files as a whole."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from nonobot.bot.limits import LONGEST_LINE
from nonobot.protocol import Entry, Fault, PartialGrid, Puzzle, Record, TaaiReader
from nonobot.protocol.faults import ExtraLines

__all__ = ["AUTO", "STREAM", "Task", "UnreadableError", "chunks_until", "lines_of", "tasks"]

_CHUNK_BYTES = 1 << 16
_LONGEST_KEPT = 1 << 16
"""A line is cut after about so many bytes: no clue is longer, and memory stays small."""


def chunks_until(descriptor: int, deadline: float | None) -> Iterator[bytes]:
    """Yield what arrives on `descriptor` until its end.

    Parameters
    ----------
    descriptor : int
        Open for reading.
    deadline : float or None
        On the clock of `time.monotonic`.

    Raises
    ------
    TimeoutError
        If `deadline` passes before the end.
    OSError
        If the descriptor cannot be read.
    """
    while True:
        _wait(descriptor, deadline)
        chunk = os.read(descriptor, _CHUNK_BYTES)
        if not chunk:
            return
        yield chunk


def lines_of(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines in pieces of a stream, each before the piece after its end is asked for."""
    kept = b""
    for chunk in chunks:
        lines = chunk.split(b"\n")
        if len(lines) > 1:
            yield kept + lines[0]
            yield from lines[1:-1]
            kept = b""
        if len(kept) < _LONGEST_KEPT:
            kept += lines[-1]
    if kept:
        yield kept


def _wait(descriptor: int, deadline: float | None) -> None:
    """Wait for input, or raise TimeoutError when the time is up."""
    if deadline is None:
        return
    remaining = deadline - time.monotonic()
    if remaining <= 0 or not select.select([descriptor], [], [], remaining)[0]:
        raise TimeoutError


AUTO, STREAM = "auto", "taai"
"""The form that is recognised, and the one whose puzzles are solved as they arrive."""


class UnreadableError(Exception):
    """An input that cannot be read at all; the message is one line that says why."""


@dataclass(frozen=True, slots=True)
class Task:
    """One puzzle to answer, or what is wrong with it; exactly one of the two is set.

    Attributes
    ----------
    number : int
        The k of `$k`.
    line : int or None
        Of the input, where the puzzle begins.
    size : (int, int)
        Width and height of the board, as far as they can be told.
    puzzle : Puzzle or None
    fault : Fault or None
    start : PartialGrid or None
        The board to start from.
    remarks : tuple of Fault
        What of the input was left out.
    is_alone : bool
        It is known that there is no other puzzle.
    """

    number: int
    line: int | None
    size: tuple[int, int]
    puzzle: Puzzle | None = None
    fault: Fault | None = None
    start: PartialGrid | None = None
    remarks: tuple[Fault, ...] = ()
    is_alone: bool = False

    @property
    def problem(self) -> str | None:
        """Why it cannot be solved as it stands: its fault, or a board that is too large; one line."""
        if self.fault:
            return str(self.fault)
        width, height = self.size
        if max(width, height) > LONGEST_LINE:
            what = f"a {width}x{height} board is too large; a side has up to {LONGEST_LINE} cells"
            return str(Fault(what, self.number, self.line))
        return None


def tasks(chunks: Iterator[bytes], form: str, size: tuple[int, int] | None) -> Iterator[Task | Fault]:
    """Yield the puzzles of an input; a bare fault is of text that belongs to no puzzle still to be answered.

    Parameters
    ----------
    chunks : iterator of bytes
        The input as it arrives.
    form : str
        A name of `nonobot.protocol.formats`, or AUTO.
    size : (int, int) or None
        For a batch: width and height of every board; None: square ones, whose size is inferred.

    Raises
    ------
    UnreadableError
        If the input is no file of `form`, or of no form that is known.
    """
    if form == AUTO:
        head = _head(chunks)
        chunks = chain([head], chunks)
        form = STREAM if _is_batch(head) else AUTO
    return _of_batch(chunks, size) if form == STREAM else _of_file(chunks, form)


def _head(chunks: Iterable[bytes]) -> bytes:
    """Return the beginning of the input up to where something stands."""
    head = b""
    for chunk in chunks:
        head += chunk
        if head.strip().removeprefix(b"\xef\xbb\xbf"):
            break
    return head


def _is_batch(head: bytes) -> bool:
    from nonobot.protocol.formats import detect_prefix

    return detect_prefix(head) == STREAM


def _of_batch(chunks: Iterable[bytes], size: tuple[int, int] | None) -> Iterator[Task | Fault]:
    reader = TaaiReader(size)
    for line in lines_of(chunks):
        yield from map(_of_entry, reader.feed(line))
    yield from map(_of_entry, reader.close())


def _of_entry(found: Entry | Fault) -> Task | Fault:
    if isinstance(found, Fault):
        return found
    return Task(found.number, found.line, found.size, found.puzzle, found.fault)


def _of_file(chunks: Iterable[bytes], form: str) -> Iterator[Task | Fault]:
    from nonobot.protocol.formats import MOST_BYTES, FormatError, read  # only here: a tournament needs none of it

    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > MOST_BYTES:
            break
    try:
        everything = list(read(bytes(data), None if form == AUTO else form))
    except FormatError as error:
        raise UnreadableError(str(error)) from None
    is_alone = len(everything) == 1
    for found in everything:
        if not isinstance(found, Fault):
            yield _of_record(found, is_alone)
        elif found.puzzle is None or isinstance(found, ExtraLines):
            yield found
        else:
            yield Task(found.puzzle, found.line, (0, 0), fault=found)


def _of_record(record: Record, is_alone: bool) -> Task:
    size = record.puzzle.width, record.puzzle.height
    return Task(record.number, record.line, size, record.puzzle, None, record.start, record.remarks, is_alone)
