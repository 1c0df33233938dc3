"""Boards drawn in characters and fitted to a terminal: a text line for each row, or with half blocks for two rows.

With whole blocks a cell is two characters wide. With half blocks it is one character wide and half a text line
high. Of the two rows in a text line, the clue of the upper one is at the left, that of the lower one at the right.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from nonobot.protocol.clues import BLACK, UNKNOWN, WHITE
from nonobot.protocol.scene import GROUP, Picture, numbers

if TYPE_CHECKING:
    import numpy.typing as npt

    from nonobot.protocol.puzzle import Puzzle


class Blocks(StrEnum):
    """Kind of characters that cells are drawn with."""

    FULL = "full"
    HALF = "half"
    ASCII = "ascii"


class Piece(NamedTuple):
    """Characters of one style; `style` is a style name of rich."""

    text: str
    style: str = ""


StyledLine = list[Piece]  # one line of text
Colours = Sequence[Sequence[str]]  # a colour of rich for each cell, empty for a blank one; shape (height, width)
FRAME, DOT, WRONG, SHADE = "dim", "dim", "bold red", "bright_black"


class _Signs(NamedTuple):
    """Characters of one kind of drawing; a ruler has three: its start, its crossings and its end."""

    cell_width: int
    edge: str
    dash: str
    top: str
    between: str
    bottom: str
    wrong: str
    black: str
    dotted: str


_BOX = _Signs(2, "│", "─", "┌┬┐", "├┼┤", "└┴┘", "✗", "██", " ·")
SIGNS = {
    Blocks.FULL: _BOX,
    Blocks.HALF: _BOX._replace(cell_width=1),
    Blocks.ASCII: _Signs(2, "|", "-", "+++", "+++", "+++", "x", "##", " ."),
}

# Upper cell, lower cell; both black, shaded, or left blank.
HALVES = {
    (BLACK, BLACK): Piece("█"),
    (BLACK, WHITE): Piece("▀"),
    (WHITE, BLACK): Piece("▄"),
    (WHITE, WHITE): Piece(" "),
    (BLACK, UNKNOWN): Piece("▀", f"on {SHADE}"),
    (UNKNOWN, BLACK): Piece("▄", f"on {SHADE}"),
    (UNKNOWN, WHITE): Piece("▀", SHADE),
    (WHITE, UNKNOWN): Piece("▄", SHADE),
    (UNKNOWN, UNKNOWN): Piece("█", SHADE),
}


def draw(picture: Picture, blocks: Blocks, clues: bool = True, colours: Colours | None = None) -> list[StyledLine]:
    """Return a board as text lines without spaces at their ends.

    Without clues, no lines are drawn between the cells. With `HALF`, unknown cells differ from white ones only in
    their colour. `colours` overrides the picture's cells; `ASCII` has no colours.
    """
    signs = SIGNS[blocks]
    groups = _groups(picture.width, clues)
    per_line = 2 if blocks is Blocks.HALF else 1
    upper, lower = range(0, picture.height, per_line), range(1, picture.height, 2) if per_line == 2 else ()
    left, left_width = _side(picture, upper, clues, signs.wrong, str.rjust)
    right, _ = _side(picture, lower, clues, signs.wrong, str.ljust)
    indent = Piece(" " * left_width)
    edge = Piece(signs.edge, FRAME)
    lines = list(_head(picture, groups, clues, signs, left_width))
    lines.append([indent, _ruler(groups, signs, signs.top)])
    for row in upper:
        if clues and per_line == 1 and row and row % GROUP == 0:
            lines.append([indent, _ruler(groups, signs, signs.between)])
        cells = _cells(picture, row, blocks, colours)
        inner = [piece for first, end in groups for piece in (edge, *cells[first:end])]
        lines.append([*left[row], *inner, edge, *reversed(right.get(row + 1, ()))])
    lines.append([indent, _ruler(groups, signs, signs.bottom)])
    return [_tidy(line) for line in lines]


def text_of_board(puzzle: Puzzle, cells: npt.ArrayLike | None = None, clues: bool = True) -> str:
    """Return a board as text without styles; without cells, an empty board."""
    return "\n".join(plain_lines(draw(Picture(puzzle, cells), Blocks.FULL, clues)))


def plain_lines(lines: Sequence[StyledLine]) -> list[str]:
    """Return text lines without styles."""
    return ["".join(piece.text for piece in line) for line in lines]


def width_of(lines: Sequence[StyledLine]) -> int:
    """Return the number of characters of the longest text line."""
    return max(map(len, plain_lines(lines)))


def _side(
    picture: Picture, rows: Sequence[int], clues: bool, wrong: str, justify: Callable[[str, int], str]
) -> tuple[dict[int, tuple[Piece, Piece]], int]:
    """Return the clue and the sign of a wrong row for each row at one side of the board, and their width."""
    texts = {row: " ".join(numbers(picture.puzzle.rows[row])) if clues else "" for row in rows}
    width = max(map(len, texts.values()), default=0)
    sign_width = int(bool(texts) and (clues or not picture.wrong_rows.isdisjoint(texts)))
    pieces = {}
    for row, text in texts.items():
        style, sign = (WRONG, wrong) if row in picture.wrong_rows else ("", " ")
        pieces[row] = Piece(justify(text, width), style), Piece(sign * sign_width, WRONG)
    return pieces, width + sign_width


_Groups = Sequence[tuple[int, int]]  # groups of columns between two drawn lines, as first and end


def _groups(width: int, clues: bool) -> _Groups:
    """Return the groups of columns; without clues, there is one."""
    step = GROUP if clues else width
    return [(first, min(first + step, width)) for first in range(0, width, step)]


def _ruler(groups: _Groups, signs: _Signs, ends: str) -> Piece:
    dashes = (signs.dash * (signs.cell_width * (end - first)) for first, end in groups)
    return Piece(ends[0] + ends[1].join(dashes) + ends[2], FRAME)


def _head(picture: Picture, groups: _Groups, clues: bool, signs: _Signs, indent: int) -> Iterator[StyledLine]:
    """Yield the text lines above the board: the columns' clues, and the signs of wrong columns."""
    borders = (edge for edge, (first, end) in enumerate(groups, 1) for _ in range(first, end))  # up to each column
    ends = [indent + edge + signs.cell_width * (column + 1) for column, edge in enumerate(borders)]
    styles = [WRONG if column in picture.wrong_columns else "" for column in range(picture.width)]
    if clues:
        written = [numbers(clue) for clue in picture.puzzle.columns]
        # One-digit numbers may touch, each over its column; if a number has more digits, all are separated.
        gap = int(signs.cell_width > 1 or any(len(number) > 1 for clue in written for number in clue))
        for level in range(max(map(len, written)), 0, -1):
            high = [heading for heading in zip(written, ends, styles, strict=True) if level <= len(heading[0])]
            yield from _apart([_Number(end, Piece(clue[-level], style)) for clue, end, style in high], gap)
    if picture.wrong_columns:
        yield _placed(_Number(ends[column], Piece(signs.wrong, WRONG)) for column in sorted(picture.wrong_columns))


