"""Boards on a terminal: as they fit there, in colours where it has them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence

from nonobot.protocol import Puzzle, Solution, format_answer
from nonobot.protocol.characters import Blocks, Line, draw, width_of
from nonobot.protocol.picture import Picture

__all__ = ["drawn", "has_colours", "picture_of", "text_of"]

_NEEDED = "█▀▄│─┼✗·"
_CODES = {"dim": "2", "bold": "1", "red": "31", "bright_black": "90"}


def has_colours() -> bool:
    """Tell whether standard output is to have colours."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


def drawn(
    picture: Picture, room: tuple[int, int], colours: Sequence[Sequence[str]] | None = None
) -> list[Line] | None:
    """Return a board as large as fits, with its clues if they do; None if it does not fit at all.

    Parameters
    ----------
    picture : Picture
    room : (int, int)
        Columns and lines.
    colours : sequence of sequence of str, optional
        As for :func:`nonobot.protocol.characters.draw`.
    """
    for blocks, clues in _ways(picture, colours is not None):
        lines = draw(picture, blocks, clues, colours)
        if width_of(lines) <= room[0] and len(lines) <= room[1]:
            return lines
    return None


def picture_of(puzzle: Puzzle, number: int, solution: Solution) -> bytes:
    """Return an answer as a picture for the terminal; as the batch has it, if the terminal is too small."""
    columns, _ = os.get_terminal_size(sys.stdout.fileno())
    lines = drawn(Picture(puzzle, solution.cells), (columns, sys.maxsize))
    if lines is None:
        return format_answer(number, solution)
    return "".join(f"{line}\n" for line in text_of(lines)).encode(sys.stdout.encoding, "replace")


def _ways(picture: Picture, is_coloured: bool) -> Iterator[tuple[Blocks, bool]]:
    try:
        _NEEDED.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        yield from ((Blocks.ASCII, clues) for clues in (True, False))
        return
    yield Blocks.FULL, True
    if is_coloured or not picture.is_partly_known:  # without colours half blocks tell no white from unknown
        yield from ((Blocks.HALF, clues) for clues in (True, False))
    yield Blocks.FULL, False


def text_of(lines: Sequence[Line]) -> list[str]:
    """Return lines as a terminal takes them: with their styles, or without where there are to be no colours."""
    if not has_colours():
        return ["".join(piece.text for piece in line) for line in lines]
    return ["".join(_styled(piece.text, piece.style) for piece in line) for line in lines]


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
