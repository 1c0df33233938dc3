"""The slow twins against themselves: what they enumerate, counted and filtered another way."""

from __future__ import annotations

import random
from itertools import pairwise, product

import numpy as np
import pytest

from nonobot.protocol import Puzzle, clue_of
from tests import naive
from tests.boards import (
    all_grids,
    all_states,
    broken,
    from_text,
    masks_of,
    painted_states,
    random_clues,
    random_grid,
    shuffled,
    to_text,
)


@pytest.mark.parametrize("length", range(1, 11))
def test_the_placements_of_all_clues_are_all_the_painted_lines_once_each(length):
    lines = [line for clue in naive.all_clues(length) for line in naive.placements(clue, length)]
    assert len(lines) == 2**length
    assert set(lines) == set(product((0, 1), repeat=length))


@pytest.mark.parametrize("length", range(1, 11))
def test_every_placement_has_the_clue_it_was_made_from(length):
    for clue in naive.all_clues(length):
        assert all(clue_of(line) == clue for line in naive.placements(clue, length))


def test_placement_count_is_the_number_of_placements_also_when_none_fits():
    for length in range(1, 9):
        for clue in [*naive.all_clues(length), (length + 1,), (1,) * length, (length, 1)]:
            assert naive.placement_count(clue, length) == len(naive.placements(clue, length))


@pytest.mark.parametrize("length", range(1, 10))
def test_the_sums_over_a_line_are_those_over_its_placements(length):
    rng = random.Random(length)
    for clue in naive.all_clues(length):
        for _ in range(3):
            cells = tuple(rng.choice((None, None, None, 0, 1)) for _ in range(length))
            odds = [rng.randint(1, 5) for _ in cells]
            black = [0 if cell == 0 else 1 if cell == 1 else odd for cell, odd in zip(cells, odds, strict=True)]
            weighed = naive.weights(clue, cells, odds)
            total, by_cell, by_start = naive.line_sums(clue, black, [cell != 1 for cell in cells])
            assert total == sum(weight for _, weight in weighed)
            assert by_cell == [sum(weight for line, weight in weighed if line[i]) for i in range(length)]
            starts = [(naive.block_starts(line), weight) for line, weight in weighed]
            for block in range(len(clue)):
                right = [sum(weight for each, weight in starts if each[block] == i) for i in range(length)]
                assert by_start[block] == right
            painted = naive.paint_line(clue, cells)
            valid = naive.valid_starts(clue, cells)
            assert naive.paint_long_line(clue, cells) == (None if painted is None else (painted, valid))


@pytest.mark.parametrize("length", range(1, 8))
def test_paint_line_is_what_the_filtered_list_of_all_painted_lines_has_in_common(length):
    every = list(product((0, 1), repeat=length))
    with_clue = {clue: [line for line in every if clue_of(line) == clue] for clue in naive.all_clues(length)}
    rng = random.Random(length)
    states = list(product((None, 0, 1), repeat=length))
    for clue, lines in with_clue.items():
        for cells in states if length <= 5 else rng.sample(states, 200):
            left = [line for line in lines if all(c in (None, p) for c, p in zip(cells, line, strict=True))]
            common = tuple(
                1 if all(line[i] for line in left) else 0 if not any(line[i] for line in left) else None
                for i in range(length)
            )
            assert naive.paint_line(clue, cells) == (common if left else None)


def test_paint_line_of_a_clue_that_does_not_fit_is_a_conflict():
    assert naive.paint_line((3,), (None, None)) is None
    assert naive.paint_line((1, 1), (None, None)) is None


# The worked example of the paper (Chen and Hung, figure 2): clue (3, 3, 4), the entries P(i, j) of its table.
WORKED_EXAMPLE = [
    (4, 1, "u11u"),
    (5, 1, "uu1uu"),
    (7, 2, "1110111"),
    (8, 2, "u11uu11u"),
    (9, 2, "uu1uuu1uu"),
    (12, 3, "111011101111"),
    (13, 3, "u11uu11uu111u"),
    (14, 3, "uu1uuu1uuu11uu"),
]


@pytest.mark.parametrize(("length", "blocks", "expected"), WORKED_EXAMPLE)
def test_the_papers_table_for_clue_3_3_4(length, blocks, expected):
    assert to_text(naive.paint_line((3, 3, 4)[:blocks], (None,) * length)) == expected


@pytest.mark.parametrize("length", range(1, 7))
def test_painting_many_states_at_once_agrees_with_paint_line(length):
    black, white = all_states(length)
    states = list(product((None, 0, 1), repeat=length))
    for clue in naive.all_clues(length):
        painted_black, painted_white, conflict = painted_states(clue, length, black, white)
        for at, cells in enumerate(states):
            line = naive.paint_line(clue, cells)
            assert conflict[at] == (line is None)
            if line is not None:
                assert (painted_black[at], painted_white[at]) == masks_of(line)


def test_propagate_goes_on_where_one_pass_over_rows_and_columns_is_not_enough():
    grid = [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 1], [1, 1, 0, 0]]  # needs three passes
    puzzle = Puzzle.from_grid(grid)
    rows = [naive.paint_line(clue, (None,) * 4) for clue in puzzle.rows]
    first = [
        naive.paint_line(clue, column)
        for clue, column in zip(puzzle.columns, zip(*rows, strict=True), strict=True)
    ]
    assert any(cell is None for column in first for cell in column)
    assert naive.propagate(puzzle, naive.unknown_grid(puzzle)) == grid


