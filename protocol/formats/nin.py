"""`.nin`: a line `width height`, then a line for each row, then one for each column, spaces between the numbers.

The form of Jakub Wilk's solver, as Jan Wolter's survey of solvers names it (https://webpbn.com/survey/). An empty
clue is a `0`; a blank line is taken as one where the number of lines asks for it. Written: a `0`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nonobot.protocol.formats.base import Format, Found
from nonobot.protocol.formats.draft import Draft
from nonobot.protocol.formats.text_lines import Line, clue_from_text, clue_lines, gathered, sized_puzzle, spaced
from nonobot.protocol.record import Record

__all__ = ["FORMAT"]

_SIZE = re.compile(r"(\d+)\s+(\d+)", re.ASCII)
_NO_SIZE = "is not a width and a height, such as '25 25'"


def _looks_like(lines: Sequence[str]) -> bool:
    size = _SIZE.fullmatch(lines[0])
    sane = size and len(lines[0]) < 40 and int(size[1]) and int(size[2])
    return bool(sane) and all(re.fullmatch(r"[\d\s,-]*", line, re.ASCII) for line in lines[1:3])


def _read(data: bytes) -> Iterator[Found]:
    return sized_puzzle(data, _SIZE, _NO_SIZE, _take)


def _take(draft: Draft, width: int, height: int, lines: Iterator[Line]) -> None:
    found = clue_lines(draft, gathered(lines), width + height, f"the {height} rows and {width} columns")
    for index, line in enumerate(found):
        take = draft.row if index < height else draft.column
        take(clue_from_text(line.text), line.number)


def _write(records: Sequence[Record]) -> str:
    (record,) = records
    puzzle = record.puzzle
    lines = [f"{puzzle.width} {puzzle.height}", *map(spaced, puzzle.rows), *map(spaced, puzzle.columns)]
    return "\n".join(lines) + "\n"


FORMAT = Format(
    name="nin",
    description="'width height', the rows' clues, the columns' clues",
    extensions=(".nin",),
    several=False,
    looks_like=_looks_like,
    read=_read,
    write=_write,
)
