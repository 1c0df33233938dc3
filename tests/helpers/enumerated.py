"""Strategies compared with enumeration: boards with all their solutions, and what a strategy must make of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import chain, combinations

from nonobot.bot import STAGE_NAMES
from nonobot.bot.papers import PapersStrategy
from nonobot.bot.result import Result
from nonobot.protocol import Puzzle, Solution
from tests import naive
from tests.helpers.boards import all_grids, broken, random_clues, random_grid, shuffled

# Without learning the champion gives up where the descents fail; all else finds every solution.
OPTIONAL = [name for name in STAGE_NAMES if name != "learning"]
SUBSETS = [tuple(names) for names in chain(*(combinations(OPTIONAL, n) for n in range(len(OPTIONAL) + 1)))]


def by_clues(width: int, height: int) -> dict[Puzzle, list[naive.Grid]]:
    """Return every puzzle of a size that has solutions, with all of them."""
    boards: dict[Puzzle, list[naive.Grid]] = {}
    for grid in all_grids(width, height):
        boards.setdefault(Puzzle.from_grid(grid), []).append(grid)
    return boards


def mixed_board(rng: random.Random, width: int, height: int) -> Puzzle:
    """Return a puzzle with a solution, or shuffled, or with one clue exchanged, or with random clues."""
    puzzle = Puzzle.from_grid(random_grid(rng, width, height, rng.uniform(0.15, 0.8)))
    kind = rng.randrange(8)
    if kind < 4:
        return puzzle
    if kind < 6:
        return shuffled(rng, puzzle)
    return broken(rng, puzzle) if kind == 6 else random_clues(rng, width, height)


def check_solutions(puzzle: Puzzle, solutions: Iterable[Solution]) -> None:
    grids = [solution.cells.tolist() for solution in solutions]
    assert all(naive.verify(puzzle, grid) for grid in grids), puzzle
    assert len({str(grid) for grid in grids}) == len(grids), puzzle


def check_solved(puzzle: Puzzle, result: Result) -> None:
    assert result.status == "solved", puzzle
    check_solutions(puzzle, result.solutions)


def check_search(
    solve: Callable[..., Result], puzzle: Puzzle, right: list[naive.Grid], asked: Sequence[int] = (1, 2, 1000)
) -> None:
    """Ask for one solution, for two, and for more than there are; compare with all solutions."""
    for most in asked:
        result = solve(puzzle, solutions=most)
        assert result.status == ("solved" if right else "unsolvable"), puzzle
        assert len(result.solutions) == min(most, len(right)), puzzle
        check_solutions(puzzle, result.solutions)
        if most > len(right):
            assert result.exhausted, puzzle
            assert result.verdict == ("unsolvable", "unique", "multiple")[min(len(right), 2)], puzzle
        if most < len(right):
            assert not result.exhausted, puzzle


papers_strategy = cache(PapersStrategy)


def solve_as_the_papers(puzzle: Puzzle, probing: str = "fp2", solver: str = "bitset", **limits: float) -> Result:
    return papers_strategy(probing, solver).solve(puzzle, **limits)
