r"""The TAAI batch as a file: `$k`, then the columns' clues and the rows', a line each, TAB between the numbers.

The stream of the tournaments is read by `protocol.taai`; this is the same form, read as a whole. It states no
size: where none is given, boards are 25x25 if the first one can be read as such, and else square, of whatever
size their number of lines makes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from protocol.faults import Fault
from protocol.formats.base import Format, Found
from protocol.record import Record
from protocol.taai import DEFAULT_SIZE, Entry, format_puzzle, read_batch

__all__ = ["FORMAT"]


def _looks_like(lines: Sequence[str]) -> bool:
    return any(re.fullmatch(r"\$\s*\d{1,18}", line, re.ASCII) for line in lines)


def _read(data: bytes, size: tuple[int, int] | None) -> Iterator[Found]:
    for entry in read_batch(io.BytesIO(data), size or _size(data)):
        yield _record(entry) if isinstance(entry, Entry) else entry


def _record(entry: Entry) -> Found:
    if entry.puzzle is None:
        assert entry.fault is not None
        return entry.fault
    return Record(entry.puzzle, number=entry.number, line=entry.line)


def _size(data: bytes) -> tuple[int, int] | None:
    """Return the tournaments' size where the first puzzle has it and no lines are left over, or else None."""
    first, *after = islice(read_batch(io.BytesIO(data), DEFAULT_SIZE), 2) or [None]
    fits = isinstance(first, Entry) and first.puzzle and not (after and isinstance(after[0], Fault))
    return DEFAULT_SIZE if fits else None


def _write(records: Sequence[Record]) -> str:
    return b"".join(format_puzzle(record.number, record.puzzle) for record in records).decode("ascii")


FORMAT = Format(
    name="taai",
    description="the tournaments' batch: $k, the columns' clues, the rows' clues",
    extensions=(".txt", ".taai"),
    holds=frozenset(),
    several=True,
    looks_like=_looks_like,
    read=_read,
    write=_write,
    states_size=False,
)
