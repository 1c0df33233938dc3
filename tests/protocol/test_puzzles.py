"""Puzzles as Python programs have them: made, read, checked, printed."""

import random
import re
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nonobot
from nonobot import Puzzle, PuzzleError, Record, Solution, check, read
from nonobot.protocol import BLACK, PartialGrid, clue_of, formats
from nonobot.protocol.puzzle import plain_text
from tests import naive
from tests.helpers.boards import grids, random_grid
from tests.helpers.places import PUZZLES


def test_the_package_exports_exactly_the_documented_names():
    for name in nonobot.__all__:
        assert getattr(nonobot, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = nonobot.nonsense


@pytest.mark.parametrize(
    ("rows", "columns", "why"),
    [
        ([[9]], [[1]], "the clue of row 1 needs 9 cells, the row has 1"),
        ([[1]], [[2]], "the clue of column 1 needs 2 cells, the column has 1"),
        ([[1], [1]], [[1], [1], [1]], "the columns count 3 black cells, the rows 2; both must be the same"),
        ([[1], [-1]], [[1]], "row 2: a block of -1 cells; block lengths are 1 or more"),
        ([[1, 0, 1]], [[1]], "row 1: a block of 0 cells; block lengths are 1 or more"),
        ([[1]], ["1"], "column 1: '1' is not a list of block lengths such as [1, 2]"),
        ([[1.0]], [[1]], "row 1: [1.0] is not a list of block lengths such as [1, 2]"),
        ([1], [[1]], "row 1: 1 is not a list of block lengths such as [1, 2]"),
        ([], [[1]], "no rows; a board has at least one row"),
        ([[1]], [], "no columns; a board has at least one column"),
    ],
)
def test_impossible_clues_are_reported_with_their_row_or_column(rows, columns, why):
    with pytest.raises(PuzzleError) as caught:
        Puzzle(rows=rows, columns=columns)
    assert str(caught.value) == why


def test_puzzles_have_whole_numbers_for_clues_and_print_as_pictures():
    puzzle = Puzzle(rows=np.array([[2], [0]]), columns=[(1,), iter([1])])
    assert puzzle == Puzzle(rows=[[2], []], columns=[[1], [1]])
    assert (puzzle.rows, puzzle.columns, puzzle.size) == (((2,), ()), ((1,), (1,)), (2, 2))
    puzzle = Puzzle.from_cells([[1, 0], [1, 1]])
    assert str(puzzle).splitlines() == ["    2 1", "  ┌────┐", "1 │    │", "2 │    │", "  └────┘"]
    assert str(Solution([[1, 0], [1, 1]])).splitlines() == ["┌────┐", "│██  │", "│████│", "└────┘"]


@pytest.mark.parametrize("side", [1, 20, 200])
def test_puzzles_and_solutions_draw_themselves_in_notebooks(side):
    grid = random_grid(random.Random(1), side, side, 0.5)
    for drawable in (Puzzle.from_cells(grid), Solution(grid)):
        picture = ElementTree.fromstring(drawable._repr_svg_())
        assert picture.tag.endswith("svg")
        assert side <= int(picture.get("width")) <= 1500


@pytest.mark.parametrize(
    ("cells", "clue"),
    [
        ([], ()),
        ([0], ()),
        ([1], (1,)),
        ([0, 0, 0], ()),
        ([1, 1, 1], (3,)),
        ([1, 0, 1], (1, 1)),
        ([0, 1, 1, 0, 0, 1, 0], (2, 1)),
        ([True, False, True, True], (1, 2)),
    ],
)
def test_the_clue_of_a_line_is_its_runs_of_black_cells(cells, clue):
    assert clue_of(cells) == clue
    assert clue_of(np.array(cells, dtype=np.uint8)) == clue
    assert clue_of(iter(cells)) == clue


@given(grids())
def test_a_puzzle_from_a_grid_has_that_solution(grid):
    assert naive.verify(Puzzle.from_grid(grid), grid)
    assert Puzzle.from_grid(grid) == Puzzle.from_grid(np.array(grid, dtype=np.uint8))
    assert Puzzle.from_grid(grid) == Puzzle.from_grid(Solution(grid).cells)


def test_a_grid_with_rows_of_different_length_is_no_puzzle():
    with pytest.raises(ValueError, match=r"shorter|longer"):
        Puzzle.from_grid([[1, 0], [1]])
    with pytest.raises(PuzzleError, match="at least one cell"):
        Puzzle.from_cells([[]])


def test_puzzles_and_solutions_are_equal_by_value_and_hashable():
    puzzle, other = Puzzle.from_grid([[1, 0]]), Puzzle.unchecked(((1,), ()), ((1,),))
    assert puzzle == other
    assert {puzzle: "found"}[other] == "found"
    assert puzzle != Puzzle.from_grid([[0, 1]])
    with pytest.raises(AttributeError):
        puzzle.rows = ()
    solution, other = Solution([[1, 0], [0, 1]]), Solution([[True, False], [False, True]])
    assert solution == other
    assert hash(solution) == hash(other)
    assert len({solution, other}) == 1
    assert solution != Solution([[1, 0, 0, 1]])
    assert solution != Solution([[1, 0], [0, 0]])
    assert solution != [[1, 0], [0, 1]]
    assert solution != PartialGrid([[1, 0], [0, 1]])
    assert PartialGrid([[1, -1]]) == PartialGrid(np.array([[1, -1]], np.int8)) != PartialGrid([[1, 0]])


@pytest.mark.parametrize("make", [Solution, PartialGrid, Puzzle.from_cells])
@pytest.mark.parametrize("cells", [1, [1], [[[1]]], [[2]], [[-2]], [[0.5]], [[None]], [["1"]], [[1, 0], [1]]])
def test_cells_that_are_not_a_board_are_refused(make, cells):
    with pytest.raises(ValueError, match=r"\S"):
        make(cells)


def test_a_board_is_made_from_a_drawing():
    puzzle = Puzzle(rows=[[1], [2]], columns=[[2], [1]])
    assert Puzzle.from_cells(["#.", "##"]) == Puzzle.from_cells("#.\n##\n") == puzzle
    assert check(puzzle, ["#.", "##"])
    for wrong, why in (
        (["#.", "#?"], "row 2 .* has '\\?'; a cell is '#'"),
        (["#.", "#"], "row 2 .* 1 cells, row 1"),
    ):
        with pytest.raises(PuzzleError, match=why):
            Puzzle.from_cells(wrong)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint64, np.bool_, np.float64])
