"""Image files as black and white cells: read by Pillow (the extra `pictures`), scaled to a board's size."""

from __future__ import annotations

import io
import threading
import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from nonobot.arguments import missing
from nonobot.harness import UnusableError
from nonobot.harness.pictures.black_white import board_size, brightest_dark
from nonobot.protocol.png import MOST_PIXELS

if TYPE_CHECKING:
    from PIL.Image import Image

Cells = npt.NDArray[np.bool_]  # shape (height, width), True for black

_OPENING = threading.Lock()  # held while Pillow's global limit is changed


class ImageCells(NamedTuple):
    """The cells of the first picture of a file, and the number of pictures in it."""

    cells: Cells
    frames: int


def read_cells(
    data: bytes,
    *,
    width: int | None = None,
    height: int | None = None,
    threshold: float | None = None,
    dither: bool = False,
    invert: bool = False,
) -> ImageCells:
    """Return an image as cells.

    A cell has the mean brightness of its pixels; transparent parts are white, also if inverted. One dimension of
    the board follows from the other by the shape of the image; without both, each pixel is a cell. Cells darker
    than `threshold`, a share of white, are black; by default, Otsu's method finds it. `dither` uses
    Floyd-Steinberg's error diffusion instead.

    UnusableError: Pillow is missing or cannot read the image, or the image or the board is too large.
    """
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise UnusableError(missing("reading a picture", "Pillow")) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about its size, which is checked below, and about odd metadata
            image, frames = _opened(data)
            size = board_size(image.size, width, height)
            grey = _grey(image, invert).resize(size, Image.Resampling.BOX)
    except UnusableError:
        raise
    except UnidentifiedImageError:
        raise UnusableError("cannot read the picture: Pillow cannot read its format") from None
    except Exception as error:  # the decoders of some thirty formats raise any exception on broken files
        why = " ".join(str(error).split()) or type(error).__name__
        raise UnusableError(f"cannot read the picture: {why} (Pillow)") from None
    if dither:
        return ImageCells(~np.asarray(grey.convert("1")), frames)
    values = np.asarray(grey)
    if threshold is None:
        dark = brightest_dark(np.bincount(values.ravel(), minlength=256).tolist())
        return ImageCells(values <= dark, frames)
    return ImageCells(values < 255 * threshold, frames)


def _opened(data: bytes) -> tuple[Image, int]:
    """Return the first picture of a file, upright and in memory, and how many there are."""
    from PIL import Image, ImageOps

    Image.init()
    kinds = [kind for kind in Image.ID if kind != "EPS"]  # for which Pillow starts Ghostscript, a program
    try:
        with _OPENING:  # opening decodes some kinds, such as ICO: Pillow must check the size first
            usual, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, MOST_PIXELS // 2  # it refuses twice as many
            try:
                image = Image.open(io.BytesIO(data), formats=kinds)
            finally:
                Image.MAX_IMAGE_PIXELS = usual
    except Image.DecompressionBombError:
        many = f"{MOST_PIXELS // 10**6} million pixels"
        raise UnusableError(f"the picture has over {many}; shrink it first") from None
    frames = getattr(image, "n_frames", 1)
    image.load()
    return ImageOps.exif_transpose(image), frames


def _grey(image: Image, invert: bool) -> Image:
    """Return an image in shades of grey, on white where it is transparent."""
    from PIL import Image, ImageChops

    if image.mode.startswith("I"):  # up to 65535, which Pillow would cut off at 255
        values = np.asarray(image).astype(np.float64)
        image = Image.fromarray(np.clip(values / 257, 0, 255).astype(np.uint8))
    coloured = image.convert("RGBA") if image.has_transparency_data else image.convert("L")
    grey = coloured.convert("L")  # the alpha channel is ignored
    if invert:
        grey = ImageChops.invert(grey)
    if coloured.mode != "RGBA":
        return grey
    return Image.composite(grey, Image.new("L", grey.size, 255), coloured.getchannel("A"))
