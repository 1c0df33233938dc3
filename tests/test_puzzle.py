"""Puzzles and solutions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonobot.protocol import BLACK, PartialGrid, Puzzle, Solution, clue_of
from tests import naive
from tests.boards import grids


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


def test_a_puzzle_from_a_grid_has_columns_top_to_bottom_and_rows_left_to_right():
    puzzle = Puzzle.from_grid([[1, 1, 0, 1], [0, 1, 0, 0], [1, 1, 0, 0]])
    assert puzzle.columns == ((1, 1), (3,), (), (1,))
    assert puzzle.rows == ((2, 1), (1,), (2,))
    assert (puzzle.width, puzzle.height) == (4, 3)


@given(grids())
def test_a_puzzle_from_a_grid_has_that_solution(grid):
    assert naive.verify(Puzzle.from_grid(grid), grid)
    assert Puzzle.from_grid(grid) == Puzzle.from_grid(np.array(grid, dtype=np.uint8))
    assert Puzzle.from_grid(grid) == Puzzle.from_grid(Solution(grid).cells)


def test_a_grid_with_rows_of_different_length_is_no_puzzle():
    with pytest.raises(ValueError, match=r"shorter|longer"):
        Puzzle.from_grid([[1, 0], [1]])


def test_puzzles_are_equal_by_their_clues_and_can_be_keys():
    one, other = Puzzle.from_grid([[1, 0]]), Puzzle.unchecked(((1,), ()), ((1,),))
    assert one == other
    assert {one: "found"}[other] == "found"
    assert one != Puzzle.from_grid([[0, 1]])


def test_a_puzzle_cannot_be_changed():
    with pytest.raises(AttributeError):
        Puzzle.from_grid([[1]]).rows = ()


def test_solutions_are_equal_by_their_cells_and_shape_and_can_be_keys():
    one, other = Solution([[1, 0], [0, 1]]), Solution([[True, False], [False, True]])
    assert one == other
    assert hash(one) == hash(other)
    assert len({one, other}) == 1
    assert one != Solution([[1, 0, 0, 1]])
    assert one != Solution([[1, 0], [0, 0]])
    assert one != [[1, 0], [0, 1]]
    assert one != PartialGrid([[1, 0], [0, 1]])
    assert PartialGrid([[1, -1]]) == PartialGrid(np.array([[1, -1]], np.int8)) != PartialGrid([[1, 0]])


@pytest.mark.parametrize(
    "cells", [[1, 0], [[[1]]], 1, [[2]], [[-1]], [[0.5]], [[1, None]], [["1"]], [[1, 0], [1]], [[float("nan")]]]
)
def test_what_is_no_fully_painted_board_is_no_solution(cells):
    with pytest.raises(ValueError, match=r"\S"):
        Solution(cells)


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
    assert [[cell - 256 * (cell > 1) for cell in column] for column in board.columns] == [
        *map(list, zip(*cells, strict=True))
    ]


@pytest.mark.parametrize(
    ("kind", "content", "size", "why"),
    [
        (Solution, b"\0\1", (3, 1), "2 cells for a board of 3x1"),
        (Solution, b"\0\377", (2, 1), r"a solution holds 0 \(white\) and 1 \(black\) only"),
        (PartialGrid, b"01", (2, 1), r"holds -1 \(unknown\), 0 \(white\) and 1 \(black\) only"),
    ],
)
def test_bytes_that_are_no_board(kind, content, size, why):
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


@pytest.mark.parametrize("cells", [[1, -1], [[2]], [[-2]], [[None]], [["."]], 1])
def test_what_is_neither_black_white_nor_unknown_is_no_board(cells):
    with pytest.raises(ValueError, match="a partly painted board"):
        PartialGrid(cells)