def test_propagate_stops_at_a_fixpoint_that_it_does_not_leave():
    rng = random.Random(1)
    for _ in range(50):
        puzzle = Puzzle.from_grid(random_grid(rng, rng.randint(1, 6), rng.randint(1, 6)))
        once = naive.propagate(puzzle, naive.unknown_grid(puzzle))
        assert once is not None
        assert naive.propagate(puzzle, once) == once


def test_propagate_does_not_change_the_grid_it_is_given():
    puzzle = Puzzle.from_grid([[1, 1], [1, 1]])
    grid = naive.unknown_grid(puzzle)
    naive.propagate(puzzle, grid)
    naive.fully_probe(puzzle, grid, 3)
    assert grid == [[None, None], [None, None]]


def test_the_order_of_rows_and_columns_makes_no_difference():
    rng = random.Random(2)
    for _ in range(100):
        puzzle = random_clues(rng, rng.randint(1, 5), rng.randint(1, 5))
        turned = Puzzle.unchecked(columns=puzzle.rows, rows=puzzle.columns)
        for deduce in (naive.propagate, *(lambda p, g, n=n: naive.fully_probe(p, g, n) for n in (1, 2, 3))):
            grid = deduce(puzzle, naive.unknown_grid(puzzle))
            other = deduce(turned, naive.unknown_grid(turned))
            assert (grid is None) == (other is None)
            if grid is not None:
                assert [list(column) for column in zip(*grid, strict=True)] == other


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


def test_fp1_paints_more_than_propagation():
    puzzle = Puzzle.from_grid([[0, 0, 1], [0, 1, 0], [0, 1, 0], [0, 0, 1]])
    propagated = naive.propagate(puzzle, naive.unknown_grid(puzzle))
    assert len(known(propagated)) == 4
    assert len(known(naive.fully_probe(puzzle, propagated, 1))) == 12


FP3_ONLY = [[int(cell) for cell in row] for row in (
    "0010001", "0000001", "1000000", "0101001", "0100000", "0010010", "0011000", "0000011"
)]  # fmt: skip


def test_fp3_paints_more_than_fp2():
    puzzle = Puzzle.from_grid(FP3_ONLY)
    levels = [naive.fully_probe(puzzle, naive.unknown_grid(puzzle), level) for level in (1, 2, 3)]
    assert [len(known(grid)) for grid in levels] == [15, 15, 16]


def test_fp2_at_its_fixpoint_paints_what_fp1_paints():
    # Where a contrapositive would help, a probe fails: if (a, 0) -> (b, 1) and (b, 0) -> (a, 0), then painting b
    # white paints a white, which paints b black. So the two fixpoints are one.
    rng = random.Random(6)
    for _ in range(150):
        puzzle = Puzzle.from_grid(random_grid(rng, rng.randint(2, 6), rng.randint(2, 6)))
        if rng.random() < 0.5:
            puzzle = shuffled(rng, puzzle)
        one, two = (naive.fully_probe(puzzle, naive.unknown_grid(puzzle), level) for level in (1, 2))
        assert one == two


def test_two_ways_to_paint_a_checkerboard_leave_every_level_without_a_cell():
    puzzle = Puzzle.from_grid([[1, 0], [0, 1]])
    assert all(naive.fully_probe(puzzle, naive.unknown_grid(puzzle), n) == [[None] * 2] * 2 for n in (1, 2, 3))


@pytest.mark.parametrize(("width", "height"), [(1, 1), (1, 4), (4, 1), (2, 3), (3, 2), (3, 3)])
def test_solutions_are_the_boards_of_the_size_that_have_the_clues(width, height):
    boards = {}
    for grid in all_grids(width, height):
        boards.setdefault(Puzzle.from_grid(grid), []).append(grid)
    assert sum(map(len, boards.values())) == 2 ** (width * height)
    for puzzle, grids in boards.items():
        found = naive.solutions(puzzle)
        assert sorted(found) == sorted(grids)
        assert naive.solutions(puzzle, limit=1) == found[:1]
        assert naive.solutions(puzzle, limit=2) == found[:2]
        assert naive.solutions(puzzle, limit=0) == []


def test_solutions_of_random_clues_are_the_boards_that_verify():
    rng = random.Random(4)
    for _ in range(60):
        width, height = rng.choice([(2, 4), (3, 3), (4, 2)])
        puzzle = random_clues(rng, width, height)
        right = [grid for grid in all_grids(width, height) if naive.verify(puzzle, grid)]
        assert sorted(naive.solutions(puzzle)) == sorted(right)


def test_verify_takes_a_right_board_and_refuses_each_change_of_one_cell():
    grid = [[1, 1, 0, 1], [0, 0, 0, 0], [1, 0, 1, 1]]
    puzzle = Puzzle.from_grid(grid)
    assert naive.verify(puzzle, grid)
    assert naive.verify(puzzle, np.array(grid))
    for y, x in product(range(3), range(4)):
        changed = naive.painted(grid, (y, x), 1 - grid[y][x])
        assert not naive.verify(puzzle, changed)


def test_verify_refuses_wrong_sizes_unknown_cells_and_other_numbers():
    puzzle = Puzzle.from_grid([[1, 0], [0, 0]])
    assert not naive.verify(puzzle, [[1, 0]])
    assert not naive.verify(puzzle, [[1, 0], [0, 0], [0, 0]])
    assert not naive.verify(puzzle, [[1, 0], [0]])
    assert not naive.verify(puzzle, [[1, 0], [0, 0, 0]])
    assert not naive.verify(puzzle, [[1, None], [0, 0]])
    assert not naive.verify(puzzle, [[1, 0], [0, 2]])


def test_from_text_and_to_text_are_the_papers_letters():
    assert from_text("u10") == (None, 1, 0)
    assert to_text((None, 1, 0)) == "u10"
    assert to_text(None) == "conflict"
