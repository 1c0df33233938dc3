"""Puzzles from standard input and files: a batch is read as it arrives, other formats as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Literal

from nonobot.protocol import DEFAULT_SIZE, Fault, Found, read_batch
from nonobot.protocol.clues import FaultKind
from nonobot.system import CHUNK_BYTES, chunks_until, lines_in, reason_of

_STDIN = 0
Size = tuple[int, int] | Literal["auto"] | None  # of all boards of a batch; 'auto': square ones; None: 25x25
AUTO, STREAM = "auto", "taai"  # values of `--format`: detect the format; solve a batch as it arrives


class UnusableError(Exception):
    """Input or output that cannot be used at all; the message is one text line with the reason."""


def read_puzzles(
    files: Sequence[str], form: str, size: Size, deadline: float | None, head: bytearray
) -> Iterable[Found]:
    """Return the puzzles of files (`-` is standard input) in order; without files, those of standard input.

    The numbers of the puzzles continue from file to file. A file that cannot be read is one fault. `head` receives
    the beginning of standard input, for :func:`why_no_puzzle`. TimeoutError: see :func:`chunks_until`.
    """
    if files:
        return _puzzles_of_files(files, form, size, deadline)
    try:
        return puzzles_in(_remembered(chunks_until(_STDIN, deadline), head), form, size)
    except UnusableError as error:
        raise UnusableError(f"standard input: {error}") from None


def _puzzles_of_files(files: Sequence[str], form: str, size: Size, deadline: float | None) -> Iterator[Found]:
    last = 0
    for file in files:
        before = last
        is_stdin = file == "-"
        try:
            with open(_STDIN if is_stdin else file, "rb", buffering=0, closefd=not is_stdin) as source:
                for puzzle in puzzles_in(chunks_until(source.fileno(), deadline), form, size, is_whole=True):
                    placed = _placed(puzzle, file, before)
                    last = max(last, placed.number or 0)
                    yield placed
        except TimeoutError:
            raise
        except OSError as error:
            yield Fault(FaultKind.UNREADABLE, f"cannot read the file: {reason_of(error)}", file=file)
        except UnusableError as error:
            yield Fault(FaultKind.UNREADABLE, str(error), file=file)


def _placed(puzzle: Found, file: str, before: int) -> Found:
    """Return a puzzle with its file, and its number increased by `before`, the number of earlier puzzles."""
    if isinstance(puzzle, Fault):
        return replace(puzzle, number=None if puzzle.number is None else before + puzzle.number, file=file)
    number = before + puzzle.number
    warnings = tuple(replace(warning, number=number, file=file) for warning in puzzle.warnings)
    return replace(puzzle, number=number, file=file, warnings=warnings)


def puzzles_in(chunks: Iterator[bytes], form: str, size: Size, is_whole: bool = False) -> Iterable[Found]:
    """Return the puzzles of one input and their faults: those of a batch as they arrive, others as a list.

    `form` is a name of `nonobot.protocol.formats`, or AUTO. `is_whole`: also read a batch without a size as a
    whole, so that its boards may have another size than 25x25.
    UnusableError: the input does not have that format, or (AUTO) any known format.
    """
    if form == AUTO:
        from nonobot.protocol.formats import detect_prefix

        head = _read_whole(chunks, only_to_text=True)
        chunks = chain([head], chunks)
        form = detect_prefix(head) or AUTO
    if form == STREAM and not (is_whole and size is None):
        return read_batch(lines_in(chunks), None if size == "auto" else size or DEFAULT_SIZE)
    from nonobot.protocol.formats import FormatError, read  # only here: a tournament needs none of it

    try:
        return list(read(_read_whole(chunks), None if form == AUTO else form, size))
    except FormatError as error:
        raise UnusableError(str(error)) from None


def _read_whole(chunks: Iterable[bytes], only_to_text: bool = False) -> bytes:
    """Return a whole input, or its part up to the first chunk with text; at most little more than MOST_BYTES."""
    from nonobot.protocol.formats import MOST_BYTES

    data = bytearray()
    for chunk in chunks:
        data += chunk
        has_text = chunk.strip(b"\xef\xbb\xbf \t\r\n\v\f")  # not only a byte order mark and white space
        if len(data) > MOST_BYTES or (only_to_text and has_text):
            break
    return bytes(data)


def _remembered(chunks: Iterable[bytes], head: bytearray) -> Iterator[bytes]:
    """Yield chunks, and put the first of them into `head`."""
    for chunk in chunks:
        if len(head) < CHUNK_BYTES:
            head += chunk
        yield chunk


def why_no_puzzle(form: str, head: bytes, is_blank: bool) -> str:
    """Return why standard input, read as `form`, has no puzzle; `head` is its beginning."""
    if form != STREAM:
        return "standard input: cannot find a puzzle"
    if is_blank:
        return "standard input: cannot find a puzzle; a puzzle starts with '$1' (see --help)"
    from nonobot.protocol.formats import FormatError, detect

    try:
        name = detect(head)
    except FormatError as error:
        return f"standard input: not a batch, in which '$1' starts a puzzle: {error}"
    found = f"it looks like a puzzle file in the format {name}"
    return f"standard input: not a batch, but {found}; add --format {name}"
