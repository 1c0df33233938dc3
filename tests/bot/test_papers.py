"""The strategy of the papers: deduction against the slow twins, searching against enumeration."""

import random
from collections import Counter
from functools import partial
from itertools import product

import numpy as np
import pytest

from nonobot.bot.papers import PapersStrategy, deduce
from nonobot.protocol import Puzzle
from nonobot.protocol.puzzle import fault_in_clues
from tests import naive
from tests.helpers.boards import array_of, random_grid
from tests.helpers.enumerated import check_search, check_solved, mixed_board
from tests.helpers.enumerated import solve_as_the_papers as solve

pytestmark = pytest.mark.usefixtures("compiled")

LEVELS = (0, 1, 2, 3)
PROBINGS = ("fp1", "fp2", "fp3")


def board(text: str) -> Puzzle:
    return Puzzle.from_grid([[int(cell) for cell in row] for row in text.split("/")])


def slow_deduce(puzzle: Puzzle, level: int) -> np.ndarray | None:
    if fault_in_clues(puzzle):  # rows and columns that count differently are a conflict before any painting
        return None
    grid = naive.unknown_grid(puzzle)
    return array_of(naive.fully_probe(puzzle, grid, level) if level else naive.propagate(puzzle, grid))


def same(first: np.ndarray | None, second: np.ndarray | None) -> bool:
    return first is second is None or (first is not None and second is not None and np.array_equal(first, second))


@pytest.mark.parametrize("level", LEVELS)
def test_deduce_agrees_with_the_slow_reference_on_random_small_boards(level):
    kinds = Counter()
    rng = random.Random(level)
    for _ in range(240):
        puzzle = mixed_board(rng, rng.randint(1, 6), rng.randint(1, 6))
        right = slow_deduce(puzzle, level)
        assert same(deduce(puzzle, level), right), puzzle
        if right is None:
            kinds["conflict" if fault_in_clues(puzzle) is None else "fault in the clues"] += 1
        else:
            kinds["open" if (right < 0).any() else "solved"] += 1
    # The sample is no use if one kind is missing.
    assert all(kinds[kind] >= 5 for kind in ("conflict", "open", "solved")), kinds


@pytest.mark.parametrize("level", LEVELS)
def test_deduce_agrees_with_the_slow_reference_on_all_fitting_3x3_clues(level):
    rng = random.Random(level)
    clues = naive.all_clues(3)
    every = list(product(clues, repeat=6))
    for lines in rng.sample(every, 700):
        puzzle = Puzzle.unchecked(columns=lines[:3], rows=lines[3:])
        assert same(deduce(puzzle, level), slow_deduce(puzzle, level)), puzzle


FP3_ONLY = "0010001/0000001/1000000/0101001/0100000/0010010/0011000/0000011"


@pytest.mark.parametrize(("level", "cells"), [(0, 8), (1, 15), (2, 15), (3, 16)])
def test_a_board_on_which_fp3_paints_more_than_fp2(level, cells):
    puzzle = board(FP3_ONLY)
    painted = deduce(puzzle, level)
    assert same(painted, slow_deduce(puzzle, level))
    assert (painted >= 0).sum() == cells


@pytest.mark.parametrize("probing", PROBINGS)
def test_a_branch_with_a_conflict_is_undone_and_the_other_branch_solved(probing):
    rng = random.Random(31)
    taken_back = 0
    for _ in range(250):
        puzzle = Puzzle.from_grid(random_grid(rng, 13, 13, rng.uniform(0.35, 0.45)))
        result = solve(puzzle, probing=probing)
        check_solved(puzzle, result)
        taken_back += result.counts["backtracks"] > 0
    assert taken_back >= 10


# On these boards the search for all solutions runs into a conflict, too; rare on boards small enough to enumerate.
CONFLICTS_BETWEEN_SOLUTIONS = (
    "0010001/0110001/0001100/0010010/0011010/0100010/0001000/1001001/1000100/0101001/0100001",
    "1101000001/0100111011/0100011110/0101001000/1011100100/0000101110/0001100011/0100110000/1010000010/"
    "0001010000/1000011100",
)


@pytest.mark.parametrize("probing", PROBINGS)
@pytest.mark.parametrize("text", CONFLICTS_BETWEEN_SOLUTIONS)
def test_all_solutions_are_found_also_behind_a_conflict(text, probing):
    puzzle = board(text)
    check_search(partial(solve, probing=probing), puzzle, naive.solutions(puzzle))
    if probing == "fp1":
        result = solve(puzzle, probing=probing, solutions=100)
        # Each solution is left once: one more is a conflict.
        assert result.counts["backtracks"] > len(result.solutions)


@pytest.mark.parametrize(("width", "height"), [(63, 5), (5, 63), (100, 100), (80, 95)])
def test_a_board_wider_or_higher_than_62_is_refused(width, height):
    puzzle = Puzzle.from_grid(np.zeros((height, width), np.uint8))
    prepare = PapersStrategy().prepare
    for refuse in (solve, lambda board: deduce(board, 1), lambda _: prepare(lambda part: None, (width, height))):
        with pytest.raises(
            ValueError, match=f"^the strategy papers .* up to 62 cells a side; this is {width}x{height}$"
        ):
            refuse(puzzle)


def test_boards_of_other_sizes_in_between_change_no_solution():
    rng = random.Random(60)
    strategy = PapersStrategy()
    for size in [(9, 7), (62, 5), (7, 9), (9, 7), (9, 7), (63, 5), (5, 62), (9, 7)]:
        puzzle = Puzzle.from_grid(random_grid(rng, *size, 0.5))
        if max(size) > 62:
            with pytest.raises(ValueError, match="this is 63x5"):
                strategy.solve(puzzle)
        else:
            found, alone = strategy.solve(puzzle, solutions=2), solve(puzzle, probing="fp1", solutions=2)
            assert found.solutions == alone.solutions


@pytest.mark.parametrize("level", LEVELS)
def test_both_line_solvers_deduce_the_same_on_larger_boards(level):
    rng = random.Random(10 + level)
    for _ in range(6):
        grid = random_grid(rng, rng.randint(8, 20), rng.randint(8, 20), rng.uniform(0.3, 0.6))
        puzzle = Puzzle.from_grid(grid)
        assert same(deduce(puzzle, level, "bitset"), deduce(puzzle, level, "recurrence")), puzzle


def test_deduce_returns_int8_of_height_and_width():
    painted = deduce(Puzzle.from_grid([[1, 0, 1], [0, 0, 0]]), 0)
    assert painted.dtype == np.int8
    assert painted.tolist() == [[1, 0, 1], [0, 0, 0]]


def test_clues_that_cannot_fit_or_count_differently_are_unsolvable():
    for puzzle in (
        Puzzle.unchecked(columns=((1,), (1,)), rows=((1,), ())),
        Puzzle.unchecked(columns=((3,), ()), rows=((1,), (2,))),
        Puzzle.unchecked(columns=((1, 1), ()), rows=((1,), (1,))),
    ):
        result = solve(puzzle)
        assert (result.status, result.solutions, result.exhausted) == ("unsolvable", (), True)
        assert deduce(puzzle, 2) is None
