"""Verification, against a verification written again from the rules; faults of clues before any solving.

At the end what no comparison would find wrong in the slow references; test_lines, test_papers, test_strategies,
test_beliefs and test_opponents find one that finds too little of what it is compared with.
"""

import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonobot.protocol import Mismatch, Puzzle, Solution, clue_of, mismatches
from nonobot.protocol.clues import FaultKind, needed_length
from nonobot.protocol.puzzle import fault_in_clues
from tests import naive
from tests.helpers.boards import all_grids, grids, random_clues, random_grid


def test_wrong_rows_and_columns_are_named_rows_first():
    puzzle = Puzzle.from_grid([[1, 1, 0], [0, 0, 1]])
    found = mismatches(puzzle, Solution([[1, 0, 1], [0, 0, 0]]))
    assert found[0] == Mismatch("row", 1, (2,), (1, 1))
    assert found[1:] == [Mismatch("row", 2, (1,), ()), Mismatch("column", 2, (1,), ())]
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
def test_verdicts_match_the_slow_reference_on_every_board_of_a_size(width, height):
    rng = random.Random(f"{width}x{height}")
    for _ in range(15):
        for puzzle in (random_clues(rng, width, height), Puzzle.from_grid(random_grid(rng, width, height))):
            for grid in all_grids(width, height):
                assert (mismatches(puzzle, Solution(grid)) == []) == naive.verify(puzzle, grid)


@given(grids(12, 12), st.data())
def test_a_right_board_has_no_mismatch_and_each_changed_cell_is_reported(grid, data):
    puzzle = Puzzle.from_grid(grid)
    assert mismatches(puzzle, Solution(grid)) == []
    y = data.draw(st.integers(0, len(grid) - 1))
    x = data.draw(st.integers(0, len(grid[0]) - 1))
    changed = naive.painted(grid, (y, x), 1 - grid[y][x])
    assert not naive.verify(puzzle, changed)
    wrong = {(mismatch.kind, mismatch.number) for mismatch in mismatches(puzzle, Solution(changed))}
    assert wrong == {("row", y + 1), ("column", x + 1)}


# Clues: how many cells they need, and which faults they show before any solving


@pytest.mark.parametrize("length", range(1, 9))
def test_a_clue_fits_exactly_the_lines_on_which_it_has_a_placement(length):
    for clue in naive.all_clues(length + 2):
        assert (needed_length(clue) <= length) == bool(naive.placements(clue, length))


@pytest.mark.parametrize(
    ("columns", "rows", "message", "index"),
    [
        (((1,), (3,)), ((1,), (1,)), "the clue of column 2 needs 3 cells, the column has 2", 1),
        (((1,), (1,)), ((1,), (1, 1)), "the clue of row 2 needs 3 cells, the row has 2", 3),
        (((1,), (2,)), ((1,), (4,)), "the clue of row 2 needs 4 cells, the row has 2", 3),
        (((5,), (5,)), ((5,), (5,)), "the clue of column 1 needs 5 cells, the column has 2", 0),
        (((1,), (2,)), ((1,), (1,)), "the columns count 3 black cells, the rows 2; both must be the same", None),
        (((), ()), ((), (1,)), "the columns count 0 black cells, the rows 1; both must be the same", None),
    ],
)
def test_the_first_error_in_the_clues_is_reported(columns, rows, message, index):
    fault, found = fault_in_clues(Puzzle.unchecked(columns, rows))
    assert fault.kind is (FaultKind.BLACK_CELL_MISMATCH if index is None else FaultKind.CLUE_TOO_LONG)
    assert (fault.message, found) == (message, index)


def test_valid_clues_are_checked_only_once():
    puzzle = Puzzle.from_grid([[1, 0, 1], [1, 1, 1]])
    assert not puzzle.is_checked
    assert fault_in_clues(puzzle) is None
    assert puzzle.is_checked
    assert puzzle == Puzzle.from_grid([[1, 0, 1], [1, 1, 1]])
    wrong = Puzzle.unchecked(columns=((2,),), rows=((2,),))
    assert fault_in_clues(wrong) is not None
    assert not wrong.is_checked


@pytest.mark.parametrize("length", range(1, 11))
def test_the_placements_of_all_clues_are_all_lines_exactly_once(length):
    lines = []
    for clue in naive.all_clues(length):
        placements = naive.placements(clue, length)
        assert all(clue_of(line) == clue for line in placements)
        assert naive.placement_count(clue, length) == len(placements)
        lines += placements
    assert len(lines) == 2**length
    assert set(lines) == set(product((0, 1), repeat=length))


@pytest.mark.parametrize("rest", [[], [[0, 0], [0, 0]], [[0]], [[0, 0, 0]], [[None, 0]], [[0, 2]]])
def test_verify_refuses_wrong_sizes_unknown_cells_and_other_numbers(rest):
    assert not naive.verify(Puzzle.from_grid([[1, 0], [0, 0]]), [[1, 0], *rest])
