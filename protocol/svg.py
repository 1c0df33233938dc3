"""Scenes as SVG, in the colours of a theme.

They use no ids, classes or styles, so that a page can contain many pictures, and they are sharp at any size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from nonobot.protocol.scene import ROLES, SMALLEST_CELL_WITH_CLUES, Box, Picture, Role, Scene, Text, scene_of
from nonobot.system import printable

if TYPE_CHECKING:
    import numpy.typing as npt

    from nonobot.protocol.puzzle import Puzzle

HALF_DIGIT_EM = 0.36  # half of a digit's height, in font sizes: not all viewers have `dominant-baseline`


@dataclass(frozen=True, slots=True)
class Theme:
    """CSS colours for each role and for the paper."""

    paper: str | None  # None draws no background
    colours: dict[Role, str]


_COLOURS: dict[Role, tuple[str, str, str]] = {
    "band": ("#ffdcd8", "#54202a", "#f003"),
    "shade": ("#d3d9e0", "#353d47", "#8886"),
    "ink": ("#1f2933", "#dfe5eb", "currentColor"),
    "thin": ("#a8b2be", "#3d4753", "#88888880"),
    "heavy": ("#4f8cc9", "#4f8cc9", "#4f8cc9"),
    "dot": ("#8a96a3", "#6d7985", "#888"),
    "wrong": ("#cc1f2d", "#ff7a75", "#e5484d"),
    "clue": ("#1f2933", "#dfe5eb", "currentColor"),
    "name": ("#5b6875", "#98a4b1", "currentColor"),
}
"""Colours of each role in the three themes. Heavy lines are blue, because a grey that is darker than the thin
lines on white cells looks paler than them on black cells."""

LIGHT, DARK, INHERIT = (
    Theme(paper, {role: colours[index] for role, colours in _COLOURS.items()})
    for index, paper in enumerate(("#ffffff", "#14181d", None))
)
"""Themes of an SVG; `INHERIT` is for one within a light or dark page and uses the colour of the text around it."""

THEMES = {"light": LIGHT, "dark": DARK}


def svg_of(scene: Scene, theme: Theme) -> str:
    """Return a scene as an SVG document, for a file or for a part of a page."""
    width, height = scene.width, scene.height
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">', f"<title>{_clean(scene.name)}</title>"]
    if theme.paper:
        parts.append(f'<path fill="{theme.paper}" d="{_path([Box(0, 0, width, height)])}"/>')
    parts.append('<g shape-rendering="crispEdges">')
    for role in ROLES:
        if boxes := scene.boxes.get(role):
            parts.append(f'<path fill="{theme.colours[role]}" d="{_path(boxes)}"/>')
    parts.append("</g>")
    if any(scene.texts.values()):
        parts.append('<g font-family="Helvetica,Arial,sans-serif">')
        for role in ROLES:
            texts = sorted(scene.texts.get(role, ()), key=_style)  # stable: within a style, their order stays
            for (anchor, font_size), group in groupby(texts, key=_style):
                style = f'font-size="{font_size}" text-anchor="{anchor}"'
                parts.append(f'<g fill="{theme.colours[role]}" {style}>\n{"".join(map(_text, group))}\n</g>')
        parts.append("</g>")
    return "\n".join([*parts, "</svg>\n"])


def svg_of_board(puzzle: Puzzle, cells: npt.ArrayLike | None = None, clues: bool = True) -> str:
    """Return a board as an SVG document that fits a page; without cells, an empty board."""
    cell = max(2, min(20, 1000 // max(puzzle.size)))
    clues = clues and cell >= SMALLEST_CELL_WITH_CLUES
    return svg_of(scene_of(Picture(puzzle, cells), cell, clues), LIGHT)


def _path(boxes: Sequence[Box]) -> str:
    return "".join(f"M{box.x} {box.y}h{box.width}v{box.height}h-{box.width}z" for box in boxes)


_style = attrgetter("anchor", "font_size")


def _text(text: Text) -> str:
    foot = text.y + HALF_DIGIT_EM * text.font_size
    return f'<text x="{_short(text.x)}" y="{_short(foot)}">{_clean(text.string)}</text>'


def _short(pixels: float) -> str:
    return f"{round(pixels, 1):.10g}"


def _clean(text: str) -> str:
    """Return text escaped for XML and for readers."""
    return escape(printable(text))
