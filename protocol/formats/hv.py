"""The H / V text form: a line `H`, the rows' clues, a line `V`, the columns' clues.

H is for horizontal, so the rows, V for vertical; either may come first. A clue has a line of its own, with spaces
or commas between the numbers, and a `0` is an empty clue. The form states no size, so a blank line between clues
could be space or an empty clue: it is refused. Written: spaces, and a `0` for an empty clue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nonobot.protocol.faults import Kind, shown
from nonobot.protocol.formats.base import Format, Found
from nonobot.protocol.formats.draft import Draft
from nonobot.protocol.formats.text_lines import clue_from_text, lines_of, spaced
from nonobot.protocol.record import Record

__all__ = ["FORMAT"]

_HEADINGS = ("H", "V")


def _heading(text: str) -> str:
    """Return 'H' or 'V' if `text` is such a heading, else nothing."""
    word = text.removesuffix(":").rstrip().upper()
    return word if word in _HEADINGS else ""


def _looks_like(lines: Sequence[str]) -> bool:
    return bool(_heading(lines[0])) and not (len(lines) > 1 and _is_letters(lines[1]))


def _is_letters(line: str) -> bool:
    """Return whether `line` is one of a file of letters, whose single row may be one block of eight, H."""
    in_letters = re.fullmatch(r"[A-Z0@\s]+", line) and re.search("[A-Z]", line)
    return bool(in_letters) and not _heading(line)


def _read(data: bytes) -> Iterator[Found]:
    draft: Draft | None = None
    heading = ""
    seen: set[str] = set()
    clues = 0  # under this heading
    blank: int | None = None  # line number of a blank line after the last clue
    for line in lines_of(data):
        if draft and draft.hopeless:
            break
        if not line.text:
            blank = blank or line.number
            continue
        draft = draft or Draft(1, line.number)
        found = _heading(line.text)
        if found in seen:
            draft.refuse(Kind.SURPLUS, f"a second '{found}'; such a file holds one puzzle", line.number)
        if found:
            heading, clues = found, 0
            seen.add(found)
        elif not heading:
            draft.refuse(Kind.STRAY_TEXT, f"{shown(line.text)} stands before 'H' and 'V'", line.number)
        else:
            if blank and clues:
                draft.refuse(Kind.STRAY_TEXT, "a blank line between clues; an empty clue is written 0", blank)
            clues += 1
            take = draft.row if heading == "H" else draft.column
            take(clue_from_text(line.text), line.number)
        blank = None
    if draft:
        for missing in sorted(set(_HEADINGS) - seen):
            draft.refuse(Kind.MISSING_LINES, f"no line '{missing}'")
        yield draft.finished()


def _write(records: Sequence[Record]) -> str:
    (record,) = records
    puzzle = record.puzzle
    return "\n".join(["H", *map(spaced, puzzle.rows), "V", *map(spaced, puzzle.columns)]) + "\n"


FORMAT = Format(
    name="hv",
    description="a line H, the rows' clues, a line V, the columns' clues",
    extensions=(".hv",),
    several=False,
    looks_like=_looks_like,
    read=_read,
    write=_write,
)
