"""Scenes as PNG, by Pillow (the extra `pictures`) and its own font: no font of the system is needed."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from harness.errors import UnusableError
from harness.pictures.scene import Scene, Text
from harness.pictures.themes import ROLES, Theme

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

__all__ = ["MOST_PIXELS", "png_of"]

MOST_PIXELS = 60_000_000
"""Larger pictures are refused: few viewers open them, and drawing takes three bytes of memory for each pixel."""

ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


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
        raise UnusableError(
            "PNG pictures need Pillow: pip install 'nonobot[pictures]' (SVG needs nothing)"
        ) from None
    image = Image.new("RGB", (scene.width, scene.height), theme.paper or 0)
    canvas = ImageDraw.Draw(image)
    for role in ROLES:
        for x, y, width, height in scene.boxes.get(role, ()):
            canvas.rectangle((x, y, x + width - 1, y + height - 1), fill=theme.colours[role])
    for role in ROLES:
        _write(canvas, scene.texts.get(role, []), theme.colours[role])
    facts = PngImagePlugin.PngInfo()
    facts.add_itxt("Title", scene.name)
    file = BytesIO()
    image.save(file, "PNG", optimize=True, pnginfo=facts)
    return file.getvalue()


def _write(canvas: ImageDraw, texts: list[Text], colour: str) -> None:
    """Draw words; their feet are put on whole pixels, where the font is sharpest."""
    from PIL import ImageFont

    fonts = {size: ImageFont.load_default(size) for size in {text.font_size for text in texts}}
    for text in texts:
        font = fonts[text.font_size]
        digit_height = -font.getbbox("0", anchor="ls")[1]
        foot = round(text.y + digit_height / 2)
        canvas.text((round(text.x, 1), foot), text.words, fill=colour, font=font, anchor=ANCHORS[text.anchor])
