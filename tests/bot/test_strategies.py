"""Both strategies: against enumeration, also from a partly painted board; the trace events of a search."""

import random
from collections import Counter
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nonobot.bot.champion import ChampionStrategy
from nonobot.bot.papers import PROBINGS, PapersStrategy, deduce
from nonobot.bot.papers.state import SOLVER
from nonobot.bot.result import TraceEvent, grid_of, line_masks
from nonobot.protocol import BLACK, UNKNOWN, WHITE, PartialGrid, Puzzle
from nonobot.tournament_data import load_set
from tests import naive
from tests.helpers.boards import grids, random_grid
from tests.helpers.enumerated import SUBSETS, by_clues, check_search, check_solved, mixed_board
from tests.helpers.talking import hard

pytestmark = pytest.mark.usefixtures("compiled")

STRATEGIES = {
    "champion": ChampionStrategy,
    "learning alone": lambda: ChampionStrategy(without=("descents",)),
    "papers": PapersStrategy,
}
SHARED = {name: make() for name, make in STRATEGIES.items()}


@pytest.fixture(params=[*STRATEGIES, pytest.param("champion in wider masks", marks=pytest.mark.nightly)])
def search(request):
    wide = ChampionStrategy(least_bits=128) if request.param not in SHARED else None  # half a minute to compile
    return (wide or SHARED[request.param]).solve


@pytest.mark.parametrize(
    ("width", "height"),
    [
        *((1, 1), (1, 6), (6, 1), (2, 2), (2, 4), (4, 2), (3, 3)),
        *(pytest.param(*size, marks=pytest.mark.nightly) for size in ((3, 4), (4, 3), (4, 4))),
    ],
)
def test_every_board_of_a_small_size_is_solved_and_its_solutions_counted(search, width, height):
    for puzzle, right in by_clues(width, height).items():
        check_search(search, puzzle, right)


@pytest.mark.parametrize(("width", "height"), [(2, 2), (2, 3), (3, 2), (3, 3)])
def test_every_set_of_clues_of_a_small_size_has_the_solutions_it_has(search, width, height):
    boards = by_clues(width, height)
    for lines in product(*(naive.all_clues(height),) * width, *(naive.all_clues(width),) * height):
        puzzle = Puzzle.unchecked(columns=lines[:width], rows=lines[width:])
        check_search(search, puzzle, boards.get(puzzle, []), asked=(1, 1000))


enumerated = cache(naive.solutions)
"""For boards that several strategies get."""


@pytest.mark.parametrize(
    ("strategy", "most"),
    [
        *((ChampionStrategy(most, without), most) for without in SUBSETS for most in (4, 5, 7)),
        *((PapersStrategy(probing, solver), 6) for probing in PROBINGS for solver in SOLVER._fields),
    ],
)
def test_random_small_boards_have_the_solutions_that_enumeration_finds(strategy, most):
    rng = random.Random(most)
    numbers: Counter[int] = Counter()
    for _ in range(500 if most < 6 else 250):
        puzzle = mixed_board(rng, rng.randint(2, most), rng.randint(2, most))
        right = enumerated(puzzle, limit=100)
        if len(right) < 100:
            check_search(strategy.solve, puzzle, right)
            numbers[min(len(right), 2)] += 1
    # The sample is no use if one kind is missing.
    assert all(numbers[kind] >= 20 for kind in (0, 1, 2)), numbers


@pytest.mark.parametrize("colour", [0, 1])
@pytest.mark.parametrize(("width", "height"), [(1, 1), (1, 62), (62, 1), (62, 62), (25, 25), (31, 62)])
def test_boards_of_one_colour_are_solved(search, width, height, colour):
    grid = [[colour] * width for _ in range(height)]
    check_search(search, Puzzle.from_grid(grid), [grid])


def test_boards_of_every_width_and_height_are_solved(search):
    rng = random.Random(62)
    for side in range(1, 63):
        for width, height in ((side, 1), (1, side), (side, rng.randint(1, 62)), (side, side)):
            puzzle = Puzzle.from_grid(random_grid(rng, width, height, rng.uniform(0.75, 0.9)))
            check_solved(puzzle, search(puzzle))


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_board_that_takes_too_long_is_a_timeout_and_the_next_is_solved_as_before(name):
    strategy = STRATEGIES[name]()
    easy = Puzzle.from_grid(random_grid(random.Random(8), 25, 25, 0.7))
    before = strategy.solve(easy)
    for seconds in (0, 0.05):
        result = strategy.solve(hard(), seconds=seconds)
        assert (result.status, result.solutions, result.exhausted) == ("timeout", (), False)
        assert result.verdict == "unknown"
        after = strategy.solve(easy)
        assert (after.solutions, after.counts) == (before.solutions, before.counts)


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


