"""The puzzles of the self-test are what their names say."""

from __future__ import annotations

from itertools import product

import pytest

from nonobot.harness.check import check_puzzles
from nonobot.protocol import Solution, mismatches, read_batch
from tests.check_bots import placements, solve, solve_from_below

SIZES = [(4, 4), (5, 6), (6, 5)]


def solution_count(puzzle):
    """Count the boards with the clues: every choice of rows, looked at column by column."""
    ways = [placements(clue, puzzle.width) for clue in puzzle.rows]
    return sum(not mismatches(puzzle, Solution(rows)) for rows in product(*ways))


@pytest.mark.parametrize("size", SIZES)
def test_easy_boards_have_one_solution_and_no_empty_line(size):
    for puzzle in check_puzzles.easy(size, 20):
        assert (puzzle.width, puzzle.height) == size
        assert all((*puzzle.columns, *puzzle.rows))
        assert solution_count(puzzle) == 1


@pytest.mark.parametrize("size", SIZES)
def test_only_the_lines_at_the_edge_are_empty(size):
    by_columns, by_rows = check_puzzles.with_empty_edge_columns(size), check_puzzles.with_empty_edge_rows(size)
    assert [not clue for clue in by_columns.columns] == [True, *[False] * (size[0] - 2), True]
    assert [not clue for clue in by_rows.rows] == [True, *[False] * (size[1] - 2), True]
    assert all((*by_columns.rows, *by_rows.columns))
    assert solution_count(by_columns) == solution_count(by_rows) == 1


@pytest.mark.parametrize("size", SIZES)
def test_the_ambiguous_board_has_several_solutions_and_no_empty_line(size):
    puzzle = check_puzzles.ambiguous(size)
    assert all((*puzzle.columns, *puzzle.rows))
    assert solution_count(puzzle) > 1
    assert solve(puzzle.columns, puzzle.rows) != solve_from_below(puzzle.columns, puzzle.rows)


@pytest.mark.parametrize("size", SIZES)
def test_the_unsolvable_board_is_only_that(size):
    puzzle = check_puzzles.unsolvable(size)
    assert solution_count(puzzle) == 0
    [entry] = read_batch(check_puzzles.text_of([(1, puzzle)]).splitlines(), size)
    assert entry.puzzle == puzzle, "clues that fit their lines, and the same black cells both ways"


def test_the_boards_of_a_tournament_differ():
    size = (25, 25)
    easy = check_puzzles.easy(size, 201)
    assert len(set(easy)) == 201
    assert all(all((*puzzle.columns, *puzzle.rows)) for puzzle in easy)
    assert len(check_puzzles.hard(size)) == 1000
