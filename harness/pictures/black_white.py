"""Pictures as boards, without any library: recognise picture files, choose a board size and a threshold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

from nonobot.harness import UnusableError

LARGEST_SIDE = 1022  # cells of a board's longer side: what the bot can solve

_BEGINNINGS = re.compile(
    rb"\x89PNG\r\n|\xff\xd8\xff|GIF8|P[1-7][\s#]|BM.{4}\0\0\0\0|RIFF.{4}WEBP|II\*\0|MM\0\*|8BPS|\0\0\x01\0"
    rb"|.{4}ftypavif|\0\0\0\x0cjP|\xff\x4f\xff\x51|qoif|/\* XPM \*/|#define .*width",
    re.DOTALL,
)
"""How files of the usual kinds begin."""


def is_image(data: bytes) -> bool:
    """Return whether a file begins like one of the usual kinds of images."""
    return _BEGINNINGS.match(data[:256]) is not None


def board_size(pixels: tuple[int, int], width: int | None, height: int | None) -> tuple[int, int]:
    """Return width and height of the board for an image; with neither given, a pixel makes a cell."""
    if not all(pixels):
        raise UnusableError("the picture has no pixels")
    if width is None and height is None:
        size, hint = pixels, "give a --width or a --height for the puzzle"
    else:
        # The short side of a very long image still gets a cell.
        size = (
            width or max(1, round(pixels[0] * (height or 0) / pixels[1])),
            height or max(1, round(pixels[1] * (width or 0) / pixels[0])),
        )
        hint = "give a smaller one, or both --width and --height"
    if max(size) > LARGEST_SIDE:
        board = f"a board of {size[0]}x{size[1]}"
        raise UnusableError(f"{board} is too large: at most {LARGEST_SIDE} rows or columns; {hint}")
    return size


def brightest_dark(histogram: Sequence[int]) -> int:
    """Return the brightest value that counts as dark, from the number of cells of each value.

    It makes the variance between the two classes largest; of equally good neighbours it is the middle one. Source:
    N. Otsu, "A threshold selection method from gray-level histograms" (IEEE Transactions on Systems, Man, and
    Cybernetics 9, 1979).
    """
    counts = list(accumulate(histogram))
    sums = list(accumulate(value * count for value, count in enumerate(histogram)))
    between = [0.0] * len(counts)
    for value, (dark, brightness) in enumerate(zip(counts, sums, strict=True)):
        if 0 < dark < counts[-1]:
            between[value] = (sums[-1] * dark / counts[-1] - brightness) ** 2 / (dark * (counts[-1] - dark))
    least = max(between) * (1 - 1e-12)
    best = [value for value, variance in enumerate(between) if variance >= least]
    # Only neighbours: two distant values may tie.
    neighbours = [value for place, value in enumerate(best) if value == best[0] + place]
    return (neighbours[0] + neighbours[-1]) // 2
