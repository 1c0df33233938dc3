"""The puzzles on standard input, whatever their form: a batch as it arrives, other files as a whole."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from typing import Literal, NamedTuple

from nonobot.bot import LONGEST_SIDE
from nonobot.protocol import DEFAULT_SIZE, Fault, Found, Record, read_batch
from nonobot.protocol.faults import Kind

__all__ = [
    "AUTO",
    "STREAM",
    "Item",
    "UnreadableError",
    "chunks_until",
    "found_in",
    "items_of",
    "lines_of",
    "problem_of",
    "why_no_puzzle",
]

_STDIN = 0
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


def _remembered(chunks: Iterable[bytes], head: bytearray) -> Iterator[bytes]:
    """Yield the pieces of a stream, and put the first of them into `head`, for :func:`why_no_puzzle`."""
    for chunk in chunks:
        if len(head) < _CHUNK_BYTES:
            head += chunk
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


def problem_of(found: Found) -> Fault | None:
    """Return why there is nothing to solve: what is wrong with a puzzle, or that its board is too large."""
    if isinstance(found, Fault):
        return found
    width, height = found.size
    if max(width, height) <= LONGEST_SIDE:
        return None
    what = f"a {width}x{height} board is too large; a side has up to {LONGEST_SIDE} cells"
    return Fault(Kind.BAD_SIZE, what, found.number, found.line)


class Item(NamedTuple):
    """What an input holds.

    Attributes
    ----------
    found : Found or UnreadableError
        A puzzle, what is wrong with one, or why a file cannot be read.
    file : str
        Which one, as the user named it; empty for the batch on standard input.
    is_alone : bool
        It is known that there is no other.
    """

    found: Found | UnreadableError
    file: str = ""
    is_alone: bool = False

    @property
    def is_puzzle(self) -> bool:
        """Whether it is a puzzle, or a fault in the place of one."""
        return isinstance(self.found, Record) or (isinstance(self.found, Fault) and self.found.is_in_place)

    def named(self, message: str) -> str:
        """Return a message with the file that it is about."""
        file = "standard input" if self.file == "-" else self.file
        return f"{file}: {message}" if file else message


def items_of(
    files: Sequence[str],
    form: str,
    size: tuple[int, int] | Literal["auto"] | None,
    deadline: float | None,
    head: bytearray,
) -> Iterator[Item]:
    """Yield the puzzles of files one after the other; without files, those of the batch on standard input.

    Of several files the puzzles are numbered on from file to file. A file that cannot be read costs no other.

    Parameters
    ----------
    files : sequence of str
        `-` is standard input.
    form, size
        As for :func:`found_in`.
    deadline : float or None
        On the clock of `time.monotonic`.
    head : bytearray
        Takes the beginning of the batch, for :func:`why_no_puzzle`.

    Raises
    ------
    UnreadableError, OSError
        If the batch on standard input cannot be read.
    TimeoutError
        If `deadline` passes while standard input is waited for.
    """
    if not files:
        every = found_in(_remembered(chunks_until(_STDIN, deadline), head), form, size)
        is_alone = isinstance(every, list) and len(every) == 1
        yield from (Item(found, is_alone=is_alone) for found in every)
        return
    before = 0
    for file in files:
        last = before
        try:
            with _opened(file) as descriptor:
                every = found_in(chunks_until(descriptor, deadline), form, size, is_whole=True)
                is_alone = len(files) == 1 and isinstance(every, list) and len(every) == 1
                for found in every:
                    found = _numbered_on(found, before)
                    last = max(last, found.number or 0)
                    yield Item(found, file, is_alone)
        except TimeoutError:
            raise
        except OSError as error:
            yield Item(UnreadableError(error.strerror or str(error)), file)
        except UnreadableError as error:
            yield Item(error, file)
        before = last


def _numbered_on(found: Found, before: int) -> Found:
    """Return what was found, with all its numbers raised by those that went before."""
    if not before or found.number is None:
        return found
    if isinstance(found, Fault):
        return replace(found, number=before + found.number)
    remarks = tuple(replace(remark, number=before + (remark.number or 0)) for remark in found.remarks)
    return replace(found, number=before + found.number, remarks=remarks)


@contextmanager
def _opened(file: str) -> Iterator[int]:
    if file == "-":
        yield _STDIN
        return
    descriptor = os.open(file, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def found_in(
    chunks: Iterator[bytes],
    form: str,
    size: tuple[int, int] | Literal["auto"] | None,
    is_whole: bool = False,
) -> Iterable[Found]:
    """Return the puzzles of an input and their faults: a list of all of them, or of a batch each as it arrives.

    Parameters
    ----------
    chunks : iterator of bytes
        The input as it arrives.
    form : str
        A name of `nonobot.protocol.formats`, or AUTO.
    size : (int, int), 'auto' or None
        For a batch: width and height of every board; `auto`: square ones, whose size is inferred; None: 25x25.
    is_whole : bool
        The input is a file, and nobody waits for an answer to a part of it: a batch without a size is looked at as
        a whole, as other forms are, and its boards may be of another size than 25x25.

    Raises
    ------
    UnreadableError
        If the input is no file of `form`, or of no form that is known.
    """
    if form == AUTO:
        from nonobot.protocol.formats import detect_prefix

        head = _head(chunks)
        chunks = chain([head], chunks)
        form = detect_prefix(head) or AUTO
    if form != STREAM or (is_whole and size is None):
        return _of_file(chunks, form, size)
    return read_batch(lines_of(chunks), None if size == "auto" else size or DEFAULT_SIZE)


def why_no_puzzle(form: str, head: bytes, is_blank: bool) -> str:
    """Return, for an input without a puzzle, what it is instead.

    Parameters
    ----------
    form : str
        As for :func:`found_in`.
    head : bytes
        How the input begins.
    is_blank : bool
        Whether nothing stands in it.
    """
    if form != STREAM:
        return "no puzzle on standard input"
    if is_blank:
        return "no puzzle on standard input; a puzzle starts with '$1' (see --help)"
    from nonobot.protocol.formats import FormatError, detect

    try:
        name = detect(head)
    except FormatError as error:
        return f"standard input is no batch, in which '$1' starts a puzzle: {error}"
    return (
        f"standard input is no batch but looks like a puzzle file of the form {name}: --format {name} reads such"
    )


_SAYS_NOTHING = b"\xef\xbb\xbf \t\r\n\v\f"
"""The bytes of a byte order mark, and those between words."""


def _head(chunks: Iterable[bytes]) -> bytes:
    """Return the beginning of the input up to where something stands, or more than a puzzle file may have."""
    from nonobot.protocol.formats import MOST_BYTES

    head = bytearray()
    for chunk in chunks:
        head += chunk
        if chunk.strip(_SAYS_NOTHING) or len(head) > MOST_BYTES:
            break
    return bytes(head)


def _of_file(chunks: Iterable[bytes], form: str, size: tuple[int, int] | Literal["auto"] | None) -> list[Found]:
    from nonobot.protocol.formats import MOST_BYTES, FormatError, read  # only here: a tournament needs none of it

    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > MOST_BYTES:
            break
    try:
        return list(read(bytes(data), None if form == AUTO else form, size))
    except FormatError as error:
        raise UnreadableError(str(error)) from None
