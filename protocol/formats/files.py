"""Files of any format: which formats there are, which one a file has, reading it, writing it."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import BinaryIO

from nonobot.protocol.batch import DEFAULT_SIZE
from nonobot.protocol.faults import Fault, Kind
from nonobot.protocol.formats.base import MOST_BYTES, Format, FormatError, Found, Size, UnknownFormatError
from nonobot.protocol.record import TEXT_FIELDS, Record

__all__ = [
    "Written",
    "by_extension",
    "detect",
    "detect_prefix",
    "format_named",
    "formats",
    "known_names",
    "read",
    "table",
    "write",
]


@cache
def table() -> dict[str, Format]:
    """Load the formats, in the order in which :func:`detect` tries them."""
    from nonobot.protocol.formats import grid, lists, non, taai, webpbn
    from nonobot.protocol.formats.counted import CWD, MK, NIN
    from nonobot.protocol.formats.headed import HV, PICROSS, G
    from nonobot.protocol.formats.oneline import LETTERS, ONELINE
    from nonobot.protocol.formats.pynogram import NONOGRID, PYNOGRAM

    # Formats with words of their own come before those that take any words, letters or brackets.
    order = (
        *(webpbn.FORMAT, PICROSS, HV, grid.FORMAT, MK, NIN, CWD, ONELINE, G),
        *(NONOGRID, PYNOGRAM, LETTERS, lists.FORMAT, non.FORMAT, taai.FORMAT),
    )
    return {format.name: format for format in order}


def formats() -> list[Format]:
    """Return the formats, in the order of their names."""
    return sorted(table().values(), key=lambda format: format.name)


def format_named(name: str) -> Format:
    """Return a format by its name.

    Raises
    ------
    FormatError
        If there is none of that name.
    """
    found = table().get(name)
    if found is None:
        raise FormatError(f"there is no format {name!r}; known are {known_names()}")
    return found


def by_extension(file_name: str) -> Format | None:
    """Return the format that the end of a file's name stands for, if any."""
    lower = file_name.lower()
    return next((one for one in table().values() if lower.endswith(one.extensions)), None)


def known_names() -> str:
    """Return the names of all formats, for a message."""
    return ", ".join(one.name for one in formats())


_SAMPLE_BYTES = 1 << 16
_BOM = b"\xef\xbb\xbf"


def detect_prefix(prefix: bytes) -> str | None:
    r"""Return 'taai' where the first bytes of a stream already say so, else None: the rest is needed.

    The answer is there with the first line that is not blank, so that a bot need not wait for the end of its
    input; no format is loaded for it.

    Examples
    --------
    >>> detect_prefix(b"\n$1\n")
    'taai'
    """
    return "taai" if prefix.removeprefix(_BOM).lstrip().startswith(b"$") else None


def detect(data: bytes) -> str:
    """Return the name of the format that a file's content has.

    Raises
    ------
    FormatError
        If it is none of them; the message says what the file is instead or what it looks most like, or lists
        the formats.
    """
    found = detect_prefix(data[:_SAMPLE_BYTES])
    if found:
        return found
    lines = _sample(data)
    full = [line for line in lines if line]
    for format in table().values():
        if format.looks_like(full):
            return format.name
    from nonobot.protocol.formats.nearest import nearest

    close = nearest(lines)
    more = f"it {close}" if close else f"known are {known_names()}"
    raise UnknownFormatError(f"the content is of no known format; {more}")


def _sample(data: bytes) -> Sequence[str]:
    """Return the first lines of a file, from the first that is not blank on.

    Raises
    ------
    FormatError
        If there are none, or if they are no text.
    """
    start = data.removeprefix(_BOM).lstrip()[:_SAMPLE_BYTES]
    if not start:
        raise FormatError("nothing but blank lines" if data else "an empty file")
    if start.startswith(b"\x1f\x8b"):
        raise FormatError("compressed (gzip); unpack it first")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError("UTF-16 text; save it as UTF-8")
    if b"\0" in start:
        raise FormatError("binary data, no text")
    lines = start.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    stripped = [line.strip() for line in lines]
    first = next((index for index, line in enumerate(stripped) if line), None)
    if first is None:  # white space that bytes.lstrip does not know
        raise FormatError("nothing but blank lines")
    return stripped[first:]


