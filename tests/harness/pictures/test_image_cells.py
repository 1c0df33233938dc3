"""Image files as cells: exact where they are black and white already, Otsu's method, sizes, broken files."""

import contextlib
import io
import struct
import sys
import zlib

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image

from nonobot.bot import LONGEST_SIDE
from nonobot.harness import UnusableError
from nonobot.harness.pictures import image_cells
from nonobot.harness.pictures.black_white import LARGEST_SIDE, is_image
from nonobot.harness.pictures.image_cells import read_cells
from nonobot.protocol.png import MOST_PIXELS
from tests.helpers.boards import grids
from tests.helpers.places import PUZZLES

LOSSLESS = ("PNG", "GIF", "BMP", "PPM", "TIFF", "TGA", "PCX", "WEBP", "ICO")
"""Kinds of files that keep every pixel; WEBP is told to. Of an ICO the sides are few."""


def file_of(image, kind="PNG", **options):
    data = io.BytesIO()
    image.save(data, kind, **options)
    return data.getvalue()


def drawn(cells, mode="L"):
    """Return black and white cells as an image, a pixel each."""
    grey = Image.fromarray(np.where(cells, 0, 255).astype(np.uint8))
    return grey.convert(mode, dither=Image.Dither.NONE) if mode != "L" else grey


def grey_file(values):
    return file_of(Image.fromarray(np.array(values, np.uint8)))


