"""One puzzle on a line: `3:2,1:3-1,2:3,1`.

First the rows' clues, then a `-`, then the columns'; `:` between clues, `,` between block lengths. An empty clue
is a `0` or nothing. Every line that is not blank is a puzzle. Written: a `0` for an empty clue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nonobot.protocol.faults import Kind
from nonobot.protocol.formats.base import MOST_SIDE, Format, Found
from nonobot.protocol.formats.draft import Draft
from nonobot.protocol.formats.text_lines import Line, clue_from_text, lines_of, with_commas
from nonobot.protocol.puzzle import Clue
from nonobot.protocol.record import Record

__all__ = ["FORMAT"]


def _looks_like(lines: Sequence[str]) -> bool:
    return bool(re.fullmatch(r"[\d,:\s]+-[\d,:\s]+", lines[0], re.ASCII))


def _read(data: bytes) -> Iterator[Found]:
    number = 0
    for line in lines_of(data):
        if line.text:
            number += 1
            yield _puzzle(number, line)


def _puzzle(number: int, line: Line) -> Found:
    draft = Draft(number, line.number)
    rows, dash, columns = line.text.partition("-")
    if not dash or "-" in columns:
        count = "more than one" if dash else "no"
        draft.refuse(Kind.UNUSABLE_MARKUP, f"{count} '-'; expected the rows' clues, '-', the columns' clues")
        return draft.finished()
    for text, take in ((rows, draft.row), (columns, draft.column)):
        if text.count(":") >= MOST_SIDE:
            draft.refuse(Kind.BAD_SIZE, f"more than {MOST_SIDE} clues")
            continue
        for clue in text.split(":"):
            take(clue_from_text(clue.strip()), line.number)
    return draft.finished()


def _write(records: Sequence[Record]) -> str:
    return "".join(f"{_text(record.puzzle.rows)}-{_text(record.puzzle.columns)}\n" for record in records)


def _text(clues: Sequence[Clue]) -> str:
    return ":".join(map(with_commas, clues))


FORMAT = Format(
    name="oneline",
    description="a puzzle a line: rows, '-', columns; ':' between clues, ',' between numbers",
    extensions=(".oneline",),
    several=True,
    looks_like=_looks_like,
    read=_read,
    write=_write,
)
