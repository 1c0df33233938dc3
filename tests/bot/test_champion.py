"""The champion as a whole: against enumeration, the papers' strategy, itself, and the clock."""

import json
import random
from collections import Counter

import pytest

from nonobot.bot import LONGEST_SIDE
from nonobot.bot.champion import ChampionStrategy
from nonobot.protocol import Puzzle, read_batch
from tests import naive
from tests.helpers.boards import random_grid, shuffled
from tests.helpers.enumerated import (
    SUBSETS,
    check_search,
    check_solutions,
    check_solved,
    mixed_board,
    solve_as_the_papers,
)
from tests.helpers.talking import batch, run

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture(scope="module")
def champion() -> ChampionStrategy:
    return ChampionStrategy()


@pytest.mark.parametrize("without", SUBSETS)
def test_solutions_without_learning_are_right_and_unsolved_boards_stay_open(without):
    rng = random.Random(str(without))
    champion = ChampionStrategy(0, (*without, "learning"))
    statuses: Counter[str] = Counter()
    for _ in range(400):
        puzzle = mixed_board(rng, rng.randint(2, 6), rng.randint(2, 6))
        right = naive.solutions(puzzle, limit=1000)
        result = champion.solve(puzzle)
        statuses[result.status] += 1
        assert result.status != "unsolvable" or (result.exhausted and not right), puzzle
        assert result.status != "timeout" or not result.exhausted, puzzle
        check_solutions(puzzle, result.solutions)
    assert min(statuses[status] for status in ("solved", "unsolvable")) > 20, statuses
    assert statuses["timeout"] > 20 or "descents" not in without, statuses


@pytest.mark.parametrize("seed", range(3))
def test_champion_and_papers_strategy_reach_the_same_verdicts(seed):
    rng = random.Random(seed)
    champion = ChampionStrategy(seed)
    verdicts: Counter[str] = Counter()
    for _ in range(60):
        puzzle = Puzzle.from_grid(random_grid(rng, rng.randint(8, 13), rng.randint(8, 13), rng.uniform(0.4, 0.65)))
        puzzle = rng.choice((puzzle, puzzle, shuffled(rng, puzzle)))
        mine, theirs = champion.solve(puzzle, solutions=2), solve_as_the_papers(puzzle, solutions=2, seconds=60)
        assert mine.verdict == theirs.verdict, puzzle
        check_solutions(puzzle, mine.solutions)
        verdicts[mine.verdict] += 1
    assert len(verdicts) == 3, verdicts


@pytest.mark.parametrize(
    ("width", "height"), [(63, 1), (1, 63), (64, 65), (100, 2), (70, 40), (40, 126), (126, 126)]
)
def test_sides_that_need_wider_masks(champion, width, height):
    rng = random.Random(width * height)
    for density in (0.75, 0.85):
        puzzle = Puzzle.from_grid(random_grid(rng, width, height, density))
        check_solved(puzzle, champion.solve(puzzle))


def test_boards_with_the_most_blocks_per_line_are_solved(champion):
    longest = range(62)  # in the narrower masks
    grids = [[[(x + y + by) % 2 for x in longest] for y in longest] for by in (0, 1)]
    check_search(champion.solve, Puzzle.from_grid(grids[0]), grids, asked=(3,))


def test_a_side_that_is_too_long_is_refused(champion):
    for grid in ([[1] * (LONGEST_SIDE + 1)], [[1]] * (LONGEST_SIDE + 1)):
        with pytest.raises(ValueError, match=f"{LONGEST_SIDE + 1}.* board is too large.*{LONGEST_SIDE} rows"):
            champion.solve(Puzzle.from_grid(grid))
    assert champion.solve(Puzzle.from_grid([[1, 0], [0, 1]])).status == "solved"


def some_puzzles() -> list[Puzzle]:
    rng = random.Random(77)
    sizes = ((20, 20, 0.35), (25, 25, 0.4), (12, 30, 0.35), (20, 20, 0.3), (25, 25, 0.35))
    return [Puzzle.from_grid(random_grid(rng, *size)) for size in sizes]


def record(champion: ChampionStrategy, puzzle: Puzzle, solutions: int = 1) -> tuple:
    result = champion.solve(puzzle, solutions=solutions)
    return result.status, result.counts, [solution.cells.tolist() for solution in result.solutions]


@pytest.mark.parametrize(
    "without",
    [
        pytest.param(without, marks=pytest.mark.slow if len(without) == 1 or without == SUBSETS[-2] else ())
        for without in SUBSETS
    ],
)
def test_the_search_is_the_same_for_the_same_seed_whatever_was_solved_before(without):
    puzzles = some_puzzles()
    for solutions in (1, 3):
        used = ChampionStrategy(3, without)
        forward = [record(used, puzzle, solutions) for puzzle in puzzles]
        backward = [record(used, puzzle, solutions) for puzzle in reversed(puzzles)]
        fresh = [record(ChampionStrategy(3, without), puzzle, solutions) for puzzle in puzzles]
        assert forward == backward[::-1] == fresh


@pytest.mark.nightly
@pytest.mark.parametrize("without", [(), ("descents",)])
def test_the_search_is_the_same_in_wider_masks(without):
    narrow, wide = (ChampionStrategy(3, without, bits) for bits in (64, 128))
    for puzzle in some_puzzles():
        for solutions in (1, 3):
            assert record(narrow, puzzle, solutions) == record(wide, puzzle, solutions)


def test_the_time_limit_ends_a_search_for_many_solutions_and_keeps_those_found(champion):
    puzzle = Puzzle.unchecked(columns=((1,),) * 9, rows=((1,),) * 9)  # 9! solutions
    result = ChampionStrategy().solve(puzzle, solutions=10**6, seconds=0.3)
    assert not result.exhausted
    check_solved(puzzle, result)
    # A board of many solutions, one found after the other without a contradiction.
    grid = [[0] * 62 for _ in range(62)]
    for pair in range(20):
        grid[3 * pair][3 * pair] = grid[3 * pair + 1][3 * pair + 1] = 1
        grid[3 * pair + 2] = [1] * 62
    result = champion.solve(Puzzle.from_grid(grid), solutions=100_000, seconds=0.001)
    assert len(result.solutions) < 100_000
    assert not result.exhausted


@pytest.mark.slow
def test_every_25th_puzzle_of_the_official_sets_is_solved(official_sets):
    champion = ChampionStrategy()
    for file in official_sets:
        entries = list(read_batch(file.read_bytes().splitlines(keepends=True)))
        assert len(entries) >= 25
        for entry in entries[::25]:
            check_solved(entry.puzzle, champion.solve(entry.puzzle))


def test_the_command_runs_as_plain_python(tmp_path, monkeypatch):
    stats = tmp_path / "stats.jsonl"
    puzzle = Puzzle.from_grid(random_grid(random.Random(10), 9, 9, 0.35))
    options = ("--size", "9x9", "--without", "descents", "--stats", str(stats))
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    answer = run(batch(puzzle), *options).stdout
    rows = [list(map(int, line.split(b"\t"))) for line in answer.splitlines()[1:]]
    compiled = ChampionStrategy(without=("descents",)).solve(puzzle)
    assert rows == compiled.solutions[0].cells.tolist()
    told = json.loads(stats.read_text())
    assert compiled.counts["decisions"] > 0
    assert {name: told[name] for name in compiled.counts} == compiled.counts


def test_asking_for_0_solutions_is_an_error(champion):
    with pytest.raises(ValueError, match="number of solutions must be at least 1"):
        champion.solve(Puzzle.from_grid([[1]]), solutions=0)
