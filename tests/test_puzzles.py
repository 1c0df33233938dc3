"""Puzzles as Python programs have them: made, read, checked, printed."""

from __future__ import annotations

import copy
import pickle
import random
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import nonobot
from nonobot import Puzzle, PuzzleError, Record, Solution, check, read
from nonobot.protocol import formats
from tests.boards import random_grid

PUZZLES = Path(__file__).with_name("puzzles")


def test_every_name_is_there_and_no_other():
    assert "solve" in dir(nonobot)
    for name in nonobot.__all__:
        assert getattr(nonobot, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = nonobot.nonsense


@pytest.mark.parametrize(
    ("rows", "columns", "why"),
    [
        ([[9]], [[1]], "the clue of row 1 needs 9 cells, the row has 1"),
        ([[1]], [[2]], "the clue of column 1 needs 2 cells, the column has 1"),
        ([[1], []], [[1, 1]], "the clue of column 1 needs 3 cells, the column has 2"),
        ([[1], [1]], [[1], [1], [1]], "the columns count 3 black cells, the rows 2; both must be the same"),
        ([[1], [-1]], [[1]], "row 2: a block of -1 cells; block lengths are 1 or more"),
        ([[0, 1]], [[1]], "row 1: a block of 0 cells; block lengths are 1 or more"),
        ([[1]], ["1"], "column 1: '1' is no list of block lengths such as [1, 2]"),
        ([[1.0]], [[1]], "row 1: [1.0] is no list of block lengths such as [1, 2]"),
        ([1], [[1]], "row 1: 1 is no list of block lengths such as [1, 2]"),
        ([], [[1]], "there is no row; a board has at least one"),
        ([[1]], [], "there is no column; a board has at least one"),
    ],
)
def test_clues_that_cannot_be_are_said_with_their_line(rows, columns, why):
    with pytest.raises(PuzzleError) as caught:
        Puzzle(rows=rows, columns=columns)
    assert str(caught.value) == why


def test_clues_may_be_of_any_whole_numbers_and_an_empty_line_is_empty_or_zero():
    puzzle = Puzzle(rows=np.array([[2], [0]]), columns=[(1,), iter([1])])
    assert puzzle == Puzzle(rows=[[2], []], columns=[[1], [1]])
    assert (puzzle.rows, puzzle.columns, puzzle.size) == (((2,), ()), ((1,), (1,)), (2, 2))


@pytest.mark.parametrize(
    ("cells", "why"), [([[2]], "holds 0"), ([1], "two dimensions"), ([[]], "at least one cell")]
)
def test_what_is_no_board_has_no_puzzle(cells, why):
    with pytest.raises(PuzzleError, match=why):
        Puzzle.from_cells(cells)


def test_puzzles_and_solutions_print_as_pictures():
    puzzle = Puzzle.from_cells([[1, 0], [1, 1]])
    assert str(puzzle).splitlines() == ["    2 1", "  ┌────┐", "1 │    │", "2 │    │", "  └────┘"]
    assert str(Solution([[1, 0], [1, 1]])).splitlines() == ["┌────┐", "│██  │", "│████│", "└────┘"]


@pytest.mark.parametrize("side", [1, 20, 200])
def test_puzzles_and_solutions_draw_themselves_in_notebooks(side):
    grid = random_grid(random.Random(1), side, side, 0.5)
    for one in (Puzzle.from_cells(grid), Solution(grid)):
        picture = ElementTree.fromstring(one._repr_svg_())
        assert picture.tag.endswith("svg")
        assert side <= int(picture.get("width")) <= 1500


def test_a_solution_is_an_array():
    grid = [[1, 0], [1, 1]]
    array = np.asarray(Solution(grid))
    assert array.tolist() == grid
    assert np.asarray(Solution(grid), dtype=float).dtype == float


# Reading


@pytest.mark.parametrize("path", sorted(PUZZLES.glob("p.*")), ids=lambda path: path.name)
def test_a_file_of_any_format_is_read_by_name_path_content_and_text(path):
    content = path.read_bytes()
    [record] = read(path)
    assert isinstance(record, Record)
    assert isinstance(record.puzzle, Puzzle)
    for same in (str(path), content, content.decode()):
        assert read(same)[0].puzzle == record.puzzle
    assert [record] == list(formats.read(content))


def test_a_text_of_one_line_is_a_puzzle_if_no_file_is_called_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "1:2-2:1"
    [record] = read(text)
    Path(text).write_text("width 1\nheight 1\nrows\n1\ncolumns\n1\n")
    assert record.puzzle.size == (2, 2)
    assert read(text)[0].puzzle.size == (1, 1)


def test_a_record_takes_arrays_and_prints_with_its_title_and_start():
    written = Record(Puzzle.from_cells([[1, 0]]), np.array([[1, -1]]), [[1, 0]], title="A dot", author="Somebody")
    [record] = read(formats.write([written], "grid").data)
    assert record == written
    assert np.asarray(record.start).tolist() == [[1, -1]]
    assert record.solution == Solution([[1, 0]])
    assert str(record).splitlines()[0] == "A dot by Somebody"
    assert "██" in str(record)
    assert record._repr_svg_().startswith("<svg")


@pytest.mark.parametrize("boards", [{"start": [[1]]}, {"solution": [[1]]}, {"solution": [[1, -1]]}])
def test_a_record_refuses_boards_of_another_size_or_kind(boards):
    with pytest.raises(PuzzleError):
        Record(Puzzle.from_cells([[1, 0]]), **boards)


def test_puzzles_boards_and_records_are_copied_and_pickled():
    puzzle = Puzzle.from_cells([[1, 0]])
    for one in (
        puzzle,
        Solution([[1, 0]]),
        Record(puzzle, start=[[1, -1]], title="A dot"),
        check(puzzle, [[0, 1]]),
    ):
        for same in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
            assert same == one
            assert str(same) == str(one)


def test_what_cannot_be_read_is_raised_or_collected(tmp_path):
    text = "$1\n1\n1\n$2\n2\n1\n$3\n1\n1\n"
    with pytest.raises(PuzzleError, match=r"^\$2: line 5: the clue of column 1 needs 2 cells, the column has 1$"):
        read(text, size=(1, 1))
    faults: list[str] = []
    assert [one.number for one in read(text, size=(1, 1), faults=faults)] == [1, 3]
    (tmp_path / "three.txt").write_text(text)
    read(tmp_path / "three.txt", size=(1, 1), faults=faults)
    fault = "$2: line 5: the clue of column 1 needs 2 cells, the column has 1"
    assert faults == [fault, f"{tmp_path}/three.txt: {fault}"]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("no-such-file.non", "'no-such-file.non' is no file here, and no puzzle: "),
        ("# A title\n\nwords\n", "the content is of no known format"),
        (b"", "an empty file"),
        (b"\0", "binary data"),
    ],
)
def test_what_is_no_puzzle_file_is_said(source, why):
    with pytest.raises(PuzzleError) as caught:
        read(source)
    assert str(caught.value).startswith(why)


def test_a_path_that_is_not_there_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none")


def test_a_fault_in_a_file_names_it(tmp_path):
    path = tmp_path / "x.non"
    path.write_text("width 1\nheight 1\nrows\n2\ncolumns\n1\n")
    with pytest.raises(PuzzleError, match=rf"^{path}: \$1: line 4: the clue of row 1 needs 2 cells"):
        read(path)


# Checking


def test_a_wrong_board_says_where():
    found = check(Puzzle(rows=[[2], []], columns=[[1], [1]]), [[1, 0], [0, 0]])
    assert not found
    assert str(found) == "row 1: expected 2, found 1\ncolumn 2: expected 1, found no black cell"
    assert str(check(Puzzle(rows=[[1]], columns=[[1]]), Solution([[1]]))) == "right"


@pytest.mark.parametrize("grid", [[[1, 1]], [[-1]], [1]])
def test_what_is_no_painted_board_of_that_size_cannot_be_checked(grid):
    with pytest.raises(PuzzleError):
        check(Puzzle(rows=[[1]], columns=[[1]]), grid)