@settings(max_examples=150, deadline=None)
@given(board=starts())
def test_exactly_the_solutions_that_agree_with_the_start_are_found(board):
    puzzle, start = board
    right = agreeing(puzzle, start)
    for name, most in product(STRATEGIES, (1, 1000)):
        result = SHARED[name].solve(puzzle, start=PartialGrid(start), solutions=most)
        found = [solution.cells.tolist() for solution in result.solutions]
        assert result.status == ("solved" if right else "unsolvable")
        assert all(grid in right for grid in found)
        assert len(found) == min(most, len(right))


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_start_board_does_not_affect_the_next_puzzle(name):
    strategy = SHARED[name]
    corner = PartialGrid([[BLACK, UNKNOWN], [UNKNOWN, UNKNOWN]])
    assert len(strategy.solve(PUZZLE, start=corner, solutions=9).solutions) == 1
    assert len(strategy.solve(PUZZLE, solutions=9).solutions) == 2
    contradiction = PartialGrid([[BLACK, BLACK], [UNKNOWN, UNKNOWN]])
    assert strategy.solve(PUZZLE, start=contradiction).status == "unsolvable"
    assert strategy.solve(PUZZLE).status == "solved"


@given(board=starts())
def test_rows_and_columns_are_converted_to_masks(board):
    _, start = board
    lines = [*start.tolist(), *start.T.tolist()]
    found = line_masks(PartialGrid(start))
    for colour, masks in zip((BLACK, WHITE), found, strict=True):
        expected = [sum(1 << i for i, cell in enumerate(line) if cell == colour) for line in lines]
        assert masks == expected
    height, width = start.shape
    assert grid_of(found[0][:height], found[1][:height], width) == PartialGrid(start)


PUZZLES = [record.puzzle for record in load_set("boardgen:12x9x12:seed=4").puzzles]


@pytest.fixture(params=STRATEGIES, scope="module")
def watched(request):
    strategy = STRATEGIES[request.param]()
    strategy.watch()
    return strategy


def searches(strategy):
    """Yield each puzzle with its result and its trace events."""
    for puzzle in PUZZLES:
        result = strategy.solve(puzzle)
        yield puzzle, result, list(strategy.trace_events())


def test_traced_cells_change_only_on_backtracking_and_end_in_the_solution(watched):
    kinds = set()
    for _, result, noted in searches(watched):
        assert np.array_equal(noted[-1][1].cells, result.solutions[0].cells)
        for (_, before), (kind, after) in pairwise(noted):
            kinds.add(kind)
            if kind not in (TraceEvent.TAKEN_BACK, TraceEvent.RESTARTED):
                stays = before.cells != UNKNOWN
                assert np.array_equal(before.cells[stays], after.cells[stays])
    assert {TraceEvent.PAINTED, TraceEvent.GUESSED} <= kinds
    assert (TraceEvent.PROBED in kinds) == isinstance(watched, PapersStrategy)


def test_the_search_after_failed_descents_goes_back_to_the_root_first():
    puzzle = Puzzle.from_grid(random_grid(random.Random(51), 15, 15, 0.5))
    strategy = ChampionStrategy()
    strategy.watch()
    counts = strategy.solve(puzzle).counts
    assert counts["descents"] == 2 < counts["decisions"]
    returns = [board for kind, board in strategy.trace_events() if kind is TraceEvent.RESTARTED]
    assert returns == [returns[0]] * 3  # before each descent, and after them


def test_cells_set_before_the_first_guess_follow_from_the_clues(watched):
    for puzzle, _, noted in searches(watched):
        follows = deduce(puzzle, 1)
        for kind, board in noted:
            if kind is TraceEvent.GUESSED:
                break
            known = board.cells != UNKNOWN
            assert np.array_equal(board.cells[known], follows[known])


@pytest.mark.parametrize("name", STRATEGIES)
def test_tracing_does_not_change_the_search(name):
    watched, unwatched = STRATEGIES[name](), STRATEGIES[name]()
    watched.watch()
    for puzzle, result, _ in searches(watched):
        assert unwatched.solve(puzzle).counts == result.counts
        assert list(unwatched.trace_events()) == []


@pytest.mark.parametrize("name", STRATEGIES)
def test_only_the_first_trace_events_are_kept(name):
    every, few = STRATEGIES[name](), STRATEGIES[name]()
    every.watch()
    few.watch(most=3)
    for puzzle in PUZZLES:
        every.solve(puzzle)
        few.solve(puzzle)
        assert list(few.trace_events()) == list(every.trace_events())[:3]
