"""`.g`: the format of Petr Olsak's solver, black and white.

Text first, of which nothing is read. A line that starts with `:` is where the rows' clues begin, the next such
line where the columns' do, the third ends them; whatever stands behind a `:`, and after the third, is not read
either. A clue has a line of its own, spaces between the numbers, and **an empty line is an empty clue**; a `0` is
read as one, too. Source: the comments in the solver's own samples (http://petr.olsak.net/ftp/olsak/grid/).

Before the first `:` a line `#d` may stand, and below it the colours, a line each: a sign, `:`, a sign for the
terminal, the name of the colour; `0` is the background and `1` the colour of blocks without a sign. These two are
read as white and black. A clue with any other sign is refused, whether it is a colour or a triangle, and so are
triddlers, which have a line `#t`. Written: an empty line for an empty clue, as the solver wants it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nonobot.protocol.faults import Fault, Kind, shown
from nonobot.protocol.formats.base import Format, Found
from nonobot.protocol.formats.draft import Draft
from nonobot.protocol.formats.text_lines import black_clue, lines_of, spaced
from nonobot.protocol.puzzle import Clue
from nonobot.protocol.record import Record

__all__ = ["FORMAT"]

_COLOUR = re.compile(r"(?P<sign>[^\d\s,]):")
_BLOCK = re.compile(r"[\d/\\]", re.ASCII)  # how a clue begins, of numbers or with a triangle
_SECTIONS = ("rows", "columns")


def _looks_like(lines: Sequence[str]) -> bool:
    starts = [index for index, line in enumerate(lines) if line.startswith(":")]
    return len(starts) > 1 and all(map(_BLOCK.match, lines[starts[0] + 1 : starts[1]][:1]))


def _read(data: bytes) -> Iterator[Found]:
    draft: Draft | None = None
    signs: set[str] | None = None  # those of colours, once they are declared
    section = -1  # place in _SECTIONS; before them there is text, after them, too
    for line in lines_of(data):
        draft = draft or (Draft(1, line.number) if line.text else None)
        if draft is None:
            continue
        if line.text.startswith(":"):
            section += 1
            if section == len(_SECTIONS):
                break
        elif section < 0:
            word = line.text[:2].lower()
            if word == "#t":
                draft.refuse(Kind.COLOURED, "a triddler; only grids are read", line.number)
                break
            if signs is None:
                signs = set() if word == "#d" else None
            elif colour := _COLOUR.match(line.text):
                signs.add(colour["sign"])
        else:
            take = draft.column if section else draft.row
            take(_clue(line.text, signs or set()), line.number)
            if draft.hopeless:
                break
    else:
        if draft:
            missing = ("the rows", "the columns", "the end")[section + 1]
            draft.refuse(Kind.MISSING_LINES, f"no line ':' for {missing}")
    if draft:
        yield draft.finished()


def _clue(text: str, signs: set[str]) -> Clue | Fault:
    if not signs.isdisjoint(text[:1000]):
        return Fault(
            Kind.COLOURED, f"clue {shown(text)} has colours or triangles; only black and white puzzles are read"
        )
    return black_clue(text)


def _write(records: Sequence[Record]) -> str:
    (record,) = records
    lines = []
    for section, clues in zip(_SECTIONS, (record.puzzle.rows, record.puzzle.columns), strict=True):
        lines += [f": {section}", *(spaced(clue) if clue else "" for clue in clues)]
    return "\n".join([*lines, ": end"]) + "\n"


FORMAT = Format(
    name="g",
    description="Petr Olsak's .g: lines that start with ':' before the rows' clues, the columns' and the end",
    extensions=(".g",),
    several=False,
    looks_like=_looks_like,
    read=_read,
    write=_write,
)
