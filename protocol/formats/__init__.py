r"""Puzzle file formats: their table, their detection, reading and writing.

>>> [record] = read(b"2 3\n1\n2\n0\n2\n1\n")
>>> record.puzzle.rows, record.puzzle.columns
(((1,), (2,), ()), ((2,), (1,)))
>>> write([record], "oneline").data
b'1:2:0-2:1\n'
"""

from __future__ import annotations

import io
import operator
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, dropwhile, groupby
from typing import BinaryIO

from nonobot.protocol.batch import DEFAULT_SIZE
from nonobot.protocol.clues import Fault, FaultKind, count, shown
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
    from nonobot.protocol.formats import lists, non, webpbn
    from nonobot.protocol.formats.headed import HV, NONOGRID, PICROSS, PYNOGRAM, G
    from nonobot.protocol.formats.many import LETTERS, ONELINE, TAAI
    from nonobot.protocol.formats.sized import CWD, GRID, MK, NIN

    # Formats with fixed keywords come before those that accept any words, letters or brackets.
    fixed = (webpbn.FORMAT, PICROSS, HV, GRID, MK, NIN, CWD, ONELINE, G)
    free = (NONOGRID, PYNOGRAM, LETTERS, lists.FORMAT, non.FORMAT, TAAI)
    return {format.name: format for format in fixed + free}


def formats() -> list[Format]:
    """Return the formats in the order of their names."""
    return sorted(table().values(), key=lambda format: format.name)


def _known_names() -> str:
    return ", ".join(sorted(table()))


def format_named(name: str) -> Format:
    """Return a format by its name, or raise FormatError."""
    if name not in table():
        raise FormatError(f"unknown format {name!r}; known are {_known_names()}")
    return table()[name]


def by_extension(file_name: str) -> Format | None:
    """Return the format with the extension of a file name, if any."""
    lower = file_name.lower()
    return next((one for one in table().values() if lower.endswith(one.extensions)), None)


_SAMPLE_BYTES = 1 << 16
_BOM = b"\xef\xbb\xbf"


def detect_prefix(prefix: bytes) -> str | None:
    """Return 'taai' if a stream starts like a batch, otherwise None: then detection needs all of it.

    One text line that is not blank is enough, so that a bot need not wait for the end. No format is loaded.
    """
    return "taai" if prefix.removeprefix(_BOM).lstrip().startswith(b"$") else None


def detect(data: bytes) -> str:
    """Return the name of the format of a file's content; FormatError: it is unknown."""
    if name := detect_prefix(data[:_SAMPLE_BYTES]):
        return name
    lines = _sample(data)
    full = [line for line in lines if line]
    for format in table().values():
        if format.looks_like(full):
            return format.name
    close = next(_resemblances(lines), None)
    more = f"it {close}" if close else f"known are {_known_names()}"
    raise UnknownFormatError(f"unknown format; {more}")


def _sample(data: bytes) -> Sequence[str]:
    """Return the first text lines of a file without blank ones at its start, or raise FormatError."""
    start = data.removeprefix(_BOM).lstrip()[:_SAMPLE_BYTES]
    if start.startswith(b"\x1f\x8b"):
        raise FormatError("compressed (gzip); unpack it first")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError("UTF-16 text; save it as UTF-8")
    if b"\0" in start:
        raise FormatError("the file contains binary data, not text")
    lines = [line.strip() for line in re.split("\r\n|\r|\n", start.decode("utf-8", "replace"))]
    sample = list(dropwhile(operator.not_, lines))
    if not sample:
        raise FormatError("nothing but blank lines" if data else "the file is empty")
    return sample


