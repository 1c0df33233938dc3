"""Pictures of boards: what is drawn is read back and compared with the board, and with golden files.

After a change that is meant to be seen, `NONOBOT_REFRESH_PICTURES=1 pytest -k test_pictures` writes
tests/golden/pictures again (and skips, saying so); look at each file that git shows as changed.
"""

import os
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonobot.protocol import BLACK, UNKNOWN, WHITE, Puzzle
from nonobot.protocol.characters import Blocks, draw, plain_lines
from nonobot.protocol.png import MOST_PIXELS, TooLargeError, png_of
from nonobot.protocol.scene import SMALLEST_CELL_WITH_CLUES, Picture, Scene, scene_of, sheet_of
from nonobot.protocol.svg import DARK, INHERIT, LIGHT, THEMES, svg_of
from tests.helpers.boards import grids
from tests.helpers.pictured import (
    P_PUZZLE,
    covered,
    pictures,
    pixels_of,
    read_terminal,
    read_terminal_clues,
    rgb,
    svg_boxes,
    svg_spaces,
    svg_texts,
    wrong_p,
)
from tests.helpers.places import GOLDEN

CELLS = st.integers(SMALLEST_CELL_WITH_CLUES, 40)


@st.composite
def partial_boards(draw_from):
    """Pictures of boards with unknown cells; the clues are those of the unknown cells painted white."""
    grid = np.array(draw_from(grids(8, 8)))
    unknown = np.array(draw_from(st.lists(st.booleans(), min_size=grid.size, max_size=grid.size)))
    cells = np.where(unknown.reshape(grid.shape), UNKNOWN, grid)
    return Picture(Puzzle.from_grid(grid), cells)


def of_grid(grid):
    return Picture(Puzzle.from_grid(grid), grid)


def as_clues(clues):
    return [list(clue) or [0] for clue in clues]


def test_impossible_pictures_are_refused():
    with pytest.raises(ValueError, match="no cell to draw"):
        Picture(Puzzle.unchecked(columns=(), rows=((1,),)))
    with pytest.raises(ValueError, match="the cells do not have the size of the puzzle, 8x11"):
        Picture(P_PUZZLE, np.zeros((8, 11)))
    with pytest.raises(ValueError, match="1 \\(black\\), 0 \\(white\\) or -1 \\(unknown\\)"):
        Picture(Puzzle.unchecked(columns=((),), rows=((),)), [[2]])
    side = int(MOST_PIXELS**0.5) + 1
    with pytest.raises(TooLargeError, match=f"{side}x{side} pixels, over 60 million"):
        png_of(Scene("large", side, side, {}, {}), LIGHT)


@given(grids(26, 12), st.sampled_from([Blocks.FULL, Blocks.HALF, Blocks.ASCII]), st.booleans())
def test_the_terminal_shows_every_cell(grid, blocks, clues):
    lines = plain_lines(draw(of_grid(grid), blocks, clues))
    found = read_terminal(lines, 1 if blocks is Blocks.HALF else 2)
    assert np.array_equal(found[: len(grid)], np.array(grid) == BLACK)
    assert not found[len(grid) :].any()
    assert all(line == line.rstrip() for line in lines)


@given(grids(12, 12), st.sampled_from([Blocks.FULL, Blocks.HALF, Blocks.ASCII]))
def test_the_terminal_shows_every_clue(grid, blocks):
    puzzle = Puzzle.from_grid(grid)
    lines = plain_lines(draw(of_grid(grid), blocks))
    rows, columns = read_terminal_clues(lines, 1 if blocks is Blocks.HALF else 2)
    assert rows[: puzzle.height] == as_clues(puzzle.rows)
    assert rows[puzzle.height :] in ([], [[]])
    assert columns == as_clues(puzzle.columns)


@pytest.mark.parametrize("blocks", list(Blocks))
@pytest.mark.parametrize("size", [(1, 1), (5, 5), (30, 12), (12, 30), (120, 3), (3, 120), (1, 1200)])
def test_clue_numbers_of_any_length_are_complete_above_their_columns(blocks, size):
    width, height = size
    board = (np.random.default_rng(width).random((height, width)) < 0.9).astype(int)
    board[:, ::3] = 1
    lines = plain_lines(draw(of_grid(board), blocks))
    rows, columns = read_terminal_clues(lines, 1 if blocks is Blocks.HALF else 2)
    puzzle = Puzzle.from_grid(board)
    assert columns == as_clues(puzzle.columns)
    assert rows[:height] == as_clues(puzzle.rows)


