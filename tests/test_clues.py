"""Clue lines: how many cells they need, and which faults they show before any solving."""

from __future__ import annotations

import pytest

from nonobot.protocol import Puzzle
from nonobot.protocol.clues import FaultKind, fault_in_clues, needed_length
from tests import naive


@pytest.mark.parametrize(
    ("clue", "cells"), [((), 0), ((1,), 1), ((5,), 5), ((1, 1), 3), ((3, 3, 4), 12), ((1,) * 13, 25)]
)
def test_a_clue_needs_its_blocks_and_a_cell_between_neighbours(clue, cells):
    assert needed_length(clue) == cells


@pytest.mark.parametrize("length", range(1, 9))
def test_a_clue_fits_exactly_the_lines_on_which_it_has_a_placement(length):
    for clue in naive.all_clues(length + 2):
        assert (needed_length(clue) <= length) == bool(naive.placements(clue, length))


@pytest.mark.parametrize(
    ("columns", "rows", "what", "index"),
    [
        (((1,), (3,)), ((1,), (1,)), "the clue of column 2 needs 3 cells, the column has 2", 1),
        (((1,), (1,)), ((1,), (1, 1)), "the clue of row 2 needs 3 cells, the row has 2", 3),
        (((1,), (2,)), ((1,), (4,)), "the clue of row 2 needs 4 cells, the row has 2", 3),
        (((5,), (5,)), ((5,), (5,)), "the clue of column 1 needs 5 cells, the column has 2", 0),
        (((1,), (2,)), ((1,), (1,)), "the columns count 3 black cells, the rows 2; both must be the same", None),
        (((), ()), ((), (1,)), "the columns count 0 black cells, the rows 1; both must be the same", None),
    ],
)
def test_the_first_fault_of_the_clues_is_named(columns, rows, what, index):
    fault, at = fault_in_clues(Puzzle.unchecked(columns, rows))
    assert fault.kind is (FaultKind.BLACK_CELL_MISMATCH if index is None else FaultKind.CLUE_TOO_LONG)
    assert (fault.what, at) == (what, index)


def test_a_column_is_as_long_as_the_board_is_high():
    flat = Puzzle.unchecked(columns=((1,), (), ()), rows=((1,),))
    assert fault_in_clues(flat) is None
    assert fault_in_clues(Puzzle.unchecked(columns=((2,), (), ()), rows=((2,),))) is not None
    assert fault_in_clues(Puzzle.unchecked(columns=((1,), (1,), (1,)), rows=((3,),))) is None


def test_clues_found_right_are_not_looked_at_again():
    puzzle = Puzzle.from_grid([[1, 0, 1], [1, 1, 1]])
    assert not puzzle.is_checked
    assert fault_in_clues(puzzle) is None
    assert puzzle.is_checked
    assert puzzle == Puzzle.from_grid([[1, 0, 1], [1, 1, 1]])
    wrong = Puzzle.unchecked(columns=((2,),), rows=((2,),))
    assert fault_in_clues(wrong) is not None
    assert not wrong.is_checked