def read(source: bytes | BinaryIO, format: str | None = None, size: Size | None = None) -> Iterator[Found]:
    """Return the puzzles of a file, and the faults of those that cannot be read, in the order of the file.

    A stream is first read to its end; :class:`nonobot.protocol.TaaiReader` reads TAAI puzzles one at a time.
    Without `format`, the content determines the format. `size` is for formats that do not state it. FormatError,
    at the call: the file is larger than `MOST_BYTES`, is not text, or has no known format, or `format` is unknown.
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
            what = f"{to.name} cannot hold the {lost}; dropped"
            warnings.append(Fault(FaultKind.FORMAT, what, record.number))
    if len(kept) > 1 and not to.several:
        several = ", ".join(one.name for one in formats() if one.several)
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
    what = f"{to.name} does not state the size of the boards; to be read with --size {names[0]}"
    if len(sizes) > 1:
        what = f"{to.name} does not state the sizes of the boards; to be read with --size auto"
        if any(width != height for width, height in sizes):
            mixed = ", ".join(names[:5])
            raise FormatError(f"{to.name} states no sizes; a file can mix only square boards, not {mixed}")
    return [Fault(FaultKind.FORMAT, what)]


# --- files of no known format ------------------------------------------------------------------------------------

# The parts of a file are not guessed: some programs write the rows first, others the columns, and most such files
# are different puzzles when read the wrong way round.

_HEADING = re.compile(r"\W*(?P<name>rows?|columns?|cols?|horizontals?|verticals?)\b(?P<behind>.*)", re.IGNORECASE)
_COLUMN_NAMES = ("col", "ver")


def _resemblances(lines: Sequence[str]) -> Iterator[str]:
    """Yield the ends of sentences about the first lines of a file, the likeliest first."""
    code = [line for line in lines if not line.startswith("#")]
    if any(code) and all(map(NUMBERS.fullmatch, code)):
        yield _numbers_alone(code)
    full = [line for line in lines if line]
    if any(re.match(r"GRID\b", line) for line in full):
        for word in ("ROWS", "COLUMNS"):
            if word not in full:
                yield f"looks most like picross, but has no line '{word}'"
    starts = [line for line in full if line.startswith(":")]
    colours = any(line[:2].lower() == "#d" for line in full)
    if starts and (colours or any(map(NUMBERS.fullmatch, full))):
        what = "a line ':' before the rows and another before the columns"
        yield f"looks most like g, but needs {what}, found {len(starts)}"
    if headings := [heading for line in full if (heading := _HEADING.fullmatch(line))]:
        yield _with_headings(headings)
    if SIDES.fullmatch(full[0]):
        for line in full[1:]:
            if not NUMBERS.fullmatch(line):
                yield f"looks most like nin, but {shown(line)} is not a clue"
    for line in full:
        if re.search(r"[\[{(]\s*[\[{(]\s*\d", line):
            what = "starts neither with a bracket nor with a name such as 'rows ='"
            yield f"looks most like lists, but {shown(line)} {what}"


def _numbers_alone(code: Sequence[str]) -> str:
    parts = [sum(1 for _ in part) for is_full, part in groupby(code, key=bool) if is_full]
    first, *others = (line for line in code if line)
    if len(parts) == 2:
        what = f"{shown(first)} and {shown(others[0])}, are not its height and its width"
        return f"looks most like cwd (height, width, rows, a blank line, columns), but its first two lines, {what}"
    if size := SIDES.fullmatch(first):
        needed, there = int(size[1]) + int(size[2]), sum(parts) - 1
        return f"looks most like nin, but {shown(first)} needs {count(needed, 'clue line')}, found {there}"
    numbers = f"{count(sum(parts), 'line')} of numbers"
    return f"has {numbers} and neither a size nor headings: nothing distinguishes rows from columns"


def _with_headings(headings: Sequence[re.Match[str]]) -> str:
    kinds = {"columns" if heading["name"].lower().startswith(_COLUMN_NAMES) else "rows" for heading in headings}
    first, last = shown(headings[0][0]), shown(headings[-1][0])
    if len(kinds) == 1:
        return f"has a line {first}, but none for the {'rows' if 'columns' in kinds else 'columns'}"
    if all(heading["behind"].lstrip().startswith("=") for heading in headings):
        return "looks most like pynogram, but has no line '[clues]'"
    return f"looks most like hv, but has {first} and {last} where that has H and V"