@given(partial_boards())
def test_half_blocks_show_unknown_and_white_cells_in_different_colours(picture):
    rows = []
    for line in draw(picture, Blocks.HALF, clues=False)[1:-1]:
        pairs = [(letter, piece.style) for piece in line for letter in piece.text if letter != "│"]
        pairs += [(" ", "")] * (picture.width - len(pairs))  # spaces at the end are left out
        for lit, unlit in (("█▀", "▄"), ("█▄", "▀")):
            row = []
            for letter, style in pairs:
                is_lit = letter in lit
                shaded = style == "bright_black" if is_lit else style == "on bright_black" and letter in unlit
                row.append(UNKNOWN if shaded else BLACK if is_lit else WHITE)
            rows.append(row)
    expected = picture.cells if picture.is_partly_known else np.maximum(picture.cells, WHITE)
    assert np.array_equal(np.array(rows)[: picture.height], expected)


@pytest.mark.parametrize("blocks", list(Blocks))
@pytest.mark.parametrize("clues", [True, False])
def test_the_terminal_marks_wrong_lines(blocks, clues):
    lines = plain_lines(draw(wrong_p(), blocks, clues))
    sign = "x" if blocks is Blocks.ASCII else "✗"
    top = next(index for index, line in enumerate(lines) if "┌" in line or "+" in line)
    assert lines[top - 1].count(sign) == 2
    body = [line for line in lines[top + 1 : -1] if line.lstrip()[0] not in "├+"]
    rows_per_line = 2 if blocks is Blocks.HALF else 1
    assert [index for index, line in enumerate(body) if sign in line] == [3 // rows_per_line, 8 // rows_per_line]
    for line in draw(wrong_p(), blocks, clues):
        assert all(piece.style == "bold red" for piece in line if sign in piece.text)


@given(grids(12, 12), CELLS)
def test_an_svg_shows_every_cell_and_every_clue_beside_its_line(grid, cell):
    puzzle = Puzzle.from_grid(grid)
    text = svg_of(scene_of(of_grid(grid), cell), LIGHT)
    ink = svg_boxes(text, LIGHT.colours["ink"])
    columns, rows = svg_spaces(text, (LIGHT.colours["thin"], LIGHT.colours["heavy"]))
    assert {end - begin for begin, end in columns + rows} == {cell}
    found = [[covered(ink, sum(x) / 2, sum(y) / 2) for x in columns] for y in rows]
    assert np.array_equal(found, np.array(grid) == BLACK)
    texts = svg_texts(text)
    left, top = columns[0][0], rows[0][0]
    for (begin, end), clue in zip(rows, puzzle.rows, strict=True):
        beside = sorted((x, word) for x, y, word in texts if begin <= y <= end and x < left)
        assert [int(word) for _, word in beside] == (list(clue) or [0])
    for (begin, end), clue in zip(columns, puzzle.columns, strict=True):
        above = sorted((y, word) for x, y, word in texts if begin <= x <= end and y < top)
        assert [int(word) for _, word in above] == (list(clue) or [0])
    assert len(texts) == sum(max(1, len(clue)) for clue in puzzle.rows + puzzle.columns)
    assert min(x for x, _, _ in texts) > 0
    assert min(y for _, y, _ in texts) > 0


@pytest.mark.parametrize("clues", [True, False])
def test_an_svg_does_not_depend_on_its_page(clues):
    text = svg_of(scene_of(wrong_p(), 12, clues), INHERIT)
    root = ElementTree.fromstring(text)
    names = {name for element in root.iter() for name in element.attrib}
    assert names.isdisjoint({"id", "class", "style", "href"})
    assert (root.get("width"), root.get("height")) == tuple(root.get("viewBox").split()[2:])
    assert root.find("{http://www.w3.org/2000/svg}title").text == "$1 wrong"
    assert 'fill="currentColor"' in text
    assert LIGHT.paper not in text


@given(st.text(max_size=30))
def test_any_title_makes_an_svg(title):
    picture = Picture(P_PUZZLE, name="$1 " + title)
    for scene in (scene_of(picture, 12), sheet_of([picture, picture], 12)):
        ElementTree.fromstring(svg_of(scene, DARK).encode())


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("cell", [10, 13, 24, 48])
@pytest.mark.parametrize("name", pictures())
def test_every_pixel_of_a_cell_has_its_colour(name, cell, theme):
    picture = pictures()[name]
    scene = scene_of(picture, cell)
    pixels = pixels_of(png_of(scene, theme))
    assert pixels.shape == (scene.height, scene.width, 3)
    columns, rows = svg_spaces(svg_of(scene, theme), (theme.colours["thin"], theme.colours["heavy"]))
    for y, row in enumerate(rows):
        for x, column in enumerate(columns):
            found = pixels[slice(*row), slice(*column)]
            is_wrong = y in picture.wrong_rows or x in picture.wrong_columns
            paper = rgb(theme.colours["band"] if is_wrong else theme.paper)
            if picture.cells[y][x] == BLACK:
                assert (found == rgb(theme.colours["ink"])).all()
            elif picture.cells[y][x] == WHITE and picture.is_partly_known:
                dotted = (found == rgb(theme.colours["dot"])).all(axis=2)
                assert np.array_equal(dotted, dotted[::-1, ::-1])  # in the middle
                assert 4 <= dotted.sum() < found.size / 3 / 4
                assert (found[~dotted] == paper).all()
            else:
                assert (found == paper).all()


@given(st.lists(grids(9, 9), min_size=1, max_size=7), st.integers(1, 9), st.booleans())
def test_a_sheet_shows_every_board_once_and_none_over_another(boards, columns, clues):
    drawn = [Picture(Puzzle.from_grid(grid), grid, f"${number}") for number, grid in enumerate(boards, 1)]
    parts = [scene_of(picture, 10, clues) for picture in drawn]
    sheet = sheet_of(drawn, 10, clues, columns)
    ink = sheet.boxes["ink"]
    area = sum(box.width * box.height for part in parts for box in part.boxes["ink"])
    assert sum(box.width * box.height for box in ink) == area
    painted = np.zeros((sheet.height, sheet.width), dtype=int)
    for box in ink:
        painted[box.y : box.y + box.height, box.x : box.x + box.width] += 1
    assert painted.sum() == area  # nothing lies outside
    assert painted.max(initial=0) <= 1
    names = sheet.texts["name"]
    assert [text.string for text in names] == [f"${number}" for number in range(1, len(boards) + 1)]
    assert len({text.y for text in names}) == -(-len(boards) // columns)
    assert names == sorted(names, key=lambda text: (text.y, text.x))


def test_a_long_name_is_cut_on_a_sheet():
    picture = Picture(P_PUZZLE, name="$1 " + "a very long name " * 9)
    sheet = sheet_of([picture, wrong_p()], 12)
    first, second = (text.string for text in sheet.texts["name"])
    assert first.startswith("$1 a very")
    assert "…" in first
    assert len(first) < 40
    assert second == "$1 wrong"


FOLDER = GOLDEN / "pictures"

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
    Pillow. What must be exact, each pixel of each cell, has a test above.
    """
    left, right = pixels_of(found), pixels_of(expected)
    assert left.shape == right.shape
    difference = np.abs(left - right).max(axis=2)
    assert (difference > 64).mean() < 0.005
    assert difference.mean() < 1


@pytest.mark.parametrize("name", NAMES)
def test_terminal_drawings_equal_the_golden_files(name):
    drawings = {
        f"{blocks}, {'with' if clues else 'without'} clues": draw(pictures()[name], blocks, clues)
        for blocks in Blocks
        for clues in (True, False)
    }
    text = "".join(f"{title}\n" + "\n".join(plain_lines(lines)) + "\n\n" for title, lines in drawings.items())
    assert text.encode() == golden(f"{name}.txt", text.encode())


@pytest.mark.parametrize("name", NAMES)
def test_svg_pictures_equal_the_golden_files(name):
    content = svg_of(scene_of(pictures()[name], 24), THEMES["light"]).encode()
    assert content == golden(f"{name}.svg", content)


@pytest.mark.parametrize("name", ["p_partial", "p_wrong"])
def test_thumbnails_equal_the_golden_files(name):
    content = svg_of(scene_of(pictures()[name], 4, clues=False), INHERIT).encode()
    assert content == golden(f"{name}_thumbnail.svg", content)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", NAMES)
def test_png_pictures_equal_the_golden_files(name, theme):
    content = png_of(scene_of(pictures()[name], 24), THEMES[theme])
    assert_same_picture(content, golden(f"{name}_{theme}.png", content))


@pytest.mark.parametrize("clues", [True, False])
def test_sheets_equal_the_golden_files(clues):
    boards = list(pictures().values())
    scene = sheet_of(boards, 14 if clues else 6, clues, columns=3)
    content = png_of(scene, DARK)
    assert_same_picture(content, golden(f"sheet_{'clues' if clues else 'thumbnails'}_dark.png", content))
