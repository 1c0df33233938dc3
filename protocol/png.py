"""Scenes as PNG, with Pillow's own font: no font of the system is needed."""

from __future__ import annotations

from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

from nonobot.protocol.scene import ROLES, Scene
from nonobot.protocol.svg import Theme

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 60_000_000  # few viewers open larger pictures; drawing takes three bytes for each pixel

LEFT_OF_ANCHOR = {"start": 0.0, "middle": 0.5, "end": 1.0}  # which part of a text lies left of its `x`


class TooLargeError(ValueError):
    """A picture has too many pixels."""


def png_of(scene: Scene, theme: Theme) -> bytes:
    """Return a picture as PNG, in a theme with a paper; TooLargeError, or ImportError without Pillow."""
    if scene.width * scene.height > MOST_PIXELS:
        size = f"{scene.width}x{scene.height} pixels, over {MOST_PIXELS // 10**6} million"
        raise TooLargeError(f"the picture would have {size}")
    from PIL import Image, ImageDraw, PngImagePlugin

    image = Image.new("RGB", (scene.width, scene.height), theme.paper or 0)
    canvas = ImageDraw.Draw(image)
    for role in ROLES:
        for x, y, width, height in scene.boxes.get(role, ()):
            canvas.rectangle((x, y, x + width - 1, y + height - 1), fill=theme.colours[role])
    stamp_of = cache(_stamp)  # a sheet has few numbers many times
    for role in ROLES:
        for text in scene.texts.get(role, ()):
            stamp = stamp_of(text.string, text.font_size)
            # From a whole pixel on and on a whole pixel, so that the same digits look the same.
            x = round(text.x - LEFT_OF_ANCHOR[text.anchor] * stamp.length) + stamp.left
            y = round(text.y + stamp.digit_height / 2) + stamp.top
            image.paste(theme.colours[role], (x, y), stamp.mask)
    facts = PngImagePlugin.PngInfo()
    facts.add_itxt("Title", scene.name)
    file = BytesIO()
    image.save(file, "PNG", pnginfo=facts)
    return file.getvalue()


class _Stamp(NamedTuple):
    """Words as a mask, and its place in pixels, relative to the start of the words' baseline."""

    mask: Image
    left: int
    top: int
    length: float
    digit_height: int


def _stamp(string: str, font_size: int) -> _Stamp:
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(font_size)
    left, top, right, bottom = map(int, font.getbbox(string, anchor="ls"))
    mask = Image.new("L", (max(1, right - left), max(1, bottom - top)))
    ImageDraw.Draw(mask).text((-left, -top), string, fill=255, font=font, anchor="ls")
    return _Stamp(mask, left, top, font.getlength(string), -int(font.getbbox("0", anchor="ls")[1]))
