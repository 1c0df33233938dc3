"""Scenes as files, in the colours of a theme: SVG, and PNG by Pillow (the extra `pictures`).

An SVG has no ids, classes or styles, so that many fit into one page; it is sharp at any size. A PNG is written
with Pillow's own font: no font of the system is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from nonobot.harness.errors import UnusableError
from nonobot.harness.pictures.scene import ROLES, Box, Role, Scene, Text
from nonobot.hints import missing

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["DARK", "INHERIT", "LIGHT", "MOST_PIXELS", "THEMES", "Theme", "png_of", "svg_of"]

HALF_DIGIT_EM = 0.36
"""From the middle of a digit down to its foot, in font sizes; `dominant-baseline` is not known to every viewer."""

MOST_PIXELS = 60_000_000
"""Larger pictures are refused: few viewers open them, and drawing takes three bytes of memory for each pixel."""

LEFT_OF_ANCHOR = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""Which part of a text lies left of its `x`."""


@dataclass(frozen=True, slots=True)
class Theme:
    """A colour, as CSS writes it, for each role, and one for the paper.

    Attributes
    ----------
    paper : str or None
        None draws no background.
    colours : dict of Role to str

    Notes
    -----
    The heavy lines are blue, as they have to stand out from the thin ones on black cells as well as on white ones:
    what is darker than another grey on the one is paler on the other.
    """

    paper: str | None
    colours: dict[Role, str]


LIGHT = Theme(
    paper="#ffffff",
    colours={
        "band": "#ffdcd8",
        "shade": "#d3d9e0",
        "ink": "#1f2933",
        "thin": "#a8b2be",
        "heavy": "#4f8cc9",
        "dot": "#8a96a3",
        "wrong": "#cc1f2d",
        "clue": "#1f2933",
        "name": "#5b6875",
    },
)

DARK = Theme(
    paper="#14181d",
    colours={
        "band": "#54202a",
        "shade": "#353d47",
        "ink": "#dfe5eb",
        "thin": "#3d4753",
        "heavy": "#4f8cc9",
        "dot": "#6d7985",
        "wrong": "#ff7a75",
        "clue": "#dfe5eb",
        "name": "#98a4b1",
    },
)

INHERIT = Theme(
    paper=None,
    colours={
        "band": "#f003",
        "shade": "#8886",
        "ink": "currentColor",
        "thin": "#88888880",
        "heavy": "#4f8cc9",
        "dot": "#888",
        "wrong": "#e5484d",
        "clue": "currentColor",
        "name": "currentColor",
    },
)
"""For an SVG within a page: it takes the colour of the text around it, on a light page and on a dark one.
Not for PNG."""

THEMES = {"light": LIGHT, "dark": DARK}


def svg_of(scene: Scene, theme: Theme) -> str:
    """Return a picture as an SVG document, which can stand alone or within a page.

    Parameters
    ----------
    scene : Scene
    theme : Theme
        `INHERIT` takes the colour of the text around the picture.
    """
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{scene.width}" height="{scene.height}"'
        f' viewBox="0 0 {scene.width} {scene.height}" role="img">',
        f"<title>{_clean(scene.name)}</title>",
    ]
    if theme.paper:
        parts.append(f'<path fill="{theme.paper}" d="{_path([Box(0, 0, scene.width, scene.height)])}"/>')
    parts.append('<g shape-rendering="crispEdges">')
    for role in ROLES:
        if boxes := scene.boxes.get(role):
            parts.append(f'<path fill="{theme.colours[role]}" d="{_path(boxes)}"/>')
    parts.append("</g>")
    if any(scene.texts.values()):
        parts.append('<g font-family="Helvetica,Arial,sans-serif">')
        for role in ROLES:
            texts = sorted(scene.texts.get(role, ()), key=_style)  # stable: within a style, their order stays
            for _, group in groupby(texts, key=_style):
                parts.append(_group(list(group), theme.colours[role]))
        parts.append("</g>")
    return "\n".join([*parts, "</svg>\n"])


