"""The slow twins against themselves: what they enumerate, counted and filtered another way."""

from __future__ import annotations

import random
from itertools import pairwise, product
from math import prod

import pytest

from nonobot.protocol import Puzzle, clue_of
from tests import naive
from tests.boards import all_grids, broken, random_clues, random_grid

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
