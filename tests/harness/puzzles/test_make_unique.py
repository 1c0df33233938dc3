"""Boards made unique: on small ones against all boards of their size, on drawn ones with the bot; bounds."""

import random
from functools import cache

import numpy as np
import pytest

from nonobot.harness.puzzles.grading import Findings, Grading, grading_bot
from nonobot.harness.puzzles.make_unique import MOST_LATE, differing, make_unique
from nonobot.harness.puzzles.picture_puzzle import MOST_TRIES
from nonobot.protocol import Puzzle
from tests import naive
from tests.helpers.enumerated import by_clues
from tools.drawn_boards import letters, noise


def puzzle_of(cells):
    return Puzzle.from_grid(np.asarray(cells).astype(np.uint8))


@cache
def boards_by_clues(width, height):
    return {puzzle: np.array(grids, bool) for puzzle, grids in by_clues(width, height).items()}


@pytest.mark.parametrize("most", [2, 3, 100])
@pytest.mark.parametrize(("width", "height"), [(2, 2), (3, 3), (1, 5), pytest.param(4, 3, marks=pytest.mark.slow)])
def test_the_fewest_cells_of_all_small_boards_are_changed(width, height, most):
    single = np.array([boards[0] for boards in boards_by_clues(width, height).values() if len(boards) == 1])

    def solve(puzzle):
        solutions = boards_by_clues(width, height)[puzzle]
        return Findings(solutions[:most], complete=len(solutions) < most, in_time=True)

    for boards in boards_by_clues(width, height).values():
        for cells in boards:
            before = cells.copy()
            done = make_unique(cells, solve, most_tries=MOST_TRIES)
            assert done.unique
            assert (cells == before).all()
            assert len(boards_by_clues(width, height)[puzzle_of(done.cells)]) == 1
            assert done.changed == (done.cells != cells).sum()
            fewest = (single != cells).sum(axis=(1, 2)).min()
            assert fewest <= done.changed <= fewest + (2 if most < 100 else 0)  # 2: of solutions not told
            if len(boards) == 1:
                assert done.tries == 1


def test_make_unique_prefers_cells_at_the_edges_of_shapes():
    # The two crossed pairs can be the other way round; one of the cells lies at a black area.
    cells = np.zeros((9, 9), bool)
    cells[0:4, 3:9] = True
    cells[4, 3] = cells[6, 1] = True
    found = Findings(np.array([cells, cells]), complete=True, in_time=True)
    found.solutions[1][[4, 4, 6, 6], [3, 1, 1, 3]] ^= True
    asked = []

    def solve(puzzle):
        asked.append(puzzle)
        return found if puzzle == puzzle_of(cells) else Findings(cells[None], True, True)

    done = make_unique(cells, solve, most_tries=MOST_TRIES)
    assert (done.changed, done.tries) == (1, 3)  # as drawn, a cell changed, the cell changed back
    assert (done.cells != cells)[6, 1]  # a speck


@pytest.mark.usefixtures("compiled")
def test_make_unique_reports_its_progress():
    told = []
    cells = np.eye(6, dtype=bool)
    with grading_bot(Grading((6, 6), solutions=100, puzzle_seconds=60)) as bot:
        done = make_unique(
            cells, bot.findings, most_tries=MOST_TRIES, on_change=lambda *numbers: told.append(numbers)
        )
    assert done.unique
    assert told[0][:2] == (1, 0)
    assert 4 <= told[0][2] <= 36  # all are open, in 720 solutions of which the bot was to tell a hundred
    assert [tries for tries, _, _ in told] == sorted({tries for tries, _, _ in told})
    assert [changed for _, changed, _ in told] == list(range(len(told)))


def never_unique(puzzle):
    cells = np.zeros((2, puzzle.height, puzzle.width), bool)
    cells[1] = True
    return Findings(cells, complete=False, in_time=True)


def test_make_unique_gives_up_after_the_most_tries_or_if_every_cell_was_changed():
    cells = np.eye(9, dtype=bool)
    for tries in (1, 2, 16, 17, 18, 100):
        done = make_unique(cells, never_unique, most_tries=tries)
        assert (done.unique, done.changed, done.tries) == (False, 0, tries)
        assert (done.cells == cells).all()
    done = make_unique(np.eye(2, dtype=bool), never_unique, most_tries=MOST_TRIES)
    assert (done.unique, done.changed, done.tries) == (False, 0, 1 + 4 + 3 + 2 + 1)


@pytest.mark.parametrize(
    ("number", "tries"), [(0, 1), (1, 1), (2, MOST_LATE)], ids=["no solution", "one", "again and again"]
)
def test_make_unique_gives_up_when_the_time_is_up(number, tries):
    late = lambda puzzle: Findings(never_unique(puzzle).solutions[:number], complete=False, in_time=False)  # noqa: E731
    done = make_unique(np.eye(9, dtype=bool), late, most_tries=MOST_TRIES)
    assert (done.unique, done.changed, done.tries) == (False, 0, tries)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("size", [(5, 5), (8, 6), (10, 10)])
def test_random_boards_are_unique_by_enumeration(size):
    width, height = size
    generator = np.random.default_rng(1)
    with grading_bot(Grading(size, solutions=100, puzzle_seconds=60)) as bot:
        for _ in range(10):
            cells = generator.random((height, width)) < 0.5
            done = make_unique(cells, bot.findings, most_tries=MOST_TRIES)
            assert done.unique
            [solution] = naive.solutions(puzzle_of(done.cells), limit=2)
            assert (np.array(solution) == done.cells).all()
            assert done.changed == (done.cells != cells).sum() <= 5


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("draw", [noise, letters])
@pytest.mark.parametrize("side", [20, 30])
def test_drawn_boards_become_unique_with_few_changes(draw, side):
    with grading_bot(Grading((side, side), solutions=50, puzzle_seconds=60)) as bot:
        for seed in range(4):
            cells = draw(side, side, random.Random(seed))
            found = bot.findings(puzzle_of(cells))
            done = make_unique(cells, bot.findings, most_tries=MOST_TRIES)
            assert done.unique
            assert bot.findings(puzzle_of(done.cells)).unique
            assert (done.changed == 0) == found.unique
            assert done.changed == (done.cells != cells).sum() <= 8
            # Where the solutions agreed nothing had to be changed at first.
            if done.changed == 1:
                assert not ((done.cells != cells) & ~differing(cells, found)).any()
            assert (make_unique(cells, bot.findings, most_tries=MOST_TRIES).cells == done.cells).all()