def test_a_solution_is_made_from_any_type_of_number(dtype):
    for cells in product((0, 1), repeat=4):
        grid = np.array(cells).reshape(2, 2)
        assert Solution(grid.astype(dtype)) == Solution(grid)


@given(st.sampled_from([Solution, PartialGrid]), st.integers(1, 5), st.integers(1, 5), st.data())
def test_a_board_is_made_from_bytes_or_an_array_and_gives_both(kind, width, height, data):
    least = 0 if kind is Solution else -1
    row = st.lists(st.integers(least, 1), min_size=width, max_size=width)
    cells = data.draw(st.lists(row, min_size=height, max_size=height))
    content = bytes(cell % 256 for row in cells for cell in row)
    board = kind.from_bytes(content, (width, height))
    assert board == kind(cells)
    assert (board.content, board.size, board.cells.tolist()) == (content, (width, height), cells)
    assert [[cell - 256 * (cell > 1) for cell in row] for row in board.rows] == cells
    columns = [*map(list, zip(*cells, strict=True))]
    assert [[cell - 256 * (cell > 1) for cell in column] for column in board.columns] == columns


@pytest.mark.parametrize(
    ("kind", "content", "size", "why"),
    [
        (Solution, b"\0\1", (3, 1), "2 cells for a board of 3x1"),
        (Solution, b"\0\377", (2, 1), r"a solution holds 0 \(white\) and 1 \(black\) only"),
        (PartialGrid, b"01", (2, 1), r"holds -1 \(unknown\), 0 \(white\) and 1 \(black\) only"),
    ],
)
def test_bytes_that_are_not_a_board_are_refused(kind, content, size, why):
    with pytest.raises(ValueError, match=why):
        kind.from_bytes(content, size)


@pytest.mark.parametrize(
    ("kind", "cells", "dtype"),
    [(Solution, [[1, 0], [0, 1]], np.uint8), (PartialGrid, [[1, -1], [0, -1]], np.int8)],
)
def test_a_board_is_a_copy_that_cannot_be_changed(kind, cells, dtype):
    array = np.array(cells)
    board = kind(array)
    array[0, 0] = 0
    assert board.cells.tolist() == cells
    assert board.cells.dtype == dtype
    assert repr(board) == f"<{kind.__name__} 2x2, {(board.cells == BLACK).sum()} black>"
    with pytest.raises(ValueError, match="read-only"):
        board.cells[0, 0] = 0
    with pytest.raises(AttributeError, match=f"a {kind.__name__} cannot be changed"):
        board.cells = array


@pytest.mark.parametrize("path", sorted(PUZZLES.glob("p.*")), ids=lambda path: path.name)
def test_a_file_of_any_format_is_read_by_name_path_content_and_text(path):
    content = path.read_bytes()
    [record] = read(path)
    assert isinstance(record, Record)
    assert isinstance(record.puzzle, Puzzle)
    for same in (str(path), content, content.decode()):
        assert read(same)[0].puzzle == record.puzzle
    assert [record] == list(formats.read(content))


def test_a_one_line_text_is_a_puzzle_unless_a_file_has_that_name(tmp_path, own_folder):
    text = "1:2-2:1"
    [record] = read(text)
    Path(text).write_text("width 1\nheight 1\nrows\n1\ncolumns\n1\n")
    assert record.puzzle.size == (2, 2)
    assert read(text)[0].puzzle.size == (1, 1)


