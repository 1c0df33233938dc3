"""Verification, against a verification written again from the rules."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonobot.protocol import Mismatch, Puzzle, Solution, mismatches
from tests import naive
from tests.boards import all_grids, grids, random_clues, random_grid


def test_wrong_rows_and_columns_are_named_rows_first():
    puzzle = Puzzle.from_grid([[1, 1, 0], [0, 0, 1]])
    found = mismatches(puzzle, Solution([[1, 0, 1], [0, 0, 0]]))
    assert found == [
        Mismatch("row", 1, (2,), (1, 1)),
        Mismatch("row", 2, (1,), ()),
        Mismatch("column", 2, (1,), ()),
    ]
    assert [str(mismatch) for mismatch in found] == [
        "row 1: expected 2, found 1 1",
        "row 2: expected 1, found no black cell",
        "column 2: expected 1, found no black cell",
    ]


@pytest.mark.parametrize("cells", [[[1]], [[1, 0, 0], [0, 0, 0]], [[1, 0]], [[1, 0], [0, 0], [0, 0]]])
def test_an_answer_of_another_size_is_refused(cells):
    with pytest.raises(ValueError, match=r"a \dx\d answer to a 2x2 puzzle"):
        mismatches(Puzzle.from_grid([[1, 0], [0, 0]]), Solution(cells))


@pytest.mark.parametrize(("width", "height"), [(1, 1), (2, 2), (3, 2), (2, 4), (3, 3)])
def test_every_board_of_a_size_against_random_clues_and_those_of_a_board(width, height):
    rng = random.Random(f"{width}x{height}")
    for _ in range(15):
        for puzzle in (
            random_clues(rng, width, height),
            Puzzle.from_grid(random_grid(rng, width, height)),
        ):
            for grid in all_grids(width, height):
                assert (mismatches(puzzle, Solution(grid)) == []) == naive.verify(puzzle, grid)


@given(grids(12, 12), st.data())
def test_a_board_is_right_and_each_change_of_a_cell_is_told_where_it_is_wrong(grid, data):
    puzzle = Puzzle.from_grid(grid)
    assert mismatches(puzzle, Solution(grid)) == []
    y = data.draw(st.integers(0, len(grid) - 1))
    x = data.draw(st.integers(0, len(grid[0]) - 1))
    changed = naive.painted(grid, (y, x), 1 - grid[y][x])
    assert not naive.verify(puzzle, changed)
    wrong = {(mismatch.kind, mismatch.number) for mismatch in mismatches(puzzle, Solution(changed))}
    assert wrong == {("row", y + 1), ("column", x + 1)}
