"""Boards on standard output: as large as there is room for, in colours where there are any."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from typing import NamedTuple

from nonobot.protocol.characters import Blocks, StyledLine, draw, plain_lines, width_of
from nonobot.protocol.picture import Picture

__all__ = ["Place", "drawn_to_fit", "no_half_blocks", "place_of_output", "possible_blocks", "text_of"]

_NEEDED_CHARACTERS = "█▀▄│─┼✗·"
_CODES = {"dim": "2", "bold": "1", "red": "31", "bright_black": "90"}


class Place(NamedTuple):
    """A terminal, file or pipe that boards are written to."""

    columns: int  # unlimited in a file or a pipe
    lines: int  # seen at once, next to a line for the prompt
    encoding: str
    has_colours: bool


def place_of_output() -> Place:
    """Return the place that standard output is, with its present size.

    There are colours on terminals, unless NO_COLOR is set, and wherever FORCE_COLOR is set.
    """
    is_terminal = sys.stdout.isatty()
    columns, lines = shutil.get_terminal_size() if is_terminal else (sys.maxsize, sys.maxsize)
    can_style = is_terminal and os.environ.get("TERM", "dumb") not in ("dumb", "unknown")
    has_colours = (can_style or "FORCE_COLOR" in os.environ) and not os.environ.get("NO_COLOR")
    return Place(columns, lines - 1, sys.stdout.encoding or "utf-8", has_colours)


def no_half_blocks(picture: Picture, place: Place) -> str | None:
    """Return the reason why a board cannot be drawn with half blocks there; None if it can."""
    if not _has_blocks(place):
        return f"the encoding of the output ({place.encoding}) has none"
    if picture.is_partly_known and not place.has_colours:
        return "unknown cells differ from white ones by their colour, and there are no colours here"
    return None


def possible_blocks(picture: Picture, place: Place) -> list[Blocks]:
    """Return the blocks with which a board can be drawn there, the largest first."""
    if not _has_blocks(place):
        return [Blocks.ASCII]
    return [Blocks.FULL] if no_half_blocks(picture, place) else [Blocks.FULL, Blocks.HALF]


def drawn_to_fit(
    picture: Picture,
    place: Place,
    blocks: Sequence[Blocks],
    clues: Sequence[bool] = (True, False),
    colours: Sequence[Sequence[str]] | None = None,
    may_scroll: bool = True,
) -> list[StyledLine] | None:
    """Return a board as it fits, or None if it does not.

    Parameters
    ----------
    picture : Picture
    place : Place
    blocks : sequence of Blocks
        Blocks to try, the largest first.
    clues : sequence of bool
        Whether to draw clues; the second is tried where the board does not fit with the first.
    colours : sequence of sequence of str, optional
        As for :func:`nonobot.protocol.characters.draw`.
    may_scroll : bool
        Whether a board that is only too high fits too: then with the smallest blocks.
    """
    for with_clues in clues:
        drawn = [draw(picture, one, with_clues, colours) for one in blocks]
        narrow = [lines for lines in drawn if width_of(lines) <= place.columns]
        low = [lines for lines in narrow if len(lines) <= place.lines]
        if low:
            return low[0]
        if narrow and may_scroll:
            return narrow[-1]
    return None


def text_of(lines: Sequence[StyledLine], place: Place) -> list[str]:
    """Return lines as they are written there: with their styles, and what the encoding lacks as `?`."""
    styled = (
        ["".join(_styled(*piece) for piece in line) for line in lines] if place.has_colours else plain_lines(lines)
    )
    return [line.encode(place.encoding, "replace").decode(place.encoding) for line in styled]


def _has_blocks(place: Place) -> bool:
    try:
        _NEEDED_CHARACTERS.encode(place.encoding)
    except UnicodeEncodeError:
        return False
    return True


def _styled(text: str, style: str) -> str:
    colour, _, ground = style.partition("on ")
    if not style or (text.isspace() and not ground):
        return text
    codes = [_code(word, "38") for word in colour.split()] + [_code(word, "48") for word in ground.split()]
    return f"\x1b[{';'.join(codes)}m{text}\x1b[0m"


def _code(word: str, layer: str) -> str:
    number = re.fullmatch(r"color\((\d+)\)", word)
    if number:
        return f"{layer};5;{number[1]}"
    return _CODES[word] if layer == "38" else str(int(_CODES[word]) + 10)
