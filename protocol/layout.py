"""Geometry of a board: where its cells, lines and clues are. Whole pixels, and no colour.

Lines take room of their own, so that all cells are equally large and every edge lies on a pixel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nonobot.protocol.picture import GROUP, Picture, numbers
from nonobot.protocol.puzzle import Clue

__all__ = ["SMALLEST_CELL_WITH_CLUES", "Axis", "Layout", "Ruler", "board_layout", "thumbnail_layout"]

SMALLEST_CELL_WITH_CLUES = 10
"""Pixels; in smaller cells the numbers cannot be read."""

DIGIT_EM = 0.58
"""Width of a digit, in font sizes: that of Pillow's font; those of browsers are within a tenth of it."""


BETWEEN_EM = 0.45
"""Gap between the numbers of a row's clue, in font sizes."""


class Ruler(NamedTuple):
    """A line between cells, seen along one axis: its first pixel and how many it is thick."""

    begin: int
    thickness: int
    is_heavy: bool


@dataclass(frozen=True, slots=True)
class Axis:
    """The cells and lines along one side of a board.

    Attributes
    ----------
    starts : tuple of int
        First pixel of each cell.
    cell : int
        Pixels of a cell.
    rulers : tuple of Ruler
        Lines, the border first and last; a thumbnail has nothing between.
    """

    starts: tuple[int, ...]
    cell: int
    rulers: tuple[Ruler, ...]

    @property
    def begin(self) -> int:
        """First pixel of the border."""
        return self.rulers[0].begin

    @property
    def end(self) -> int:
        """First pixel after the border."""
        return self.rulers[-1].begin + self.rulers[-1].thickness

    def middle(self, index: int) -> float:
        """Return the middle of a cell, in pixels."""
        return self.starts[index] + self.cell / 2

    def run(self, first: int, last: int) -> tuple[int, int]:
        """Return the first pixel and the length of the cells from `first` to `last`, both included."""
        return self.starts[first], self.starts[last] + self.cell - self.starts[first]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything of a board is, in pixels.

    Attributes
    ----------
    width, height : int
        Of the whole picture.
    columns, rows : Axis
        Cells from left to right, and from top to bottom.
    font_size : int
        Of the clues; 0 without clues.
    clue_end : int
        Right edge of the last number of every row's clue.
    column_slots : tuple of float
        Middles of the numbers of a column's clue, from the last number backwards.
    mark : int
        Thickness of the mark beside a wrong line, which touches the border.
    margin : int
        Where bands of wrong lines begin, from the left and from the top.
    """

    width: int
    height: int
    columns: Axis
    rows: Axis
    font_size: int
    clue_end: int
    column_slots: tuple[float, ...]
    mark: int
    margin: int

    def number_ends(self, words: Sequence[str]) -> list[int]:
        """Return the right edges of the numbers of a row's clue."""
        after = (_words_width(["", *words[place + 1 :]], self.font_size) for place in range(len(words)))
        return [round(self.clue_end - width) for width in after]


def board_layout(picture: Picture, cell: int) -> Layout:
    """Return the geometry of a board with its clues.

    Parameters
    ----------
    picture : Picture
    cell : int
        Side of a cell in pixels, at least `SMALLEST_CELL_WITH_CLUES`.
    """
    thin = max(1, cell // 24)
    font_size = _font_size(picture.puzzle.columns, cell)
    padding, gap = cell // 2, max(3, cell // 4)
    step = round(font_size * 1.15)
    longest = max(map(len, map(numbers, picture.puzzle.columns)))
    left = padding + math.ceil(max(_words_width(numbers(clue), font_size) for clue in picture.puzzle.rows)) + gap
    top = padding + longest * step + gap
    columns = _axis(left, picture.width, cell, thin)
    rows = _axis(top, picture.height, cell, thin)
    return Layout(
        width=columns.end + padding,
        height=rows.end + padding,
        columns=columns,
        rows=rows,
        font_size=font_size,
        clue_end=left - gap,
        column_slots=tuple(top - gap - (place + 0.5) * step for place in range(longest)),
        mark=max(2, gap // 2),
        margin=padding // 2,
    )


def thumbnail_layout(picture: Picture, cell: int) -> Layout:
    """Return the geometry of a board without clues and without lines between its cells."""
    mark = max(2, cell // 3)
    padding = mark + 1
    columns, rows = _bare_axis(padding, picture.width, cell), _bare_axis(padding, picture.height, cell)
    return Layout(columns.end + padding, rows.end + padding, columns, rows, 0, 0, (), mark, padding)


def _font_size(columns: Sequence[Clue], cell: int) -> int:
    """Return the font size at which the widest number of a column stays within its column."""
    widest = max(len(number) for clue in columns for number in numbers(clue))
    return int(min(cell * 0.62, cell * 0.95 / (widest * DIGIT_EM)))


def _words_width(words: Sequence[str], font_size: int) -> float:
    """Return how wide the numbers of a row's clue are, with the gaps between them."""
    return (sum(map(len, words)) * DIGIT_EM + (len(words) - 1) * BETWEEN_EM) * font_size


def _axis(begin: int, count: int, cell: int, thin: int) -> Axis:
    rulers, starts = [], []
    at = begin
    for index in range(count + 1):
        is_heavy = index % GROUP == 0 or index == count
        rulers.append(Ruler(at, thin * 2 if is_heavy else thin, is_heavy))
        starts.append(at + rulers[-1].thickness)
        at = starts[-1] + cell
    return Axis(tuple(starts[:-1]), cell, tuple(rulers))


def _bare_axis(begin: int, count: int, cell: int) -> Axis:
    first = begin + 1
    starts = tuple(first + index * cell for index in range(count))
    return Axis(starts, cell, (Ruler(begin, 1, True), Ruler(first + count * cell, 1, True)))
