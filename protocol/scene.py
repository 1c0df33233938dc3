"""Scenes of boards, for the writers of SVG and PNG: boxes and texts in whole pixels.

A scene contains one board, or a sheet of many boards with their names. The lines between cells have their own
pixels, so that all cells have the same size and every edge is on a pixel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, get_args

from nonobot.protocol.clues import BLACK, UNKNOWN, WHITE, Clue
from nonobot.protocol.verify import mismatches
from nonobot.system import shortened

if TYPE_CHECKING:
    import numpy.typing as npt

    from nonobot.protocol.puzzle import Puzzle, Solution

GROUP = 5  # number of rows or columns between two heavier lines


class Picture:
    """A board to draw, with cells 1 black, 0 white or -1 unknown (default), and marks of wrong rows and columns.

    A sheet shows the name (default: the board's size) above the board.
    """

    __slots__ = ("cells", "height", "is_partly_known", "name", "puzzle", "width", "wrong_columns", "wrong_rows")

    def __init__(self, puzzle: Puzzle, cells: npt.ArrayLike | None = None, name: str | None = None) -> None:
        self.width, self.height = puzzle.size
        if 0 in puzzle.size:
            raise ValueError(f"a board of {self.width}x{self.height} has no cell to draw")
        given: Any = [[UNKNOWN] * self.width] * self.height if cells is None else cells
        self.puzzle = puzzle
        self.cells = given.numbers() if hasattr(given, "numbers") else [[*row] for row in given]
        if len(self.cells) != self.height or any(len(row) != self.width for row in self.cells):
            raise ValueError(f"the cells do not have the size of the puzzle, {self.width}x{self.height}")
        colours = {cell for row in self.cells for cell in row}
        if not colours <= {UNKNOWN, WHITE, BLACK}:
            raise ValueError("cells are 1 (black), 0 (white) or -1 (unknown)")
        # Only a partly known board needs a mark for white.
        self.is_partly_known = UNKNOWN in colours and len(colours) > 1
        self.name = name or f"{self.width}x{self.height}"
        self.wrong_rows: set[int] = set()  # counted from 0, as are columns
        self.wrong_columns: set[int] = set()

    @classmethod
    def of_answer(cls, puzzle: Puzzle, solution: Solution, name: str | None = None) -> Picture:
        """Return the picture of an answer of the puzzle's size; lines that break their clue are marked."""
        picture = cls(puzzle, solution, name)
        for wrong in mismatches(puzzle, solution):
            lines = picture.wrong_rows if wrong.kind == "row" else picture.wrong_columns
            lines.add(wrong.number - 1)
        return picture


def numbers(clue: Clue) -> list[str]:
    """Return the words of a clue: its block lengths, or 0 for a line without black cells."""
    return [str(block) for block in clue] or ["0"]


# --- scenes ----------------------------------------------------------------------------------------------------

SMALLEST_CELL_WITH_CLUES = 10  # smallest side of a cell in pixels; in smaller cells the numbers are unreadable

Role = Literal["band", "shade", "ink", "thin", "heavy", "dot", "wrong", "clue", "name"]
"""Kinds of parts of a picture; later ones cover earlier ones: the band of a wrong row or column, the shade of an
unknown cell (without dots), black cells, lines, dots of white cells, the mark and clue of a wrong row or column,
other clues, and the name above a board."""

ROLES: tuple[Role, ...] = get_args(Role)
DIGIT_EM = 0.58  # width of a digit, in font sizes, in Pillow's font; browsers differ by up to a tenth
BETWEEN_EM = 0.45  # gap between the numbers of a row's clue, in font sizes
STEP_EM = 1.15  # distance between two numbers of a column's clue, in font sizes
NAME_FONT_SIZE = 13
NAME_HEIGHT = 26


class Box(NamedTuple):
    """A filled rectangle, in pixels."""

    x: int
    y: int
    width: int
    height: int


class Text(NamedTuple):
    """A word at a position: `x` is its left end, middle or right end, `y` the middle of its digits."""

    string: str
    x: float
    y: float
    anchor: Literal["start", "middle", "end"]
    font_size: int


Part = TypeVar("Part", Box, Text)


@dataclass(frozen=True, slots=True)
class Scene:
    """Boxes and texts by role; width and height are in pixels, and boxes of one role may overlap."""

    name: str
    width: int
    height: int
    boxes: dict[Role, list[Box]]
    texts: dict[Role, list[Text]]


def scene_of(picture: Picture, cell: int, clues: bool = True) -> Scene:
    """Return the scene of one board; without clues, a thumbnail: cells and a border, without lines between.

    `cell` is the side of a cell in pixels; with clues, at least `SMALLEST_CELL_WITH_CLUES`.
    """
    layout = _layout(picture, cell, clues)
    columns, rows, mark, margin = layout.columns, layout.rows, layout.mark, layout.margin
    ink = list(_cell_boxes(picture, BLACK, layout))
    boxes: dict[Role, list[Box]] = {"band": [], "ink": ink, "wrong": [], **_lines(layout)}
    for y in (rows.starts[row] for row in sorted(picture.wrong_rows)):
        boxes["band"].append(Box(margin, y, columns.end - margin, cell))
        boxes["wrong"].append(Box(columns.begin - mark, y, mark, cell))
    for x in (columns.starts[column] for column in sorted(picture.wrong_columns)):
        boxes["band"].append(Box(x, margin, cell, rows.end - margin))
        boxes["wrong"].append(Box(x, rows.begin - mark, cell, mark))
    if picture.is_partly_known and clues:
        boxes["dot"] = list(_dots(picture, layout))
    elif picture.is_partly_known:
        boxes["shade"] = list(_cell_boxes(picture, UNKNOWN, layout))
    texts = _texts(picture, layout) if clues else {}
    return Scene(picture.name, columns.end + layout.padding, rows.end + layout.padding, boxes, texts)


# --- geometry ----------------------------------------------------------------------------------------------------


class _Axis(NamedTuple):
    """Geometry of a board along one axis, in pixels."""

    begin: int  # of the border
    end: int
    starts: list[int]  # of the cells
    lines: list[tuple[Role, int, int]]  # between the cells: role, start and thickness


class _Layout(NamedTuple):
    """Positions of all parts of a board, in pixels."""

    cell: int
    columns: _Axis
    rows: _Axis
    padding: int
    gap: int  # between the clues and the border
    mark: int  # thickness of the mark next to a wrong row or column
    margin: int  # start of the band of a wrong row or column
    font_size: int


def _layout(picture: Picture, cell: int, clues: bool) -> _Layout:
    if not clues:
        mark = max(2, cell // 3)
        padding = mark + 1
        columns, rows = (_axis(padding, count, cell, 0, 1) for count in (picture.width, picture.height))
        return _Layout(cell, columns, rows, padding, 0, mark, padding, 0)
    thin, padding, gap = max(1, cell // 24), cell // 2, max(3, cell // 4)
    column_words = [numbers(clue) for clue in picture.puzzle.columns]
    # The widest number of a column stays within its column.
    widest = max(len(number) for column in column_words for number in column)
    font_size = int(min(cell * 0.62, cell * 0.95 / (widest * DIGIT_EM)))
    left = padding + math.ceil(max(_width(numbers(clue), font_size) for clue in picture.puzzle.rows)) + gap
    top = padding + max(map(len, column_words)) * round(font_size * STEP_EM) + gap
    columns = _axis(left, picture.width, cell, thin, 2 * thin)
    rows = _axis(top, picture.height, cell, thin, 2 * thin)
    return _Layout(cell, columns, rows, padding, gap, max(2, gap // 2), padding // 2, font_size)


def _axis(begin: int, count: int, cell: int, thin: int, heavy: int) -> _Axis:
    """Return the axis that begins at a pixel; with `thin` 0, it has only the border."""
    lines: list[tuple[Role, int, int]] = []
    starts, position = [], begin
    for index in range(count + 1):
        is_heavy = index in (0, count) or (thin > 0 and index % GROUP == 0)
        thickness = heavy if is_heavy else thin
        if thickness:
            lines.append(("heavy" if is_heavy else "thin", position, thickness))
        starts.append(position + thickness)
        position = starts[-1] + cell
    return _Axis(begin, starts[-1], starts[:-1], lines)


def _width(texts: Sequence[str], font_size: int) -> float:
    """Return the width of the numbers of a row's clue, with the gaps between them."""
    return (sum(map(len, texts)) * DIGIT_EM + (len(texts) - 1) * BETWEEN_EM) * font_size


# --- parts of a board --------------------------------------------------------------------------------------------


def _cell_boxes(picture: Picture, colour: int, layout: _Layout) -> Iterator[Box]:
    """Yield a box for each run of cells of one colour in a row; lines are drawn over it."""
    starts = layout.columns.starts
    for y, cells in zip(layout.rows.starts, picture.cells, strict=True):
        for its_colour, run in groupby(range(len(cells)), cells.__getitem__):
            if its_colour == colour:
                places = list(run)
                x = starts[places[0]]
                yield Box(x, y, starts[places[-1]] + layout.cell - x, layout.cell)


def _dots(picture: Picture, layout: _Layout) -> Iterator[Box]:
    # Same parity as the cell, so that the dot is exactly in the middle.
    side = max(2, layout.cell // 6)
    side += (layout.cell - side) % 2
    inset = (layout.cell - side) // 2
    for y, cells in zip(layout.rows.starts, picture.cells, strict=True):
        for x, cell in zip(layout.columns.starts, cells, strict=True):
            if cell == WHITE:
                yield Box(x + inset, y + inset, side, side)


def _lines(layout: _Layout) -> dict[Role, list[Box]]:
    columns, rows = layout.columns, layout.rows
    boxes: dict[Role, list[Box]] = {"thin": [], "heavy": []}
    for role, x, thickness in columns.lines:
        boxes[role].append(Box(x, rows.begin, thickness, rows.end - rows.begin))
    for role, y, thickness in rows.lines:
        boxes[role].append(Box(columns.begin, y, columns.end - columns.begin, thickness))
    return boxes


def _texts(picture: Picture, layout: _Layout) -> dict[Role, list[Text]]:
    texts: dict[Role, list[Text]] = {"clue": [], "wrong": []}
    columns, rows, font_size = layout.columns, layout.rows, layout.font_size
    for row, clue in enumerate(picture.puzzle.rows):
        role: Role = "wrong" if row in picture.wrong_rows else "clue"
        lengths = numbers(clue)
        for place, word in enumerate(lengths, 1):
            x = round(columns.begin - layout.gap - _width(["", *lengths[place:]], font_size))
            texts[role].append(Text(word, x, rows.starts[row] + layout.cell / 2, "end", font_size))
    for column, clue in enumerate(picture.puzzle.columns):
        role = "wrong" if column in picture.wrong_columns else "clue"
        for place, word in enumerate(reversed(numbers(clue))):
            y = rows.begin - layout.gap - (place + 0.5) * round(font_size * STEP_EM)
            texts[role].append(Text(word, columns.starts[column] + layout.cell / 2, y, "middle", font_size))
    return texts


# --- sheets ------------------------------------------------------------------------------------------------------


def sheet_of(
    pictures: Sequence[Picture], cell: int, clues: bool = True, columns: int | None = None, name: str = "sheet"
) -> Scene:
    """Return a scene of many boards, of any sizes, row by row; without `columns`, it is about a square.

    Clues differ in length, so the boards of a row share their lower edge, those of a column their right edge.
    """
    scenes = [scene_of(picture, cell, clues) for picture in pictures]
    if columns is None:
        highest = max(scene.height for scene in scenes) + NAME_HEIGHT
        widest = max(scene.width for scene in scenes)
        columns = max(1, round(math.sqrt(len(scenes) * highest / widest)))
    column_count = min(columns, len(scenes))
    widths = [max(scene.width for scene in scenes[column::column_count]) for column in range(column_count)]
    # A board with clues has a margin; a thumbnail needs an extra one.
    gap = 4 if clues else 14
    boxes: dict[Role, list[Box]] = {}
    texts: dict[Role, list[Text]] = {"name": []}
    y = gap
    for first in range(0, len(scenes), column_count):
        row = scenes[first : first + column_count]
        bottom = y + NAME_HEIGHT + max(scene.height for scene in row)
        x = gap
        for scene, width in zip(row, widths, strict=False):
            x += width
            place = x - scene.width, bottom - scene.height
            _add_moved(boxes, scene.boxes, *place)
            _add_moved(texts, scene.texts, *place)
            texts["name"].append(_name_above(scene, place[0], y + NAME_HEIGHT // 2))
            x += gap
        y = bottom + gap
    return Scene(name, gap + sum(width + gap for width in widths), y, boxes, texts)


def _add_moved(parts: dict[Role, list[Part]], others: Mapping[Role, list[Part]], x: int, y: int) -> None:
    """Add the parts of a scene, to the right by `x` and down by `y`."""
    for role, more in others.items():
        parts.setdefault(role, []).extend(part._replace(x=x + part.x, y=y + part.y) for part in more)


def _name_above(scene: Scene, x: int, y: int) -> Text:
    """Return the name of a board that begins at `x`: centred above its cells, and cut to about its width."""
    border = scene.boxes["heavy"]
    middle = x + (min(box.x for box in border) + max(box.x + box.width for box in border)) / 2
    most = max(3, int(scene.width / (NAME_FONT_SIZE * 0.56)))
    name = shortened(scene.name, most)
    return Text(name, middle, y, "middle", NAME_FONT_SIZE)