def _path(boxes: Sequence[Box]) -> str:
    return "".join(f"M{box.x} {box.y}h{box.width}v{box.height}h-{box.width}z" for box in boxes)


def _style(text: Text) -> tuple[str, int]:
    return text.anchor, text.font_size


def _group(texts: Sequence[Text], colour: str) -> str:
    """Return the element that holds texts of one colour, anchor and font size."""
    anchor, font_size = _style(texts[0])
    words = (
        f'<text x="{_short(text.x)}" y="{_short(text.y + HALF_DIGIT_EM * font_size)}">{_clean(text.words)}</text>'
        for text in texts
    )
    return f'<g fill="{colour}" font-size="{font_size}" text-anchor="{anchor}">\n{"".join(words)}\n</g>'


def _short(pixels: float) -> str:
    return f"{round(pixels, 1):.10g}"


def _clean(text: str) -> str:
    """Return text as XML may hold it: escaped, without control characters."""
    return escape("".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text))


def png_of(scene: Scene, theme: Theme) -> bytes:
    """Return a picture as a PNG file.

    Parameters
    ----------
    scene : Scene
    theme : Theme
        One that has a paper, and colours without transparency.

    Raises
    ------
    UnusableError
        If Pillow is not installed, or the picture would be too large.
    """
    if scene.width * scene.height > MOST_PIXELS:
        raise UnusableError(
            f"the picture would have {scene.width}x{scene.height} pixels, over {MOST_PIXELS // 10**6} million; "
            "draw fewer puzzles (--number), smaller cells (--cell) or an SVG"
        )
    try:
        from PIL import Image, ImageDraw, PngImagePlugin
    except ImportError:
        raise UnusableError(f"{missing('a PNG picture', 'Pillow')} (an SVG needs nothing)") from None
    image = Image.new("RGB", (scene.width, scene.height), theme.paper or 0)
    canvas = ImageDraw.Draw(image)
    for role in ROLES:
        for x, y, width, height in scene.boxes.get(role, ()):
            canvas.rectangle((x, y, x + width - 1, y + height - 1), fill=theme.colours[role])
    pen = _Pen(image)
    for role in ROLES:
        for text in scene.texts.get(role, ()):
            pen.write(text, theme.colours[role])
    facts = PngImagePlugin.PngInfo()
    facts.add_itxt("Title", scene.name)
    file = BytesIO()
    image.save(file, "PNG", pnginfo=facts)
    return file.getvalue()


class _Pen:
    """Writes words; what was written once is kept, as a sheet has few numbers many times."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._stamps: dict[tuple[str, int], _Stamp] = {}

    def write(self, text: Text, colour: str) -> None:
        """Write words, from a whole pixel on and on a whole pixel, so that the same digits look the same."""
        stamp = self._stamps.get((text.words, text.font_size))
        if stamp is None:
            stamp = self._stamps[text.words, text.font_size] = _stamp(text.words, text.font_size)
        x = round(text.x - LEFT_OF_ANCHOR[text.anchor] * stamp.length) + stamp.left
        y = round(text.y + stamp.digit_height / 2) + stamp.top
        self._image.paste(colour, (x, y), stamp.mask)


class _Stamp(NamedTuple):
    """Words as a mask, and where it lies, seen from where the foot of the words begins; in pixels."""

    mask: Image
    left: int
    top: int
    length: float
    digit_height: int


def _stamp(words: str, font_size: int) -> _Stamp:
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(font_size)
    left, top, right, bottom = map(int, font.getbbox(words, anchor="ls"))
    mask = Image.new("L", (max(1, right - left), max(1, bottom - top)))
    ImageDraw.Draw(mask).text((-left, -top), words, fill=255, font=font, anchor="ls")
    return _Stamp(mask, left, top, font.getlength(words), -int(font.getbbox("0", anchor="ls")[1]))
