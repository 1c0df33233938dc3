"""picross-solver's own format: `GRID name`, then clues in brackets under `ROWS` and `COLUMNS`.

The form of Pierre Dejoue's solver (https://github.com/pierre-dejoue/picross-solver, `picross_io.h`). A clue is
a line such as `[ 2 1 ]`, an empty one `[ ]` or `[ 0 ]`. Blank lines, and lines that start with `#`, say nothing.
Each `GRID` starts a puzzle; the name behind it is the title and may be missing. `ROWS` and `COLUMNS` come in any
order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nonobot.protocol.faults import Kind, shown
from nonobot.protocol.formats.base import Format, Found
from nonobot.protocol.formats.draft import Draft
from nonobot.protocol.formats.text_lines import Line, bracketed_clue, is_text, lines_of, spaced
from nonobot.protocol.puzzle import Clue
from nonobot.protocol.record import Record

__all__ = ["FORMAT"]

_GRID = re.compile(r"GRID(?:\s+(?P<name>.*))?")
_SECTIONS = ("ROWS", "COLUMNS")


def _looks_like(lines: Sequence[str]) -> bool:
    full = [line for line in lines if not line.startswith("#")]
    inside = any(line in _SECTIONS or line.startswith("[") for line in full[1:])
    return bool(full) and inside and bool(_GRID.fullmatch(full[0]) or full[0] in _SECTIONS)


def _read(data: bytes) -> Iterator[Found]:
    number = 0
    grid: _Grid | None = None
    for line in lines_of(data):
        if not line.text or line.text.startswith("#"):
            continue
        start = _GRID.fullmatch(line.text)
        if start or not grid:
            if grid:
                yield grid.finished()
            number += 1
            grid = _Grid(number, line.number)
        if start:
            grid.take_name(start["name"] or "", line.number)
        else:
            grid.take(line)
    if grid:
        yield grid.finished()


class _Grid:
    """The lines of one puzzle."""

    def __init__(self, number: int, line: int) -> None:
        self._draft = Draft(number, line)
        self._section = ""
        self._seen: set[str] = set()

    def take_name(self, name: str, line: int) -> None:
        """Take what stands behind `GRID`."""
        if not is_text(name):
            self._draft.remark(Kind.NOT_TEXT, "the name has bytes that are not UTF-8 text", line)
        self._draft.texts["title"] = name

    def take(self, line: Line) -> None:
        """Take the next line, neither blank nor a comment."""
        if self._draft.hopeless:
            return
        if line.text in _SECTIONS:
            if line.text in self._seen:
                self._draft.refuse(
                    Kind.SURPLUS, f"a second '{line.text}'; each puzzle starts with a line 'GRID'", line.number
                )
            self._section = line.text
            self._seen.add(line.text)
        elif not line.text.startswith("["):
            what = f"{shown(line.text)} has no place here; expected GRID, ROWS, COLUMNS or a clue such as [ 2 1 ]"
            self._draft.refuse(Kind.UNKNOWN_SECTION, what, line.number)
        elif not self._section:
            self._draft.refuse(
                Kind.STRAY_TEXT, f"{shown(line.text)} stands under no 'ROWS' or 'COLUMNS'", line.number
            )
        else:
            take = self._draft.row if self._section == "ROWS" else self._draft.column
            take(bracketed_clue(line.text), line.number)

    def finished(self) -> Found:
        """Take the end of the puzzle."""
        for section in _SECTIONS:
            if section not in self._seen:
                self._draft.refuse(Kind.MISSING_LINES, f"no line '{section}'")
        return self._draft.finished()


def _write(records: Sequence[Record]) -> str:
    return "\n".join(map(_text, records))


def _text(record: Record) -> str:
    lines = [f"GRID {record.title or ''}".rstrip()]
    for section, clues in zip(_SECTIONS, (record.puzzle.rows, record.puzzle.columns), strict=True):
        lines += [section, *map(_bracketed, clues)]
    return "\n".join(lines) + "\n"


def _bracketed(clue: Clue) -> str:
    return f"[ {spaced(clue)} ]" if clue else "[ ]"


FORMAT = Format(
    name="picross",
    description="picross-solver's GRID, ROWS and COLUMNS, each clue in brackets",
    extensions=(".picross",),
    holds=frozenset({"title"}),
    several=True,
    looks_like=_looks_like,
    read=_read,
    write=_write,
)
