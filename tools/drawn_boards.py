"""Boards such as people draw, by program: blurred noise, words, mazes; prints a question file.

    python -m tools.drawn_boards noise 100x100 100 --seed 1 > noise.txt

KIND is noise (cut at its median after blurring), letters or maze. The same arguments give the same boards.
"""

from __future__ import annotations

import argparse
import random
import string
import sys

import numpy as np

from nonobot.protocol import Puzzle, format_puzzle


def noise(width: int, height: int, random_: random.Random) -> np.ndarray:
    """Return noise, blurred over about a tenth of the board, cut at its median."""
    cells = np.random.default_rng(random_.randrange(2**32)).normal(size=(height, width))
    across = np.fft.fftfreq(width)[None, :] * width
    down = np.fft.fftfreq(height)[:, None] * height
    spectrum = np.fft.fft2(cells) * np.exp(-(across**2 + down**2) / (2 * 6.0**2))
    blurred = np.fft.ifft2(spectrum).real
    return blurred > np.median(blurred)


def letters(width: int, height: int, random_: random.Random) -> np.ndarray:
    """Return two lines of bold random letters, as large as they fit.

    Small thin ones are another matter: line logic knows one cell in a hundred of a page of text.
    """
    from PIL import Image, ImageDraw, ImageFont  # brings a font of its own

    image = Image.new("L", (width, height), 0)
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(height * 2 // 5)
    for line in range(2):
        text = "".join(random_.choices(string.ascii_uppercase, k=4))
        pen.text((4, 2 + line * height // 2), text, 255, font, stroke_width=max(1, height // 50))
    return np.asarray(image) > 127


def maze(width: int, height: int, random_: random.Random) -> np.ndarray:
    """Return a maze: its lines are two cells thick, its ways three."""
    step = 5
    columns, rows = max(1, (width - 2) // step), max(1, (height - 2) // step)
    walls = np.zeros((height, width), bool)
    walls[: rows * step + 2, : columns * step + 2] = True
    seen, path = {(0, 0)}, [(0, 0)]
    while path:
        y, x = path[-1]
        walls[2 + y * step : 5 + y * step, 2 + x * step : 5 + x * step] = False
        ways = [
            (y + dy, x + dx)
            for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0))
            if 0 <= y + dy < rows and 0 <= x + dx < columns and (y + dy, x + dx) not in seen
        ]
        if not ways:
            path.pop()
            continue
        to = random_.choice(ways)
        top, left = min(y, to[0]), min(x, to[1])
        bottom, right = max(y, to[0]), max(x, to[1])
        walls[2 + top * step : 5 + bottom * step, 2 + left * step : 5 + right * step] = False
        seen.add(to)
        path.append(to)
    return walls


KINDS = {"noise": noise, "letters": letters, "maze": maze}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("size", help="WIDTHxHEIGHT")
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    width, height = map(int, given.size.split("x"))
    for number in range(1, given.count + 1):
        grid = KINDS[given.kind](width, height, random.Random(f"{given.kind} {given.seed} {number}"))
        sys.stdout.buffer.write(format_puzzle(number, Puzzle.from_grid(grid.astype(int).tolist())))


if __name__ == "__main__":
    main()
