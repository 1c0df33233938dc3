"""What a fault says, and which faults clues show before any solving."""

from __future__ import annotations

import pytest

from nonobot.protocol import Fault, Puzzle
from nonobot.protocol.faults import BlackCellMismatch, ClueTooLong, fault_in_clues, needed_length, shown
from tests import naive


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (Fault("what", 7, 345), "$7: line 345: what"),
        (Fault("what", 7), "$7: what"),
        (Fault("what", None, 345), "line 345: what"),
        (Fault("what"), "what"),
        (Fault("what", 0, 1), "$0: line 1: what"),
        (Fault("what", 7, 345, more=2), "$7: line 345: what (and 2 more in this puzzle)"),
    ],
)
def test_a_fault_says_puzzle_line_and_what(fault, text):
    assert str(fault) == text


def test_a_fault_keeps_its_kind_and_words_when_it_gets_its_place():
    fault = ClueTooLong("too long").at(3, 4)
    assert type(fault) is ClueTooLong
    assert str(fault) == "$3: line 4: too long"


def test_shown_text_is_quoted_escaped_and_cut():
    assert shown("2x") == "'2x'"
    assert shown("a\tb\x1b\0") == r"'a\tb\x1b\x00'"
    assert shown("x" * 40) == "'" + "x" * 40 + "'"
    assert shown("x" * 41) == "'" + "x" * 40 + "...'"
    assert shown("x" * 41, limit=3) == "'xxx...'"


@pytest.mark.parametrize(
    ("clue", "cells"), [((), 0), ((1,), 1), ((5,), 5), ((1, 1), 3), ((3, 3, 4), 12), ((1,) * 13, 25)]
)
def test_a_clue_needs_its_blocks_and_a_cell_between_neighbours(clue, cells):
    assert needed_length(clue) == cells


@pytest.mark.parametrize("length", range(1, 9))
def test_a_clue_fits_exactly_the_lines_on_which_it_has_a_placement(length):
    for clue in naive.all_clues(length + 2):
        assert (needed_length(clue) <= length) == bool(naive.placements(clue, length))


def test_clues_of_a_board_show_no_fault():
    assert fault_in_clues(Puzzle.from_grid([[1, 0, 1], [1, 1, 1]])) is None
    assert fault_in_clues(Puzzle(((),), ((),))) is None


@pytest.mark.parametrize(
    ("columns", "rows", "kind", "what", "index"),
    [
        (
            ((1,), (3,)),
            ((1,), (1,)),
            ClueTooLong,
            "the clue of column 2 needs 3 cells, the column has 2",
            1,
        ),
        (((1,), (1,)), ((1,), (1, 1)), ClueTooLong, "the clue of row 2 needs 3 cells, the row has 2", 3),
        (((1,), (2,)), ((1,), (4,)), ClueTooLong, "the clue of row 2 needs 4 cells, the row has 2", 3),
        (((5,), (5,)), ((5,), (5,)), ClueTooLong, "the clue of column 1 needs 5 cells, the column has 2", 0),
        (
            ((1,), (2,)),
            ((1,), (1,)),
            BlackCellMismatch,
            "the columns count 3 black cells, the rows 2; both must be the same",
            None,
        ),
        (
            ((), ()),
            ((), (1,)),
            BlackCellMismatch,
            "the columns count 0 black cells, the rows 1; both must be the same",
            None,
        ),
    ],
)
def test_the_first_fault_of_the_clues_is_named(columns, rows, kind, what, index):
    fault, at = fault_in_clues(Puzzle(columns, rows))
    assert type(fault) is kind
    assert fault.what == what
    assert at == index


def test_a_column_is_as_long_as_the_board_is_high():
    flat = Puzzle(columns=((1,), (), ()), rows=((1,),))
    assert fault_in_clues(flat) is None
    assert fault_in_clues(Puzzle(columns=((2,), (), ()), rows=((2,),))) is not None
    assert fault_in_clues(Puzzle(columns=((1,), (1,), (1,)), rows=((3,),))) is None