class _Number(NamedTuple):
    """A number above its column; its right edge is `end` characters from the beginning of the text line."""

    end: int
    piece: Piece

    @property
    def begin(self) -> int:
        """Number of characters before its first digit."""
        return self.end - len(self.piece.text)


def _apart(level: Sequence[_Number], gap: int) -> Iterator[StyledLine]:
    """Yield the numbers of a level, each in the lowest text line in which it is `gap` characters after another."""
    lines: list[list[_Number]] = []
    for number in level:
        for line in lines:
            if line[-1].end + gap <= number.begin:
                line.append(number)
                break
        else:
            lines.append([number])
    return map(_placed, reversed(lines))


def _placed(row: Iterable[_Number]) -> StyledLine:
    """Return a text line with each number at its place."""
    line: StyledLine = []
    end = 0
    for number in row:
        line += [Piece(" " * (number.begin - end)), number.piece]
        end = number.end
    return line


def _cells(picture: Picture, row: int, blocks: Blocks, colours: Colours | None) -> list[Piece]:
    """Return the cells of a row; with half blocks, of this row and the next."""
    if colours is None or blocks is Blocks.ASCII:
        return _half_cells(picture, row) if blocks is Blocks.HALF else _full_cells(picture, row, blocks)
    if blocks is Blocks.FULL:
        return [Piece("██", colour) if colour else Piece("  ") for colour in colours[row]]
    lower = colours[row + 1] if row + 1 < picture.height else [""] * picture.width
    return [_coloured_half(*pair) for pair in zip(colours[row], lower, strict=True)]


def _coloured_half(upper: str, lower: str) -> Piece:
    if upper and lower:
        return Piece("▀", f"{upper} on {lower}")
    return Piece("▀", upper) if upper else Piece("▄", lower) if lower else Piece(" ")


