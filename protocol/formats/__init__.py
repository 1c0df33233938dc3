r"""Puzzle file formats: their table, their detection, reading and writing.

>>> [record] = read(b"2 3\n1\n2\n0\n2\n1\n")
>>> record.puzzle.rows, record.puzzle.columns
(((1,), (2,), ()), ((2,), (1,)))
>>> write([record], "oneline").data
b'1:2:0-2:1\n'
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import BinaryIO

from nonobot.protocol.batch import DEFAULT_SIZE
from nonobot.protocol.clues import Fault, FaultKind, count, located
from nonobot.protocol.formats.base import MOST_BYTES, NUMBERS, SIDES, Format, FormatError, Size, UnknownFormatError
from nonobot.protocol.puzzle import TEXT_FIELDS, Found, Record

__all__ = [
    "MOST_BYTES",
    "Format",
    "FormatError",
    "Found",
    "Size",
    "UnknownFormatError",
    "Written",
    "by_extension",
    "detect",
    "detect_prefix",
    "format_named",
    "formats",
    "read",
    "write",
]


@cache
def table() -> dict[str, Format]:
    """Load the formats, in the order in which :func:`detect` tries them."""
    from nonobot.protocol.formats import lists, webpbn
    from nonobot.protocol.formats.headed import HV, NON, NONOGRID, PICROSS, PYNOGRAM, G
    from nonobot.protocol.formats.plain import CWD, GRID, LETTERS, MK, NIN, ONELINE, TAAI

    # Formats with fixed keywords come before those that accept any words, letters or brackets.
    fixed = (webpbn.FORMAT, PICROSS, NONOGRID, PYNOGRAM, HV, GRID, MK, NIN, CWD, ONELINE, G)
    free = (LETTERS, lists.FORMAT, NON, TAAI)
    return {format.name: format for format in fixed + free}


def formats() -> list[Format]:
    """Return the formats in the order of their names."""
    return sorted(table().values(), key=lambda format: format.name)


def format_named(name: str) -> Format:
    """Return a format by its name, or raise FormatError."""
    if name not in table():
        raise FormatError(f"unknown format {name!r}; known are {', '.join(sorted(table()))}")
    return table()[name]


def by_extension(file_name: str) -> Format | None:
    """Return the format with the extension of a file name, if any."""
    return next((format for format in table().values() if file_name.lower().endswith(format.extensions)), None)


_SAMPLE_BYTES = 1 << 16


def detect_prefix(prefix: bytes) -> str | None:
    """Return 'taai' if a stream starts like a batch, otherwise None: then detection needs all of it.

    One text line that is not blank is enough, so that a bot need not wait for the end. No format is loaded.
    """
    return "taai" if prefix.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"$") else None


def detect(data: bytes) -> str:
    """Return the name of the format of a file's content; FormatError: it is unknown."""
    if name := detect_prefix(data[:_SAMPLE_BYTES]):
        return name
    sample = _sample(data)
    full = [line for line in map(str.strip, sample.split("\n")) if line]
    if not full:
        raise FormatError("nothing but blank lines" if data else "the file is empty")
    if found := next((format for format in table().values() if format.looks_like(full)), None):
        return found.name
    hints = "; or like ".join(_resemblances(sample, full))
    hints = f"it looks most like {hints}" if hints else f"known are {', '.join(sorted(table()))}"
    raise UnknownFormatError(f"unknown format; {hints}")


def _sample(data: bytes) -> str:
    """Return the first text lines of a file without white space at its start, or raise FormatError."""
    start = data.removeprefix(codecs.BOM_UTF8).lstrip()
    start = start[: max(_SAMPLE_BYTES, len(start.partition(b"\n")[0]))]  # the first text line as a whole
    if other := next((kind for first, kind in _OTHER_FILES.items() if re.match(first, start)), None):
        raise FormatError(other)
    if b"\0" in start:
        raise FormatError("the file contains binary data, not text")
    text = re.sub("\r\n?", "\n", start.decode("utf-8", "replace"))
    for sign, kind in _OTHER_TEXTS.items():
        if re.search(sign, text, re.MULTILINE | re.IGNORECASE):
            raise FormatError(f"{kind}, which is not read; write its clues as lists, such as rows = [[2], [1, 1]]")
    return text


def read(source: bytes | BinaryIO, format: str | None = None, size: Size | None = None) -> Iterator[Found]:
    """Return the puzzles of a file, and the faults of those that cannot be read, in the order of the file.

    A stream is first read to its end; :class:`nonobot.protocol.TaaiReader` reads TAAI puzzles one at a time.
    Without `format`, the content determines the format. `size` is for formats that do not state it. FormatError,
    at the call: the file is larger than `MOST_BYTES`, is not text, or has no known format, or `format` is unknown.
    At the end: a file of lists has neither rows nor columns.
    """
    if format:
        format_named(format)  # raises before anything is read
    data = source if isinstance(source, bytes) else _content(source)
    if len(data) > MOST_BYTES:
        raise FormatError(f"more than {MOST_BYTES >> 20} MiB; a puzzle file is smaller")
    known = format_named(format or detect(data))
    return known.read(data) if known.states_size else known.read(data, size)