def read(source: bytes | BinaryIO, format: str | None = None, size: Size | None = None) -> Iterator[Found]:
    """Return the puzzles of a file, and the faults of those that cannot be read, in the order of the file.

    Parameters
    ----------
    source : bytes or binary file
        The whole file; a stream is read to its end first. For TAAI puzzles one at a time, use
        :class:`protocol.TaaiReader`.
    format : str, optional
        A name from :func:`formats`; without, the content decides.
    size : (int, int) or 'auto', optional
        Width and height of every board, used where the format states none; `auto` for square boards of any
        sizes. Without, the format decides.

    Yields
    ------
    Record or Fault
        A fault stands in the place of its puzzle, or belongs to none (see :attr:`Fault.is_in_place`).

    Raises
    ------
    FormatError
        At the call: if the file is larger than `MOST_BYTES`, is no text, is of no known format, or if there is
        no format of the given name. Nothing else is raised, whatever the content.
    OSError
        At the call: if the file cannot be read.
    """
    if format:
        format_named(format)  # before anything is read
    data = source if isinstance(source, bytes) else _content(source)
    if len(data) > MOST_BYTES:
        raise FormatError(f"more than {MOST_BYTES >> 20} MiB; a puzzle file is smaller")
    found = format_named(format or detect(data))
    return found.read(data) if found.states_size else found.read(data, size)


def _content(source: BinaryIO) -> bytes:
    pieces = io.BytesIO()
    while pieces.tell() <= MOST_BYTES:
        piece = source.read(min(1 << 20, MOST_BYTES + 1 - pieces.tell()))
        if not piece:
            break
        pieces.write(piece)
    return pieces.getvalue()


@dataclass(frozen=True, slots=True)
class Written:
    """What came of writing.

    Attributes
    ----------
    data : bytes
        The file; empty if no puzzle could be written.
    count : int
        Number of puzzles in it.
    faults : tuple of Fault
        The puzzles that the format cannot hold: they are not in the file.
    remarks : tuple of Fault
        What the format has no place for, of the puzzles that are in the file.
    """

    data: bytes
    count: int
    faults: tuple[Fault, ...]
    remarks: tuple[Fault, ...]


def write(records: Iterable[Record], format: str) -> Written:
    """Return the file that holds `records` in a format.

    Puzzles that the format cannot write are left out and named; what it cannot say about a puzzle (a title, a
    start) is left out and named, too.

    Raises
    ------
    FormatError
        If there is no such format; if it holds one puzzle a file and there are several; or if it states no size
        and nobody could tell the sizes of these boards.
    """
    to = format_named(format)
    kept: list[Record] = []
    faults: list[Fault] = []
    remarks: list[Fault] = []
    for record in records:
        problem = to.problem(record)
        if problem:
            faults.append(Fault(Kind.CANNOT_HOLD, f"cannot be written as {to.name}: {problem}", record.number))
        else:
            kept.append(record)
            remarks += _left_out(record, to)
    _check_count(kept, to)
    if not to.states_size:
        remarks += _unstated_size(kept, to)
    data = to.write(kept).encode() if kept else b""
    return Written(data, len(kept), tuple(faults), tuple(remarks))


def _check_count(records: Sequence[Record], to: Format) -> None:
    if len(records) > 1 and not to.several:
        several = ", ".join(one.name for one in formats() if one.several)
        raise FormatError(
            f"{to.name} holds one puzzle a file, not {len(records)}; several can be held by {several}"
        )


def _unstated_size(records: Sequence[Record], to: Format) -> list[Fault]:
    """Return what a reader has to be told about the sizes of the boards."""
    sizes = sorted({record.size for record in records})
    names = [f"{width}x{height}" for width, height in sizes]
    if len(sizes) > 1 and any(width != height for width, height in sizes):
        raise FormatError(
            f"{to.name} states no sizes; a file can mix square boards only, and here are {', '.join(names[:5])}"
        )
    if len(sizes) > 1:
        what = f"{to.name} does not state the sizes of the boards; to be read with --size auto"
    elif sizes and sizes[0] != DEFAULT_SIZE:
        what = f"{to.name} does not state the size of the boards; to be read with --size {names[0]}"
    else:
        return []
    return [Fault(Kind.LEFT_OUT, what)]


def _left_out(record: Record, to: Format) -> list[Fault]:
    names = [name for name in (*TEXT_FIELDS, "start", "solution") if getattr(record, name) is not None]
    lost = [name for name in names if name not in to.holds]
    what = f"{to.name} has no place for the {', '.join(lost)}"
    return [Fault(Kind.LEFT_OUT, what, record.number)] if lost else []
