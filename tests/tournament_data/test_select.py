"""Selection of boards, against a slow twin that draws every board anew and knows all its solutions."""

import itertools
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonobot.protocol import Puzzle
from nonobot.tournament_data import Recipe
from nonobot.tournament_data.generate import black_cells
from nonobot.tournament_data.select import Grade, NoBoardError, Rules, drawn_board, select
from tests import naive


def work_of(rows):
    """A stand-in for a solver's work: any number that depends on the puzzle alone."""
    return Random(repr(rows)).randrange(5)


def grade_board(puzzle):
    return Grade(decided=True, unique=len(naive.solutions(puzzle, limit=2)) == 1, work=work_of(puzzle.rows))


def shuffled_board(recipe, index, draw):
    """Return a board from a stream of its own."""
    random = Random(f"{abs(recipe.seed):x} {index} {draw}").random
    black = black_cells(index, recipe.count, recipe.p1, recipe.p2, recipe.width, recipe.height)
    cells = [1] * black + [0] * (recipe.width * recipe.height - black)
    for i in reversed(range(1, len(cells))):
        j = int(random() * (i + 1))
        cells[i], cells[j] = cells[j], cells[i]
    return [cells[y * recipe.width : (y + 1) * recipe.width] for y in range(recipe.height)]


def is_unique(grid):
    return len(naive.solutions(Puzzle.from_grid(grid), limit=2)) == 1


recipes = st.builds(
    Recipe,
    width=st.integers(1, 3),
    height=st.integers(1, 3),
    count=st.integers(1, 4),
    seed=st.integers(0, 2**70),
    p1=st.floats(0, 1),
    p2=st.floats(0, 1),
)


def chosen(recipe, choices, unique, most_draws):
    """Return the boards that the rule gives word by word, up to the first puzzle that has none."""
    boards = []
    for index in range(recipe.count):
        eligible, in_vain = [], 0
        for draw in itertools.count():
            grid = shuffled_board(recipe, index, draw)
            if not unique or is_unique(grid):
                eligible.append(grid)
                in_vain = 0
            else:
                in_vain += 1
            if len(eligible) == choices:
                break
            if in_vain == most_draws:
                return boards
        works = [work_of(Puzzle.from_grid(grid).rows) for grid in eligible]
        boards.append(eligible[works.index(max(works))])
    return boards


@given(recipe=recipes, choices=st.integers(1, 3), unique=st.booleans())
def test_selected_boards_follow_the_documented_rule(recipe, choices, unique):
    expected = chosen(recipe, choices, unique, most_draws=50)
    found = []
    try:
        for puzzle, solution in select(recipe, grade_board, Rules(unique, choices, most_draws=50)):
            assert puzzle == Puzzle.from_grid(solution.cells)
            found.append(solution.cells.tolist())
    except NoBoardError:
        assert len(expected) < recipe.count
    else:
        assert len(expected) == recipe.count
    assert found == expected


@given(recipe=recipes)
def test_without_conditions_the_first_board_of_each_puzzle_is_kept(recipe):
    first = [drawn_board(recipe, index, 0) for index in range(recipe.count)]
    assert list(select(recipe, grade_board, Rules())) == first
    blacks = [solution.cells.sum() for _, solution in recipe.boards()]
    assert [solution.cells.sum() for _, solution in first] == blacks


def test_a_drawn_board_is_the_same_on_every_python():
    """A set is made again from its command, on every Python."""
    grid = drawn_board(Recipe(6, 4, 10, seed=-(2**70) - 12), 3, 17)[1].cells
    assert ["".join(map(str, row)) for row in grid.tolist()] == ["100000", "011100", "100101", "010110"]


def test_an_undecided_board_is_skipped():
    recipe = Recipe(4, 4, 3, seed=5)
    told = []
    answers = iter([False, True, False, False, True, True])
    grade = lambda _: Grade(decided=next(answers), unique=False, work=0)  # noqa: E731
    assert len(list(select(recipe, grade, Rules(), on_draw=told.append))) == 3
    draws = [(1, 0, 1), (1, 1, 2), (2, 0, 3), (2, 0, 4), (2, 1, 5), (3, 1, 6)]
    assert [(drawn.puzzle, drawn.eligible, drawn.boards) for drawn in told] == draws


@pytest.mark.parametrize(
    ("decided", "message"),
    [
        (lambda number: True, "none has exactly one solution"),
        (lambda number: False, "none was decided in time"),
        (lambda number: number % 5, "none has exactly one solution, 2 not decided in time"),
    ],
)
def test_a_failed_search_ends_and_reports_its_puzzle(decided, message):
    draws = itertools.count(1)
    in_vain = lambda _: Grade(decided=bool(decided(next(draws))), unique=False, work=0)  # noqa: E731
    with pytest.raises(NoBoardError) as caught:
        list(select(Recipe(5, 4, 2, seed=1), in_vain, Rules(unique=True, most_draws=10)))
    assert str(caught.value) == f"puzzle 1: of 10 boards of 5x4 with 10 black cells {message}"
    assert next(draws) == 11


def test_only_consecutive_failed_draws_count():
    answers = iter([False, False, True] * 4)
    grade = lambda _: Grade(decided=True, unique=next(answers), work=0)  # noqa: E731
    rules = Rules(unique=True, choices=2, most_draws=3)
    assert len(list(select(Recipe(4, 4, 2, seed=1), grade, rules))) == 2
