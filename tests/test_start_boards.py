"""Solving from a partly painted board, with every strategy, against enumeration."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nonobot.bot.champion import ChampionStrategy
from nonobot.bot.papers import PapersStrategy
from nonobot.bot.result import grid_of, line_masks
from nonobot.protocol import BLACK, UNKNOWN, WHITE, PartialGrid, Puzzle
from tests import naive
from tests.boards import grids, random_grid

pytestmark = pytest.mark.usefixtures("compiled")

STRATEGIES = {
    "champion": ChampionStrategy(),
    "learning alone": ChampionStrategy(without=("descents",)),
    "papers": PapersStrategy(),
}
PUZZLE = Puzzle.from_grid([[1, 0], [0, 1]])


@st.composite
def starts(draw: st.DrawFn) -> tuple[Puzzle, np.ndarray]:
    """A puzzle and a board, most of whose known cells are those of one solution."""
    grid = np.array(draw(grids(6, 6)), np.int8)
    rng = random.Random(draw(st.integers(0, 2**32)))
    known = rng.choice((0.1, 0.3, 0.9))
    wrong = rng.choice((0.0, 0.0, 0.1))
    start = grid.copy()
    for cell in np.ndindex(grid.shape):
        if rng.random() > known:
            start[cell] = UNKNOWN
        elif rng.random() < wrong:
            start[cell] = 1 - start[cell]
    return Puzzle.from_grid(grid), start


def agreeing(puzzle: Puzzle, start: np.ndarray) -> list[naive.Grid]:
    return [
        grid
        for grid in naive.solutions(puzzle)
        if all(start[cell] in (UNKNOWN, grid[cell[0]][cell[1]]) for cell in np.ndindex(start.shape))
    ]


@pytest.mark.parametrize("name", STRATEGIES)
@settings(max_examples=150, deadline=None)
@given(board=starts())
def test_only_solutions_that_agree_are_found_and_all_of_them(name, board):
    puzzle, start = board
    right = agreeing(puzzle, start)
    for most in (1, 1000):
        result = STRATEGIES[name].solve(puzzle, start=PartialGrid(start), solutions=most)
        found = [solution.cells.tolist() for solution in result.solutions]
        assert result.status == ("solved" if right else "unsolvable")
        assert all(grid in right for grid in found)
        assert len(found) == min(most, len(right))


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_start_is_forgotten_with_its_puzzle(name):
    strategy = STRATEGIES[name]
    corner = PartialGrid([[BLACK, UNKNOWN], [UNKNOWN, UNKNOWN]])
    assert len(strategy.solve(PUZZLE, start=corner, solutions=9).solutions) == 1
    assert len(strategy.solve(PUZZLE, solutions=9).solutions) == 2
    contradiction = PartialGrid([[BLACK, BLACK], [UNKNOWN, UNKNOWN]])
    assert strategy.solve(PUZZLE, start=contradiction).status == "unsolvable"
    assert strategy.solve(PUZZLE).status == "solved"


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_largest_board_that_is_all_known(name):
    grid = np.array(random_grid(random.Random(5), 62, 62), np.int8)
    result = STRATEGIES[name].solve(Puzzle.from_grid(grid), start=PartialGrid(grid))
    assert np.array_equal(result.solutions[0].cells, grid)


@given(board=starts())
def test_masks_of_lines(board):
    _, start = board
    lines = [*start.tolist(), *start.T.tolist()]
    found = line_masks(PartialGrid(start))
    for colour, masks in zip((BLACK, WHITE), found, strict=True):
        expected = [sum(1 << i for i, cell in enumerate(line) if cell == colour) for line in lines]
        assert masks == expected
    height, width = start.shape
    assert grid_of(found[0][:height], found[1][:height], width) == PartialGrid(start)
