"""A picture as boxes and texts: what the writers of SVG and PNG draw, neither knowing about puzzles.

A scene holds one board, or a contact sheet of many, each with its name above it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple

import numpy as np

from nonobot.protocol.layout import Layout, board_layout, thumbnail_layout
from nonobot.protocol.picture import Picture, numbers
from nonobot.protocol.puzzle import BLACK, UNKNOWN, WHITE

__all__ = ["ROLES", "Box", "Role", "Scene", "Text", "scene_of", "sheet_of"]

Role = Literal["band", "shade", "ink", "thin", "heavy", "dot", "wrong", "clue", "name"]
"""What something in a picture is: the band of a wrong line, the shade of an unknown cell (where there are no
dots), a black cell, the lines, the dot of a white cell, the mark and the clue of a wrong line, the other clues,
the name above a board."""

ROLES: tuple[Role, ...] = ("band", "shade", "ink", "thin", "heavy", "dot", "wrong", "clue", "name")
"""In the order in which they are drawn: later ones cover earlier ones."""

NAME_FONT_SIZE = 13
NAME_HEIGHT = 26


class Box(NamedTuple):
    """A filled rectangle, in pixels."""

    x: int
    y: int
    width: int
    height: int


class Text(NamedTuple):
    """A word: `x` is its left end, middle or right end, and `y` the middle of its digits."""

    words: str
    x: float
    y: float
    anchor: Literal["start", "middle", "end"]
    font_size: int


@dataclass(frozen=True, slots=True)
class Scene:
    """Boxes and texts, sorted by their role.

    Attributes
    ----------
    name : str
    width, height : int
        In pixels.
    boxes : dict of Role to list of Box
        Boxes of one role may overlap: none is transparent to another.
    texts : dict of Role to list of Text
    """

    name: str
    width: int
    height: int
    boxes: dict[Role, list[Box]]
    texts: dict[Role, list[Text]]


def scene_of(picture: Picture, cell: int, clues: bool = True) -> Scene:
    """Return the scene of one board.

    Parameters
    ----------
    picture : Picture
    cell : int
        Side of a cell in pixels; with clues at least `SMALLEST_CELL_WITH_CLUES`.
    clues : bool
        False makes a thumbnail: the cells and a border, no clues, no lines between.
    """
    layout = board_layout(picture, cell) if clues else thumbnail_layout(picture, cell)
    boxes: dict[Role, list[Box]] = {
        "band": list(_bands(picture, layout)),
        "ink": _cell_boxes(picture.cells == BLACK, layout),
        "wrong": list(_marks(picture, layout)),
    }
    boxes |= _lines(layout)
    if picture.is_partly_known:
        if clues:
            boxes["dot"] = list(_dots(picture, layout))
        else:
            boxes["shade"] = _cell_boxes(picture.cells == UNKNOWN, layout)
    return Scene(picture.name, layout.width, layout.height, boxes, _clues(picture, layout) if clues else {})


def _cell_boxes(mask: np.ndarray, layout: Layout) -> list[Box]:
    """Return a box for each run of marked cells in a row; lines between them are drawn over it."""
    boxes = []
    for row, cells in enumerate(mask.tolist()):
        for is_marked, run in groupby(range(len(cells)), cells.__getitem__):
            if is_marked:
                first, *others = run
                x, width = layout.columns.run(first, others[-1] if others else first)
                boxes.append(Box(x, layout.rows.starts[row], width, layout.rows.cell))
    return boxes


def _dots(picture: Picture, layout: Layout) -> Iterator[Box]:
    # Of the same parity as the cell, so that it lies exactly in the middle.
    side = max(2, layout.columns.cell // 6)
    side += (layout.columns.cell - side) % 2
    inset = (layout.columns.cell - side) // 2
    for row, column in np.argwhere(picture.cells == WHITE).tolist():
        yield Box(layout.columns.starts[column] + inset, layout.rows.starts[row] + inset, side, side)


def _lines(layout: Layout) -> dict[Role, list[Box]]:
    columns, rows = layout.columns, layout.rows
    boxes: dict[Role, list[Box]] = {"thin": [], "heavy": []}
    for ruler in columns.rulers:
        box = Box(ruler.begin, rows.begin, ruler.thickness, rows.end - rows.begin)
        boxes["heavy" if ruler.is_heavy else "thin"].append(box)
    for ruler in rows.rulers:
        box = Box(columns.begin, ruler.begin, columns.end - columns.begin, ruler.thickness)
        boxes["heavy" if ruler.is_heavy else "thin"].append(box)
    return boxes


def _bands(picture: Picture, layout: Layout) -> Iterator[Box]:
    columns, rows, margin = layout.columns, layout.rows, layout.margin
    for row in sorted(picture.wrong_rows):
        yield Box(margin, rows.starts[row], columns.end - margin, rows.cell)
    for column in sorted(picture.wrong_columns):
        yield Box(columns.starts[column], margin, columns.cell, rows.end - margin)


def _marks(picture: Picture, layout: Layout) -> Iterator[Box]:
    columns, rows, mark = layout.columns, layout.rows, layout.mark
    for row in sorted(picture.wrong_rows):
        yield Box(columns.begin - mark, rows.starts[row], mark, rows.cell)
    for column in sorted(picture.wrong_columns):
        yield Box(columns.starts[column], rows.begin - mark, columns.cell, mark)


def _clues(picture: Picture, layout: Layout) -> dict[Role, list[Text]]:
    texts: dict[Role, list[Text]] = {"clue": [], "wrong": []}
    for row, clue in enumerate(picture.puzzle.rows):
        role: Role = "wrong" if row in picture.wrong_rows else "clue"
        y = layout.rows.middle(row)
        for words, x in zip(numbers(clue), layout.number_ends(numbers(clue)), strict=True):
            texts[role].append(Text(words, x, y, "end", layout.font_size))
    for column, clue in enumerate(picture.puzzle.columns):
        role = "wrong" if column in picture.wrong_columns else "clue"
        middle = layout.columns.middle(column)
        for words, y in zip(reversed(numbers(clue)), layout.column_slots, strict=False):
            texts[role].append(Text(words, middle, y, "middle", layout.font_size))
    return texts


# --- sheets ------------------------------------------------------------------------------------------------------


def sheet_of(
    pictures: Sequence[Picture], cell: int, clues: bool = True, columns: int | None = None, name: str = "sheet"
) -> Scene:
    """Return a scene of many boards, row by row.

    Boards of a row stand on one level, and those of a column end at one line: there the cells are, while clues
    are of any length.

    Parameters
    ----------
    pictures : sequence of Picture
        At least one; they need not be of one size.
    cell : int
        Side of a cell in pixels.
    clues : bool
        False makes thumbnails.
    columns : int, optional
        Boards beside each other; without, about as many as make the sheet a square.
    name : str
    """
    scenes = [scene_of(picture, cell, clues) for picture in pictures]
    column_count = min(columns or _square_columns(scenes), len(scenes))
    widths = [max(scene.width for scene in scenes[at::column_count]) for at in range(column_count)]
    rows = [scenes[at : at + column_count] for at in range(0, len(scenes), column_count)]
    # A board with clues has room around it; a thumbnail has next to none, and gets some.
    gap = 4 if clues else 14
    sheet = Scene(name, gap + sum(width + gap for width in widths), 0, {}, {})
    y = gap
    for row in rows:
        bottom = y + NAME_HEIGHT + max(scene.height for scene in row)
        x = gap
        for scene, width in zip(row, widths, strict=False):
            x += width
            _put(sheet, scene, x - scene.width, bottom - scene.height, y + NAME_HEIGHT // 2)
            x += gap
        y = bottom + gap
    return Scene(name, sheet.width, y, sheet.boxes, sheet.texts)


def _square_columns(scenes: Sequence[Scene]) -> int:
    width = max(scene.width for scene in scenes)
    height = max(scene.height for scene in scenes) + NAME_HEIGHT
    return max(1, round(math.sqrt(len(scenes) * height / width)))


def _put(sheet: Scene, scene: Scene, x: int, y: int, name_y: int) -> None:
    """Add a board to the sheet, its upper left corner at `x` and `y`, its name above the middle of its cells."""
    border = scene.boxes["heavy"]
    middle = x + (min(box.x for box in border) + max(box.x + box.width for box in border)) / 2
    name = Text(_shortened(scene.name, scene.width), middle, name_y, "middle", NAME_FONT_SIZE)
    sheet.texts.setdefault("name", []).append(name)
    role: Role
    for role, boxes in scene.boxes.items():
        moved = (Box(x + box.x, y + box.y, box.width, box.height) for box in boxes)
        sheet.boxes.setdefault(role, []).extend(moved)
    for role, texts in scene.texts.items():
        shifted = (text._replace(x=x + text.x, y=y + text.y) for text in texts)
        sheet.texts.setdefault(role, []).extend(shifted)


def _shortened(name: str, width: int) -> str:
    """Return a name cut to about `width` pixels."""
    most = max(3, int(width / (NAME_FONT_SIZE * 0.56)))
    return name if len(name) <= most else name[: most - 1] + "…"
