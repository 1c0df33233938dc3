r"""The TAAI batch as a file: `$k`, then the columns' clues and the rows', a line each, TAB between the numbers.

The stream of the tournaments is read by `protocol.batch`; this is the same form, read as a whole. It states no
size: where none is given, boards are 25x25 if the first one can be read as such, and else square, of whatever
size their number of lines makes; a remark says so. With the size `auto` they are square from the start.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from nonobot.protocol.batch import DEFAULT_SIZE, format_puzzle, read_batch
from nonobot.protocol.faults import Fault, Kind
from nonobot.protocol.formats.base import MOST_SIDE, Format, Size
from nonobot.protocol.record import Found, Record

__all__ = ["FORMAT"]


def _looks_like(lines: Sequence[str]) -> bool:
    return any(re.fullmatch(r"\$\s*\d{1,18}", line, re.ASCII) for line in lines)


def _read(data: bytes, size: Size | None) -> Iterator[Found]:
    sides = None if size == "auto" else size or _size(data)
    assumed = size is None and sides is None
    for entry in read_batch(io.BytesIO(data), sides):
        if isinstance(entry, Record) and max(entry.size) > MOST_SIDE:
            what = f"a board of {entry.size[0]}x{entry.size[1]}; sides are 1 to {MOST_SIDE}"
            entry = Fault(Kind.BAD_SIZE, what, entry.number, entry.line)
        elif isinstance(entry, Record) and assumed:
            assumed = False  # said once
            what = f"no size is stated; by the number of lines this is {entry.size[0]}x{entry.size[1]}"
            entry = replace(entry, remarks=(Fault(Kind.ASSUMED_SIZE, what, entry.number, entry.line),))
        yield entry


def _size(data: bytes) -> tuple[int, int] | None:
    """Return the tournaments' size where the first puzzle has it and no lines are left over, or else None."""
    match list(islice(read_batch(io.BytesIO(data), DEFAULT_SIZE), 2)):
        case [Record(), Fault(is_in_place=False)]:
            return None
        case [Record(), *_]:
            return DEFAULT_SIZE
    return None


def _write(records: Sequence[Record]) -> str:
    return b"".join(format_puzzle(record.number, record.puzzle) for record in records).decode("ascii")


FORMAT = Format(
    name="taai",
    description="the tournaments' batch: $k, the columns' clues, the rows' clues",
    extensions=(".txt", ".taai"),
    several=True,
    looks_like=_looks_like,
    read=_read,
    write=_write,
    states_size=False,
)