def test_records_accept_arrays_and_are_equal_regardless_of_position():
    written = Record(Puzzle.from_cells([[1, 0]]), np.array([[1, -1]]), [[1, 0]], title="A dot", author="Somebody")
    [record] = read(formats.write([written], "grid").data)
    assert record == written
    assert np.asarray(record.start).tolist() == [[1, -1]]
    assert record.solution == Solution([[1, 0]])
    assert str(record).splitlines()[0] == "A dot by Somebody"
    assert "██" in str(record)
    assert record._repr_svg_().startswith("<svg")
    puzzle = Puzzle.from_cells([[1, 0]])
    for board in ({"start": [[1]]}, {"solution": Solution([[1]])}):
        with pytest.raises(PuzzleError, match="a 1x1 board for a 2x1 puzzle"):
            Record(puzzle, **board)
    with pytest.raises(PuzzleError, match="a solution holds 0"):
        Record(puzzle, solution=[[1, -1]])
    assert Record(puzzle, number=1, line=1) == Record(puzzle, number=2, line=9)
    assert Record(puzzle, title="P") != Record(puzzle)


def test_unreadable_puzzles_are_raised_or_collected_and_a_missing_path_raises(tmp_path):
    text = "$1\n1\n1\n$2\n2\n1\n$3\n1\n1\n"
    with pytest.raises(PuzzleError, match=r"^\$2: line 5: the clue of column 1 needs 2 cells, the column has 1$"):
        read(text, size=(1, 1))
    errors: list[str] = []
    assert [record.number for record in read(text, size=(1, 1), errors=errors)] == [1, 3]
    path = tmp_path / "three.txt"
    path.write_text(text)
    read(path, size=(1, 1), errors=errors)
    fault = "$2: line 5: the clue of column 1 needs 2 cells, the column has 1"
    assert errors == [fault, f"{path}: {fault}"]
    with pytest.raises(PuzzleError, match=f"^{re.escape(f'{path}: {fault}')}"):
        read(path, size=(1, 1))
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none")


def test_a_puzzle_on_one_line_may_be_longer_than_any_name_of_a_file():
    rng = random.Random(5)
    puzzle = Puzzle.from_cells(random_grid(rng, 25, 25, 0.5))
    for name in ("oneline", "webpbn"):
        line = formats.write([Record(puzzle)], name).data.decode().replace("\n", "")
        assert len(line) > 255
        assert read(line)[0].puzzle == puzzle
    with pytest.raises(PuzzleError, match=r"^'x{20}…x{19}': not a file, and not a puzzle: "):
        read("x" * 5000)
    with pytest.raises(PuzzleError):
        read("\ud800")


@given(st.text())
def test_plain_text_is_one_line_of_printable_characters(text):
    plain = plain_text(text)
    assert plain is None or (plain == plain.strip() and plain)
    assert plain_text(plain) == plain
    for character in plain or "":
        assert character.isprintable() or character in "\u200c\u200d"


def test_plain_text_keeps_letters_and_escapes_control_characters():
    assert plain_text("\u0645\u06cc\u200c\u062e") == "\u0645\u06cc\u200c\u062e"
    assert plain_text("a\x1b[31mb\u202ec\0\ud800") == r"a\x1b[31mb\u202ec\x00\ud800"
    assert plain_text("\n\t") is None
    assert plain_text(None) is None


def test_checking_a_wrong_board_reports_the_wrong_rows_and_columns():
    found = check(Puzzle(rows=[[2], []], columns=[[1], [1]]), [[1, 0], [0, 0]])
    assert not found
    assert str(found) == "row 1: expected 2, found 1\ncolumn 2: expected 1, found no black cell"
    assert str(check(Puzzle(rows=[[1]], columns=[[1]]), Solution([[1]]))) == "right"
    for grid in ([[1, 1]], [[-1]], [1]):  # no painted board of that size
        with pytest.raises(PuzzleError):
            check(Puzzle(rows=[[1]], columns=[[1]]), grid)


def test_several_puzzles_are_written_with_their_numbers_and_losses_are_logged(tmp_path, caplog):
    puzzle, file = Puzzle.from_cells(["#.", "##"]), str(tmp_path / "several")
    nonobot.write([puzzle, puzzle, Record(puzzle, title="L", number=3)], file, format="taai")
    assert [record.number for record in read(file, size=(2, 2))] == [1, 2, 3]
    assert "cannot hold the title" in caplog.text


@pytest.mark.parametrize(
    ("name", "cells", "why"),
    [
        ("x.nno", [[[1]]], "the end of this name belongs to no known format"),
        ("x.mk", [[[1]], [[1]]], "a mk file contains one puzzle, not 2"),
        ("x.letters", [[[1] * 27]], "a block of 27 cells"),
        ("x.non", [], "no puzzle to write"),
    ],
)
def test_a_failed_write_leaves_no_file(tmp_path, name, cells, why):
    with pytest.raises(PuzzleError, match=f"{name}: .*{why}"):
        nonobot.write(map(Puzzle.from_cells, cells), tmp_path / name)
    assert not list(tmp_path.iterdir())