def _full_cells(picture: Picture, row: int, blocks: Blocks) -> list[Piece]:
    blank = Piece("  ")
    white = Piece(SIGNS[blocks].dotted, DOT) if picture.is_partly_known else blank
    look = {BLACK: Piece(SIGNS[blocks].black), WHITE: white, UNKNOWN: blank}
    return [look[cell] for cell in picture.cells[row]]


def _half_cells(picture: Picture, row: int) -> list[Piece]:
    upper, lower = [*picture.cells[row : row + 2], [WHITE] * picture.width][:2]
    if not picture.is_partly_known:  # an entirely unknown board is blank, like white cells
        upper, lower = ([int(cell == BLACK) for cell in cells] for cells in (upper, lower))
    return [HALVES[pair] for pair in zip(upper, lower, strict=True)]


def _tidy(line: StyledLine) -> StyledLine:
    """Return a text line with neighbours of one style joined, and without spaces at its end."""
    groups = groupby((piece for piece in line if piece.text), key=attrgetter("style"))
    joined = [Piece("".join(piece.text for piece in pieces), style) for style, pieces in groups]
    while joined and not joined[-1].text.strip():
        joined.pop()
    if joined:
        joined[-1] = joined[-1]._replace(text=joined[-1].text.rstrip())
    return joined


# --- on standard output ------------------------------------------------------------------------------------------

_NEEDED_CHARACTERS = "█▀▄│─┼✗·"
TERMINALS_WITHOUT_CURSOR = ("dumb", "unknown")
"""Values of TERM that mean a terminal without escape codes."""

_CODES = {"dim": "2", "bold": "1", "red": "31", "bright_black": "90"}


class Place(NamedTuple):
    """A terminal, file or pipe that boards are written to."""

    columns: int  # unlimited in a file or a pipe
    lines: int  # text lines visible at once, except one for the prompt
    encoding: str
    has_colours: bool


def place_of_output() -> Place:
    """Return a description of standard output; it obeys NO_COLOR and FORCE_COLOR."""
    is_terminal = sys.stdout.isatty()
    columns, lines = shutil.get_terminal_size() if is_terminal else (sys.maxsize, sys.maxsize)
    can_style = is_terminal and os.environ.get("TERM", "dumb") not in TERMINALS_WITHOUT_CURSOR
    has_colours = (can_style or "FORCE_COLOR" in os.environ) and not os.environ.get("NO_COLOR")
    return Place(columns, lines - 1, sys.stdout.encoding or "utf-8", has_colours)


def no_half_blocks(picture: Picture, place: Place) -> str | None:
    """Return why a board cannot be drawn with half blocks at this place; None if it can."""
    if not _has_blocks(place):
        return f"the encoding of the output ({place.encoding}) has none"
    if picture.is_partly_known and not place.has_colours:
        return "unknown cells differ from white ones only in their colour, and this output has no colours"
    return None


def possible_blocks(picture: Picture, place: Place) -> list[Blocks]:
    """Return the blocks with which a board can be drawn at this place, the largest first."""
    if not _has_blocks(place):
        return [Blocks.ASCII]
    return [Blocks.FULL] if no_half_blocks(picture, place) else [Blocks.FULL, Blocks.HALF]


def drawn_to_fit(
    picture: Picture,
    place: Place,
    blocks: Sequence[Blocks],
    clues: Sequence[bool] = (True, False),
    colours: Colours | None = None,
    may_scroll: bool = True,
) -> list[StyledLine] | None:
    """Return a board drawn to fit the place, or None if it cannot fit.

    The first of `blocks` that fits is used; if none fits with the first of `clues`, the second is tried. With
    `may_scroll`, a board that is only too high also fits, with the last of `blocks`.
    """
    for with_clues in clues:
        drawn = [draw(picture, kind, with_clues, colours) for kind in blocks]
        narrow = [lines for lines in drawn if width_of(lines) <= place.columns]
        low = [lines for lines in narrow if len(lines) <= place.lines]
        if low:
            return low[0]
        if narrow and may_scroll:
            return narrow[-1]
    return None


def text_of(lines: Sequence[StyledLine], place: Place) -> list[str]:
    """Return text lines as written to this place: with styles, and `?` for characters missing in its encoding."""
    if place.has_colours:
        lines = [[Piece(_styled(*piece)) for piece in line] for line in lines]
    return [line.encode(place.encoding, "replace").decode(place.encoding) for line in plain_lines(lines)]


def _has_blocks(place: Place) -> bool:
    return _NEEDED_CHARACTERS.encode(place.encoding, "ignore").decode(place.encoding) == _NEEDED_CHARACTERS


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
