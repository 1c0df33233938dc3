"""Image files as cells, black and white: read by Pillow (the extra `pictures`), brought to a board's size."""

from __future__ import annotations

import io
import re
import threading
import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from nonobot.arguments import missing
from nonobot.harness import UnusableError
from nonobot.harness.pictures.drawings import MOST_PIXELS

if TYPE_CHECKING:
    from PIL.Image import Image

LARGEST_SIDE = 1022
"""Cells of a board's longer side: what the bot can solve."""

Cells = npt.NDArray[np.bool_]
"""Cells of a board, shape (height, width): True for black."""

_BEGINNINGS = re.compile(
    rb"\x89PNG\r\n|\xff\xd8\xff|GIF8|P[1-7][\s#]|BM.{4}\0\0\0\0|RIFF.{4}WEBP|II\*\0|MM\0\*|8BPS|\0\0\x01\0"
    rb"|.{4}ftypavif|\0\0\0\x0cjP|\xff\x4f\xff\x51|qoif|/\* XPM \*/|#define .*width",
    re.DOTALL,
)
"""How files of the usual kinds begin: what is a picture can be told where there is no Pillow, too."""

_OPENING = threading.Lock()
"""Held while Pillow's limit, which is everybody's, is ours."""


class BoardTooLargeError(UnusableError):
    """The board would have more cells than a side may."""


class ImageCells(NamedTuple):
    """The cells of the first picture of a file, and the number of pictures in it."""

    cells: Cells
    frames: int


def is_image(data: bytes) -> bool:
    """Tell whether a file begins as the usual kinds of images do."""
    return _BEGINNINGS.match(data[:256]) is not None


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

    Each cell has the mean brightness of the pixels that it covers. An image in black and white that has the wanted
    size is taken as it is. What is transparent is white, inverted or not. With one side of the board alone, the
    other follows from the shape of the image; with none, a pixel makes a cell.

    Cells darker than `threshold`, a share of white, are black; without it, Otsu's method divides dark from bright.
    `dither` is Floyd-Steinberg's error diffusion, as Pillow does it, instead of a threshold.

    UnusableError: Pillow is missing or cannot read the image, or the image is too large; BoardTooLargeError: the
    board would be.
    """
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise UnusableError(missing("reading a picture", "Pillow")) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its size, which is looked at below, and of odd metadata
            image, frames = _opened(data)
            size = _board_size(image.size, width, height)
            grey = _grey(image, invert).resize(size, Image.Resampling.BOX)
    except UnusableError:
        raise
    except UnidentifiedImageError:
        raise UnusableError("not a picture that can be read: no kind that Pillow knows") from None
    except Exception as error:  # what the decoders of some thirty formats raise on broken files is anything
        why = " ".join(str(error).split()) or type(error).__name__
        raise UnusableError(f"not a picture that can be read: {why}") from None
    if dither:
        return ImageCells(~np.asarray(grey.convert("1")), frames)
    values = np.asarray(grey)
    return ImageCells(values <= _otsu(values) if threshold is None else values < 255 * threshold, frames)


def _opened(data: bytes) -> tuple[Image, int]:
    """Return the first picture of a file, upright and in memory, and how many there are."""
    from PIL import Image, ImageOps

    Image.init()
    kinds = [kind for kind in Image.ID if kind != "EPS"]  # for which Pillow starts Ghostscript, a program
    try:
        with _OPENING:  # of some kinds, ICO among them, opening decodes: Pillow is to look at the size before
            usual, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, MOST_PIXELS // 2  # refused from twice as many
            try:
                image = Image.open(io.BytesIO(data), formats=kinds)
            finally:
                Image.MAX_IMAGE_PIXELS = usual
    except Image.DecompressionBombError:
        raise UnusableError(
            f"the picture has over {MOST_PIXELS // 10**6} million pixels; shrink it first"
        ) from None
    frames = getattr(image, "n_frames", 1)
    image.load()
    return ImageOps.exif_transpose(image), frames


def _board_size(pixels: tuple[int, int], width: int | None, height: int | None) -> tuple[int, int]:
    """Return width and height of the board for an image of so many pixels."""
    if not all(pixels):
        raise UnusableError("the picture has no pixels")
    if width is None and height is None:
        size, hint = pixels, "give a --width or a --height for the puzzle"
    else:
        # Of a very long image the short side is still a cell.
        size = (
            width or max(1, round(pixels[0] * (height or 0) / pixels[1])),
            height or max(1, round(pixels[1] * (width or 0) / pixels[0])),
        )
        hint = "give a smaller one, or both --width and --height"
    if max(size) > LARGEST_SIDE:
        raise BoardTooLargeError(
            f"a board of {size[0]}x{size[1]} cells is too large, a side has up to {LARGEST_SIDE}; {hint}"
        )
    return size


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


def _otsu(values: npt.NDArray[np.uint8]) -> int:
    """Return the brightest value that counts as dark.

    It makes the variance between the two classes the largest; of equally good neighbours it is the middle one. An
    image of one value is black if that is below the middle. Source: N. Otsu, "A threshold selection method from
    gray-level histograms" (IEEE Transactions on Systems, Man, and Cybernetics 9, 1979).
    """
    histogram = np.bincount(values.ravel(), minlength=256).astype(np.float64)
    dark, brightness = np.cumsum(histogram), np.cumsum(histogram * np.arange(256))
    bright = dark[-1] - dark
    with np.errstate(divide="ignore", invalid="ignore"):
        between = np.nan_to_num((brightness[-1] * dark / dark[-1] - brightness) ** 2 / (dark * bright))
    best = np.flatnonzero(between >= between.max() * (1 - 1e-12)) if between.max() else np.arange(256)
    best = best[best - best[0] == np.arange(len(best))]  # those beside each other: two that are far apart may tie
    return int(best[0] + best[-1]) // 2
