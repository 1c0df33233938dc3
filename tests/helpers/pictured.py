"""Boards that the tests of pictures draw, and readers that get the cells back out of a picture.

The readers know what a picture looks like, not how it was made: they share no geometry with what draws.
"""

from __future__ import annotations

import io
import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np

from nonobot.protocol import BLACK, UNKNOWN, WHITE, Puzzle, Solution
from nonobot.protocol.scene import Picture

LETTER_P = """
........
.####...
.######.
.##..##.
.##..##.
.######.
.####...
.##.....
.##.....
.##.....
........
"""

P_PUZZLE = Puzzle(
    rows=((), (4,), (6,), (2, 2), (2, 2), (6,), (4,), (2,), (2,), (2,), ()),
    columns=((), (9,), (9,), (2, 2), (2, 2), (4,), (4,), ()),
)


def cells_from(text: str) -> np.ndarray:
    """Return the cells of a board drawn with # black, . white, ? unknown."""
    return np.array([[{"#": BLACK, ".": WHITE, "?": UNKNOWN}[cell] for cell in row] for row in text.split()])


def wrong_p() -> Picture:
    """Return the letter with two cells too many: two rows and two columns are at fault."""
    cells = cells_from(LETTER_P)
    cells[3, 3] = cells[8, 6] = BLACK
    return Picture.of_answer(P_PUZZLE, Solution(cells), "$1 wrong")


def pictures() -> dict[str, Picture]:
    """Return the boards that are kept as golden files, by name."""
    partial = cells_from(LETTER_P)
    partial.reshape(-1)[::3] = UNKNOWN
    chequered = (np.indices((13, 25)).sum(axis=0) % 2 == 0).astype(int)  # 13 blocks in a row
    chequered[12] = 1
    frame = np.ones((12, 11), dtype=int)
    frame[5:7, 4:7] = 0
    return {
        "p": Picture(P_PUZZLE, cells_from(LETTER_P), "$1"),
        "p_clues": Picture(P_PUZZLE, name="$1"),
        "p_partial": Picture(P_PUZZLE, partial, "$1 partial"),
        "p_wrong": wrong_p(),
        "many_blocks": Picture(Puzzle.from_grid(chequered), chequered, "$2"),
        "long_numbers": Picture(Puzzle.from_grid(frame), frame, "$3 <long & wide>"),
        "one_cell": Picture(Puzzle(columns=((1,),), rows=((1,),)), [[1]], "$4"),
    }


# Reading the terminal


def read_terminal(lines: list[str], per_cell: int) -> np.ndarray:
    """Return which cells are black in a drawing; with half blocks (1 character a cell) a line shows two rows."""
    top = next(number for number, line in enumerate(lines) if line.lstrip()[:1] in ("┌", "+"))
    left = len(lines[top]) - len(lines[top].lstrip())
    inside = [column for column in range(left, len(lines[top])) if lines[top][column] in "─-"]
    rows = []
    for line in lines[top + 1 : -1]:
        if line[left] in "├+":
            continue
        found = "".join(line[column] for column in inside)
        if per_cell == 2:
            assert all(
                found[start] == found[start + 1] or found[start : start + 2] in (" ·", " .")
                for start in range(0, len(found), 2)
            )
            rows.append([cell in "█#" for cell in found[::2]])
        else:
            rows.append([cell in "█▀" for cell in found])
            rows.append([cell in "█▄" for cell in found])
    return np.array(rows)


def read_terminal_clues(lines: list[str], per_cell: int) -> tuple[list[list[int]], list[list[int]]]:
    """Return the clues beside a drawing without wrong lines, rows first; an empty clue is [0].

    With half blocks a row of no board may follow the last one; its clue is empty.
    """
    top = next(number for number, line in enumerate(lines) if line.lstrip()[:1] in ("┌", "+"))
    left = len(lines[top]) - len(lines[top].lstrip())
    end = len(lines[top])
    rows = []
    for line in lines[top + 1 : -1]:
        if line[left] not in "├+":
            rows.append([int(word) for word in line[:left].split()])
            rows += [[int(word) for word in line[end:].split()]] if per_cell == 1 else []
    inside = [column for column in range(left, end) if lines[top][column] in "─-"]
    head = [line.ljust(end) for line in lines[:top]]
    # Only numbers of one digit run together; then the lowest line has one over each column.
    runs_together = per_cell == 1 and len(inside) > 1 and all(head[-1][column].isdigit() for column in inside)
    numbers = [number for line in head for number in re.finditer(r"\d" if runs_together else r"\d+", line)]
    ends = [column + 1 for column in inside[per_cell - 1 :: per_cell]]
    assert {number.end() for number in numbers} == set(ends)
    return rows, [[int(number[0]) for number in numbers if number.end() == end] for end in ends]


# Reading an SVG


def svg_boxes(text: str, colour: str) -> list[tuple[int, int, int, int]]:
    """Return the boxes (x, y, width, height) of a colour."""
    boxes = []
    for path in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}path"):
        if path.get("fill") == colour:
            data = path.get("d")
            found = re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)h-(\d+)z", data)
            assert "".join(f"M{x} {y}h{w}v{h}h-{b}z" for x, y, w, h, b in found) == data
            assert all(width == back for _, _, width, _, back in found)
            boxes += [tuple(map(int, box[:4])) for box in found]
    return boxes


def svg_texts(text: str) -> list[tuple[float, float, str]]:
    """Return the words of a picture and where they stand."""
    elements = ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")
    return [(float(element.get("x")), float(element.get("y")), element.text) for element in elements]


def svg_spaces(text: str, colours: tuple[str, ...]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return where the columns and where the rows are, by the lines between them, which have these colours."""
    boxes = [box for colour in colours for box in svg_boxes(text, colour)]
    upright = [(x, x + width) for x, _, width, height in boxes if width < height]
    level = [(y, y + height) for _, y, width, height in boxes if width > height]
    free = ([(end, begin) for (_, end), (begin, _) in pairwise(sorted(lines))] for lines in (upright, level))
    return tuple(free)


def covered(boxes: list[tuple[int, int, int, int]], x: float, y: float) -> bool:
    return any(left <= x < left + width and top <= y < top + height for left, top, width, height in boxes)


# Reading a PNG


def pixels_of(data: bytes) -> np.ndarray:
    """Return the pixels of a PNG file, shape (height, width, 3), int."""
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        assert image.format == "PNG"
        return np.asarray(image.convert("RGB")).astype(int)


def rgb(colour: str) -> list[int]:
    return [int(colour[start : start + 2], 16) for start in (1, 3, 5)]
