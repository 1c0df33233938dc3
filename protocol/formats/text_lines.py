"""What the text formats share: lines, clues and drawn boards."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from nonobot.protocol.clues import clue_from_words
from nonobot.protocol.faults import (
    BadGrid,
    BadSize,
    ExtraLines,
    Fault,
    LineTooLong,
    MissingLines,
    NotANumber,
    NotText,
    shown,
)
from nonobot.protocol.formats.base import MOST_SIDE
from nonobot.protocol.puzzle import Clue

__all__ = [
    "Line",
    "board_size",
    "cells_from_lines",
    "clue_from_text",
    "clue_lines",
    "gathered",
    "is_text",
    "lines_of",
    "spaced",
    "with_commas",
]

LONGEST_CLUE = 1 << 16
"""Characters of the longest clue that is looked at; those of the largest board are shorter."""


class Line(NamedTuple):
    """A line of a file: its number, counted from 1, and its text without white space around it."""

    number: int
    text: str


def lines_of(data: bytes) -> Iterator[Line]:
    """Yield the lines of a file, whatever its line ends; a byte order mark is dropped.

    Bytes that are not UTF-8 become U+FFFD, which :func:`is_text` finds.
    """
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", errors="replace")
    for number, line in enumerate(text, 1):
        yield Line(number, line.strip())


def board_size(text: str, form: re.Pattern[str], no_size: str) -> tuple[int, int] | Fault:
    """Return the width and the height that `text` spells, unless no board here is so large, or it has no cells.

    Parameters
    ----------
    text : str
    form : re.Pattern
        Of the whole text; its first two groups are the digits of the width and the height.
    no_size : str
        What is said of a text of another form.
    """
    found = form.fullmatch(text)
    if not found:
        return BadSize(f"{shown(text)} {no_size}")
    width, height = found[1], found[2]
    sides = [int(side) if len(side) < 10 else MOST_SIDE + 1 for side in (width, height)]
    if not all(1 <= side <= MOST_SIDE for side in sides):
        return BadSize(f"a board of {width[:20]}x{height[:20]}; sides are 1 to {MOST_SIDE}")
    return sides[0], sides[1]


def gathered(lines: Iterable[Line]) -> list[Line]:
    """Return `lines` as a list that stays small: no more of them, blank or not, than the largest board needs."""
    kept: list[Line] = []
    counts = {True: 0, False: 0}  # of blank and of other lines
    for line in lines:
        blank = not line.text
        counts[blank] += 1
        if counts[blank] <= 2 * MOST_SIDE + 1:
            kept.append(line)
    return kept


def is_text(text: str) -> bool:
    """Return whether `text` was text in the file, and not other bytes."""
    return "\0" not in text and "\ufffd" not in text


def _words_of(text: str) -> list[str]:
    """Return what stands between commas or white space; nothing between two commas is an empty word."""
    return re.split(r"\s*,\s*|\s+", text) if text else []


def clue_from_text(text: str) -> Clue | Fault:
    """Return the clue that a line spells: block lengths with commas or white space between; the fault is
    without its place.
    """
    if len(text) > LONGEST_CLUE:
        return LineTooLong(f"a clue of over {LONGEST_CLUE} characters")
    if not is_text(text):
        return NotText("bytes that are not text; expected block lengths")
    words = _words_of(text)
    if "" in words:
        return NotANumber(f"clue {shown(text)} has a comma without a number")
    return clue_from_words(words)


def spaced(clue: Clue) -> str:
    """Return a clue as it is written with spaces."""
    return " ".join(map(str, clue)) or "0"


def with_commas(clue: Clue) -> str:
    """Return a clue as it is written with commas."""
    return ",".join(map(str, clue)) or "0"


def clue_lines(lines: Sequence[Line], needed: int, what: str) -> Sequence[Line] | Fault:
    """Return the `needed` clue lines among `lines`.

    Blank lines are mere space where the others are `needed`, and empty clues where it takes them to have so many.

    Parameters
    ----------
    lines : sequence of Line
        All lines up to the next part of the file.
    needed : int
    what : str
        Whose clues they are, for the message.

    Returns
    -------
    sequence of Line or Fault
        The fault has its line, and no puzzle.
    """
    full = [line for line in lines if line.text]
    if len(full) == needed:
        return full
    last = lines[-1].number if lines else None
    if len(full) > needed:
        extra = full[needed]
        text = f"expected {needed} clue lines for {what}, found {len(full)}: too many from {shown(extra.text)} on"
        return ExtraLines(text, line=extra.number)
    with_blank = lines[:needed]
    if len(with_blank) == needed and not any(line.text for line in lines[needed:]):
        return with_blank
    return MissingLines(f"expected {needed} clue lines for {what}, found {len(full)}", line=last)


def cells_from_lines(lines: Sequence[Line], meaning: Mapping[str, int]) -> list[list[int]] | Fault:
    """Return the cells of a drawn board, one character a cell; the fault has its line, and no puzzle."""
    width = len(lines[0].text) if lines else 0
    if not width:
        return BadGrid("a drawn board without cells")
    rows = []
    for line in lines:
        if len(line.text) != width:
            return BadGrid(f"a row of {len(line.text)} cells after rows of {width}", line=line.number)
        for cell in line.text:
            if cell not in meaning:
                known = " ".join(meaning)
                return BadGrid(f"{shown(cell)} is not a cell; expected one of {known}", line=line.number)
        rows.append([meaning[cell] for cell in line.text])
    return rows
