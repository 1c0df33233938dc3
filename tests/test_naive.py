"""The slow twins against themselves: what they enumerate, counted and filtered another way."""

from __future__ import annotations

import random
from itertools import pairwise, product
from math import prod

import pytest

from nonobot.protocol import Puzzle, clue_of
from tests import naive
from tests.boards import all_grids, all_states, broken, masks_of, painted_states, random_clues, random_grid

# Lines


@pytest.mark.parametrize("length", range(1, 11))
def test_the_placements_of_all_clues_are_all_the_painted_lines_once_each(length):
    lines = []
    for clue in naive.all_clues(length):
        placements = naive.placements(clue, length)
        assert all(clue_of(line) == clue for line in placements)
        assert naive.placement_count(clue, length) == len(placements)
        lines += placements
    assert len(lines) == 2**length
    assert set(lines) == set(product((0, 1), repeat=length))


@pytest.mark.parametrize("clue", [(5,), (1, 1, 1), (4, 1)])
def test_a_clue_that_does_not_fit_has_no_placement_and_is_a_conflict(clue):
    assert naive.placement_count(clue, 4) == len(naive.placements(clue, 4)) == 0
    assert naive.paint_line(clue, (None,) * 4) is None


@pytest.mark.parametrize("length", range(1, 8))
def test_paint_line_is_what_the_filtered_list_of_all_painted_lines_has_in_common(length):
    rng = random.Random(length)
    every = list(product((0, 1), repeat=length))
    states = list(product((None, 0, 1), repeat=length))
    black, white = all_states(length)
    for clue in naive.all_clues(length):
        with_clue = [line for line in every if clue_of(line) == clue]
        many_black, many_white, conflict = painted_states(clue, length, black, white)
        for at in range(len(states)) if length <= 5 else rng.sample(range(len(states)), 200):
            cells = states[at]
            left = [line for line in with_clue if all(c in (None, p) for c, p in zip(cells, line, strict=True))]
            common = tuple(colours[0] if len(set(colours)) == 1 else None for colours in zip(*left, strict=True))
            painted = naive.paint_line(clue, cells)
            assert painted == (common if left else None)
            assert conflict[at] == (painted is None)
            if painted is not None:
                assert (many_black[at], many_white[at]) == masks_of(painted)


@pytest.mark.parametrize("length", range(1, 10))
def test_the_sums_over_a_line_are_those_over_its_placements(length):
    rng = random.Random(length)
    for clue in naive.all_clues(length):
        for _ in range(3):
            cells = tuple(rng.choice((None, None, None, 0, 1)) for _ in range(length))
            odds = [rng.randint(1, 5) for _ in cells]
            weighed = []
            for line in naive.placements(clue, length):
                if naive.agrees(line, cells):
                    unknown_black = [odds[i] for i in range(length) if line[i] and cells[i] is None]
                    weighed.append((line, prod(unknown_black)))
            total, by_cell, by_start = naive.line_sums(clue, cells, odds)
            assert total == sum(weight for _, weight in weighed)
            assert by_cell == [sum(weight for line, weight in weighed if line[i]) for i in range(length)]
            starts = [(naive.block_starts(line), weight) for line, weight in weighed]
            for block in range(len(clue)):
                right = [sum(weight for each, weight in starts if each[block] == i) for i in range(length)]
                assert by_start[block] == right
            painted = naive.paint_line(clue, cells)
            valid = naive.valid_starts(clue, cells)
            assert naive.paint_long_line(clue, cells) == (None if painted is None else (painted, valid))


# Boards


def test_propagate_goes_on_where_one_pass_over_rows_and_columns_is_not_enough():
    grid = [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 1], [1, 1, 0, 0]]  # needs three passes
    puzzle = Puzzle.from_grid(grid)
    unknown = naive.unknown_grid(puzzle)
    assert naive.propagate(puzzle, unknown) == grid
    assert unknown == [[None] * 4] * 4


def known(grid):
    return {((y, x), cell) for y, row in enumerate(grid) for x, cell in enumerate(row) if cell is not None}


def test_each_level_of_probing_keeps_what_the_level_below_paints_and_loses_no_solution():
    rng = random.Random(3)
    for _ in range(150):
        puzzle = Puzzle.from_grid(random_grid(rng, rng.randint(2, 5), rng.randint(2, 5)))
        if rng.random() < 0.3:
            puzzle = broken(rng, puzzle)
        levels = [naive.propagate(puzzle, naive.unknown_grid(puzzle))]
        levels += [naive.fully_probe(puzzle, naive.unknown_grid(puzzle), level) for level in (1, 2, 3)]
        solved = naive.solutions(puzzle)
        for weak, strong in pairwise(levels):
            assert strong is None or (weak is not None and known(weak) <= known(strong))
        for grid in levels:
            assert grid is not None or not solved
            assert grid is None or all(known(grid) <= known(solution) for solution in solved)
            assert grid is None or naive.propagate(puzzle, grid) == grid


@pytest.mark.parametrize(("width", "height"), [(1, 1), (1, 4), (4, 1), (2, 3), (3, 2), (3, 3)])
def test_solutions_are_the_boards_of_the_size_that_verify(width, height):
    rng = random.Random(4)
    every = list(all_grids(width, height))
    assert len(every) == 2 ** (width * height)
    for puzzle in (*map(Puzzle.from_grid, every), *(random_clues(rng, width, height) for _ in range(20))):
        solutions = naive.solutions(puzzle)
        assert sorted(solutions) == sorted(grid for grid in every if naive.verify(puzzle, grid))
        assert all(naive.solutions(puzzle, limit) == solutions[:limit] for limit in range(3))


def test_verify_takes_a_right_board_and_refuses_each_change_of_one_cell():
    grid = [[1, 1, 0, 1], [0, 0, 0, 0], [1, 0, 1, 1]]
    puzzle = Puzzle.from_grid(grid)
    assert naive.verify(puzzle, grid)
    for y, x in product(range(3), range(4)):
        assert not naive.verify(puzzle, naive.painted(grid, (y, x), 1 - grid[y][x]))


@pytest.mark.parametrize("rest", [[], [[0, 0], [0, 0]], [[0]], [[0, 0, 0]], [[None, 0]], [[0, 2]]])
def test_verify_refuses_wrong_sizes_unknown_cells_and_other_numbers(rest):
    assert not naive.verify(Puzzle.from_grid([[1, 0], [0, 0]]), [[1, 0], *rest])
