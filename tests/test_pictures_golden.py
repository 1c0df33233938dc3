"""Pictures as they were when someone last looked at them.

After a change that is meant to be seen, `NONOBOT_REFRESH_PICTURES=1 pytest tests/test_pictures_golden.py` writes
the files in tests/golden/pictures again (and skips, saying so); look at each that git shows as changed.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from nonobot.harness.pictures.drawings import png_of
from nonobot.protocol.characters import Blocks, draw, plain_lines
from nonobot.protocol.scene import scene_of, sheet_of
from nonobot.protocol.svg import DARK, INHERIT, THEMES, svg_of
from tests.pictured import pictures, pixels_of

FOLDER = Path(__file__).parent / "golden" / "pictures"

NAMES = sorted(pictures())


def golden(name: str, content: bytes) -> bytes:
    """Return what the golden file holds; write `content` to it instead where that is asked for."""
    path = FOLDER / name
    if os.environ.get("NONOBOT_REFRESH_PICTURES"):
        FOLDER.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        pytest.skip(f"written: {path}")
    return path.read_bytes()


def assert_same_picture(found: bytes, expected: bytes) -> None:
    """Compare two PNG files: the same size, and hardly a pixel another.

    Not byte for byte: compression and the edges of the digits depend on the versions of zlib and FreeType within
    Pillow. What must be exact, each pixel of each cell, is in test_pictures.py.
    """
    left, right = pixels_of(found), pixels_of(expected)
    assert left.shape == right.shape
    difference = np.abs(left - right).max(axis=2)
    assert (difference > 64).mean() < 0.005
    assert difference.mean() < 1


@pytest.mark.parametrize("name", NAMES)
def test_terminal(name):
    drawings = {
        f"{blocks}, {'with' if clues else 'without'} clues": draw(pictures()[name], blocks, clues)
        for blocks in Blocks
        for clues in (True, False)
    }
    text = "".join(f"{title}\n" + "\n".join(plain_lines(lines)) + "\n\n" for title, lines in drawings.items())
    assert text.encode() == golden(f"{name}.txt", text.encode())


@pytest.mark.parametrize("name", NAMES)
def test_svg(name):
    content = svg_of(scene_of(pictures()[name], 24), THEMES["light"]).encode()
    assert content == golden(f"{name}.svg", content)


@pytest.mark.parametrize("name", ["p_partial", "p_wrong"])
def test_thumbnail_for_a_page(name):
    content = svg_of(scene_of(pictures()[name], 4, clues=False), INHERIT).encode()
    assert content == golden(f"{name}_thumbnail.svg", content)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", NAMES)
def test_png(name, theme):
    content = png_of(scene_of(pictures()[name], 24), THEMES[theme])
    assert_same_picture(content, golden(f"{name}_{theme}.png", content))


@pytest.mark.parametrize("clues", [True, False])
def test_sheet(clues):
    boards = list(pictures().values())
    scene = sheet_of(boards, 14 if clues else 6, clues, columns=3)
    content = png_of(scene, DARK)
    assert_same_picture(content, golden(f"sheet_{'clues' if clues else 'thumbnails'}_dark.png", content))