def _content(source: BinaryIO) -> bytes:
    pieces = io.BytesIO()
    while pieces.tell() <= MOST_BYTES and (piece := source.read(min(1 << 20, MOST_BYTES + 1 - pieces.tell()))):
        pieces.write(piece)
    return pieces.getvalue()


@dataclass(frozen=True, slots=True)
class Written:
    """Result of writing records: the file's content, and what was not written."""

    data: bytes  # empty if no puzzle could be written
    count: int
    faults: tuple[Fault, ...]  # puzzles that the format cannot hold
    warnings: tuple[Fault, ...]  # dropped parts of the written puzzles


def write(records: Iterable[Record], format: str) -> Written:
    """Return the content of a file with `records` in a format.

    FormatError: the format is unknown, cannot hold several puzzles, or omits sizes that a reader could not infer.
    """
    to = format_named(format)
    kept: list[Record] = []
    faults: list[Fault] = []
    warnings: list[Fault] = []
    for record in records:
        longest = max(chain(*record.puzzle.rows, *record.puzzle.columns), default=0)
        if longest > to.longest_block:
            problem = f"a block of {longest} cells; {to.name} allows at most {to.longest_block}"
            faults.append(Fault(FaultKind.FORMAT, f"cannot be written as {to.name}: {problem}", record.number))
            continue
        kept.append(record)
        fields = (name for name in (*TEXT_FIELDS, "start", "solution") if getattr(record, name) is not None)
        if lost := ", ".join(name for name in fields if name not in to.holds):
            warnings.append(Fault(FaultKind.FORMAT, f"{to.name} cannot hold the {lost}; dropped", record.number))
    if len(kept) > 1 and not to.several:
        several = ", ".join(known.name for known in formats() if known.several)
        raise FormatError(f"a {to.name} file contains one puzzle, not {len(kept)}; formats for several: {several}")
    if not to.states_size:
        warnings += _unstated_size(kept, to)
    texts = [to.text(record) for record in kept]
    text = to.joined(texts) if to.joined and texts else "".join(texts)
    return Written(text.encode(), len(kept), tuple(faults), tuple(warnings))


def _unstated_size(records: Sequence[Record], to: Format) -> list[Fault]:
    """Return warnings about the size that a reader of the file needs."""
    sizes = sorted({record.size for record in records})
    if sizes in ([], [DEFAULT_SIZE]):
        return []
    names = [f"{width}x{height}" for width, height in sizes]
    message = f"{to.name} does not state the size of the boards; to be read with --size {names[0]}"
    if len(sizes) > 1:
        message = f"{to.name} does not state the sizes of the boards; to be read with --size auto"
        if any(width != height for width, height in sizes):
            mixed = ", ".join(names[:5])
            raise FormatError(f"{to.name} states no sizes; a file can mix only square boards, not {mixed}")
    return [Fault(FaultKind.FORMAT, message)]


# --- files of no known format ------------------------------------------------------------------------------------

_OTHER_FILES = {
    rb"\x89PNG|\xff\xd8\xff|GIF8|(?s:BM.{4}\0{4})|II\*\0|MM\0\*|(?s:RIFF.{4}WEBP)|P[1-6]\s": (
        "a picture; make a puzzle of it with `nonojudge convert FILE puzzle.non`"
    ),
    rb"\x1f\x8b": "compressed (gzip); unpack it first",
    rb"PK\x03\x04|\xfd7zXZ|BZh\d": "compressed; unpack it first",
    rb"\xff\xfe|\xfe\xff": "UTF-16 text; save it as UTF-8",
}
_OTHER_TEXTS = {
    r"\A(%YAML.*\n)?---\s*$|^[\w ]+:[ ]*\n(#.*\n)*\s*-\s": "YAML",
    r"\A(?!(?s:.*)^\[row clues\])(?s:.*)^\[dimensions\]\s*$": "a Gnonograms file without clues",
    r"=\s*\[\||\barray[12]d\s*\(": "MiniZinc data",
    r"\A(?:\\.*\n)*\s*(?:minimi[sz]e|maximi[sz]e|number_of_rows:)\s": "an LP file",
}


def _resemblances(sample: str, full: Sequence[str]) -> list[str]:
    """Return the two likeliest formats, those that can be read up to the last line, with the faults there."""
    code = [line for line in full if not line.startswith("#")]
    if code and all(map(NUMBERS.fullmatch, code)) and not SIDES.fullmatch(code[0]):
        # They are not guessed: some programs write the rows first, others the columns.
        remedy = "put a line H above the clues of the rows and V above the others"
        return [f"hv, but it has {count(len(code), 'line')} of numbers, without headings; {remedy}"]
    stops = []
    for name, known in table().items():
        if known.sign and re.search(known.sign, sample, re.MULTILINE | re.IGNORECASE):
            try:
                fault = next((found for found in read(sample.encode(), name) if isinstance(found, Fault)), None)
            except FormatError as error:
                fault = Fault.of_file(str(error))
            why = f"but {located(fault.message, line=fault.line)}" if fault else "which can read it if you name it"
            stops.append((fault.line or 0 if fault else len(sample), f"{name}, {why}"))
    return [hint for _, hint in sorted(stops, key=lambda stop: -stop[0])[:2]]
