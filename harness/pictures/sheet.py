"""Contact sheets: many boards in one picture, each with its name above it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from nonobot.harness.pictures.scene import Box, Scene, Text, scene_of
from nonobot.harness.pictures.themes import Role
from nonobot.protocol.picture import Picture

__all__ = ["sheet_of"]

NAME_FONT_SIZE = 13
NAME_HEIGHT = 26


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