def refused(data, **options):
    with pytest.raises(UnusableError) as caught:
        read_cells(data, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


boards = grids(12, 12).map(lambda grid: np.array(grid, bool))
ways = st.sampled_from([{}, {"threshold": 0.5}, {"threshold": 0.01}, {"threshold": 1.0}, {"dither": True}])


@given(boards, st.sampled_from(["1", "L", "P", "RGB", "RGBA", "LA", "I", "I;16"]), ways, st.booleans())
def test_black_and_white_is_taken_cell_for_cell(cells, mode, way, invert):
    if mode.startswith("I"):
        image = Image.fromarray(np.where(cells, 0, 65535).astype(np.int32 if mode == "I" else np.uint16))
    else:
        image = drawn(cells, mode)
    data = file_of(image, "TIFF" if mode == "I" else "PNG")
    height, width = cells.shape
    for size in ({}, {"width": width, "height": height}):
        found = read_cells(data, invert=invert, **size, **way)
        assert (found.cells == (cells ^ invert)).all()
        assert found.frames == 1


@pytest.mark.parametrize("kind", LOSSLESS)
def test_pictures_of_many_formats_are_read(kind):
    cells = np.random.default_rng(1).random((16, 16)) < 0.5
    data = file_of(drawn(cells, "RGB"), kind, **({"lossless": True} if kind == "WEBP" else {}))
    assert (read_cells(data).cells == cells).all()


@pytest.mark.parametrize("text", ["P1\n# drawn by hand\n3 2\n1 0 1\n0 0 1\n", "P2 3 2 9\n0 9 0\n9 9 0\n"])
def test_pbm_and_pgm_as_text(text):
    assert is_image(text.encode())
    assert read_cells(text.encode()).cells.tolist() == [[True, False, True], [False, False, True]]


@given(boards, st.integers(1, 5), st.integers(1, 5), ways)
def test_enlarged_cells_are_recovered_from_a_picture(cells, across, down, way):
    large = np.kron(cells, np.ones((down, across), bool))
    height, width = cells.shape
    assert (read_cells(file_of(drawn(large)), width=width, height=height, **way).cells == cells).all()


@pytest.mark.parametrize(("value", "black"), [(0, True), (127, True), (128, False), (255, False)])
def test_one_shade_is_black_or_white(value, black):
    assert (read_cells(grey_file([[value] * 3] * 2)).cells == black).all()
    assert (read_cells(grey_file([[value] * 3] * 2), invert=True).cells != black).all()


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
@pytest.mark.parametrize("invert", [False, True])
def test_transparent_pixels_are_white(mode, invert):
    image = Image.new("RGBA", (3, 1), (0, 0, 0, 0))
    image.putpixel((1, 0), (0, 0, 0, 255))
    image.putpixel((2, 0), (255, 255, 255, 255))
    found = read_cells(file_of(image.convert(mode), "PNG"), invert=invert).cells.tolist()
    assert found == [[False, not invert, invert]]


def test_a_transparent_palette_colour_is_white():
    data = file_of(Image.fromarray(np.array([[0, 0, 200]], np.uint8)), transparency=0)
    assert read_cells(data, threshold=0.9).cells.tolist() == [[False, False, True]]


@example([10, 90, 110, 121, 133, 145, 164, 245])  # two thresholds far apart are equally good
@given(st.lists(st.integers(0, 255), min_size=1, max_size=40))
def test_the_otsu_threshold_is_the_best_of_all_thresholds(values):
    array = np.array([values], np.uint8)

    def within(black):
        """Return the variance within the two classes, which is least where that between them is largest."""
        classes = [part for part in (array[black], array[~black]) if part.size]
        return sum(part.size * part.var() for part in classes)

    found = read_cells(grey_file(array)).cells
    if len(set(values)) > 1:
        assert found.any()
        assert not found.all()
        assert array[found].max() < array[~found].min()
        assert within(found) <= min(within(array <= value) for value in set(values)) + 1e-6


@given(st.lists(st.integers(0, 255), min_size=1, max_size=20), st.floats(0.0, 1.0))
def test_a_threshold_is_a_share_of_white(values, threshold):
    found = read_cells(grey_file([values]), threshold=threshold).cells[0]
    assert found.tolist() == [value / 255 < threshold for value in values]


def test_a_cell_has_the_mean_of_its_pixels_or_is_dithered():
    values = [[0, 100, 255, 255], [100, 200, 255, 251]]
    assert read_cells(grey_file(values), width=2, threshold=100.5 / 255).cells.tolist() == [[True, False]]
    assert read_cells(grey_file(values), width=2, threshold=99.5 / 255).cells.tolist() == [[False, False]]
    values = np.full((40, 40), 191, np.uint8)
    assert not read_cells(grey_file(values), threshold=0.5).cells.any()
    for invert, share in ((False, 64 / 255), (True, 191 / 255)):
        found = read_cells(grey_file(values), dither=True, invert=invert).cells
        assert found.mean() == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize(
    ("pixels", "asked", "size"),
    [
        ((30, 20), {}, (30, 20)),
        ((30, 20), {"width": 15}, (15, 10)),
        ((30, 20), {"height": 10}, (15, 10)),
        ((30, 20), {"width": 7, "height": 9}, (7, 9)),
        ((30, 20), {"width": 60}, (60, 40)),
        ((1000, 2), {"width": 20}, (20, 1)),
        ((3, 1000), {"height": 20}, (1, 20)),
        ((LARGEST_SIDE, 1), {}, (LARGEST_SIDE, 1)),
    ],
)
def test_the_board_size_follows_from_the_picture_and_the_options(pixels, asked, size):
    assert read_cells(file_of(Image.new("L", pixels)), **asked).cells.shape == size[::-1]


def test_boards_and_pictures_that_are_too_large_are_refused():
    assert LARGEST_SIDE == LONGEST_SIDE
    wide = file_of(Image.new("1", (LARGEST_SIDE + 1, 2)))
    assert refused(wide) == (
        "a board of 1023x2 is too large: at most 1022 rows or columns; give a --width or a --height for the puzzle"
    )
    assert refused(wide, height=100).startswith("a board of 51150x100 is too large")
    assert refused(wide, height=100).endswith("give a smaller one, or both --width and --height")
    # Pillow decodes an ICO as it opens it.
    png = bytearray(file_of(Image.new("L", (256, 256))))
    png[16:24] = struct.pack(">II", MOST_PIXELS // 4000 + 1, 4000)
    png[29:33] = struct.pack(">I", zlib.crc32(png[12:29]))
    icon = struct.pack("<HHHBBBBHHII", 0, 1, 1, 0, 0, 0, 0, 1, 32, len(png), 22) + png
    assert refused(icon) == "the picture has over 60 million pixels; shrink it first"


def test_the_exif_rotation_of_a_photograph_is_applied():
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees
    image = Image.new("L", (32, 16), 255)
    image.paste(0, (0, 0, 16, 16))  # the left half, which is to be above
    found = read_cells(file_of(image, "JPEG", exif=exif)).cells
    assert found.shape == (32, 16)
    assert found[:15].all()
    assert not found[17:].any()


def test_pictures_are_recognised_by_their_first_bytes():
    board = drawn(np.eye(16, dtype=bool), "RGB")
    for kind in ("PNG", "JPEG", "GIF", "BMP", "PPM", "TIFF", "WEBP", "ICO"):
        assert is_image(file_of(board, kind))
    assert is_image(file_of(board.convert("1"), "XBM"))
    for puzzle in PUZZLES.iterdir():
        assert not is_image(puzzle.read_bytes())
    assert not is_image(b"")
    assert not is_image(bytes(range(256)))


@given(st.binary(max_size=200), st.integers(0, 400), st.sampled_from(["PNG", "GIF", "BMP", "PPM", "JPEG", "TIFF"]))
def test_damaged_pictures_raise_only_the_expected_error(noise, position, kind):
    data = file_of(drawn(np.eye(9, dtype=bool), "RGB"), kind)
    for broken in (noise, data[:position], data[:position] + noise + data[position + len(noise) :]):
        with contextlib.suppress(UnusableError):
            assert read_cells(broken, width=5).cells.shape[1] == 5


def test_postscript_pictures_start_no_program_and_pillow_may_be_missing(monkeypatch):
    monkeypatch.setattr("subprocess.check_call", lambda *_, **__: pytest.fail("a program was started"))
    page = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n"
    assert refused(page) == "cannot read the picture: Pillow cannot read its format"
    data = file_of(Image.new("1", (2, 2)))
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert "reading a picture needs Pillow, not installed; install with: " in refused(data)


def test_pictures_of_too_many_pixels_are_refused(monkeypatch):
    monkeypatch.setattr(image_cells, "MOST_PIXELS", 2_000_000)
    usual = Image.MAX_IMAGE_PIXELS
    for width in (1001, 4004):
        message = refused(file_of(Image.new("1", (width, 2000))), width=9)
        assert message == "the picture has over 2 million pixels; shrink it first"
        assert usual == Image.MAX_IMAGE_PIXELS
