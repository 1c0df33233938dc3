"""Scenes as PNG, in the colours of a theme, by Pillow (the extra `pictures`).

They are written with Pillow's own font: no font of the system is needed.
"""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

from nonobot.arguments import missing
from nonobot.harness.errors import UnusableError
from nonobot.protocol.scene import ROLES, Scene, Text
from nonobot.protocol.svg import Theme

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["MOST_PIXELS", "png_of"]

MOST_PIXELS = 60_000_000
"""Larger pictures are refused: few viewers open them, and drawing takes three bytes of memory for each pixel."""

LEFT_OF_ANCHOR = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""Which part of a text lies left of its `x`."""


def png_of(scene: Scene, theme: Theme) -> bytes:
    """Return a picture as a PNG file, in a theme with a paper and without transparency.

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
