"""The opponents solve: each agrees with brute force, and so do the parts they are made of."""

import importlib
import math
import random
from functools import cache, partial
from itertools import product
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonobot.harness.opponents import csp
from nonobot.harness.opponents.cp_sat import automaton
from nonobot.harness.opponents.line_logic import LineLogic
from nonobot.harness.opponents.sat import SOLVERS, clauses_by_line
from nonobot.harness.solver_bot import Clock, OutOfTimeError, Solve, solution_of
from nonobot.protocol import Puzzle
from tests import naive
from tests.helpers.boards import broken, cells_of, masks_of, puzzles, random_clues, random_grid, shuffled

ENGINES = {"sat": "pysat", "cp_sat": "ortools"}
PROPAGATORS = ["csp_bt", "csp_fc", "csp_gac"]
OWN = ["block_backtracking", *PROPAGATORS, "line_logic"]
FOREVER = Clock()


def opponent(name: str) -> ModuleType:
    """Return an opponent's module; skip where its engine is not installed."""
    if name in ENGINES:
        pytest.importorskip(ENGINES[name], reason="it belongs to nonobot[opponents]")
    return importlib.import_module(f"nonobot.harness.opponents.{name}")


def solve_of(name: str) -> Solve:
    """Return the solver of an opponent, or of one with an option: `csp_gac` is `csp --propagator gac`."""
    module, _, propagator = name.partition("_") if name in PROPAGATORS else (name, "", "")
    solve = opponent(module).solve
    return partial(solve, propagator=propagator) if propagator else solve


@pytest.fixture(params=[*OWN, *ENGINES])
def solve(request: pytest.FixtureRequest) -> Solve:
    return solve_of(request.param)


def check(solve: Solve, puzzle: Puzzle, *, solvable: bool = False, clock: Clock = FOREVER) -> None:
    """Compare with brute force: a right solution, or none where there is none."""
    solution = solution_of(solve, puzzle, clock)
    if solution is None:
        assert not solvable
        assert not naive.solutions(puzzle, 1)
    else:
        assert naive.verify(puzzle, solution.cells.tolist())


@cache
def tiny_puzzles() -> tuple[Puzzle, ...]:
    """Return all clues of 1x1, 2x2 and 3x2 boards, most of them without a solution."""
    return tuple(
        Puzzle.unchecked(columns=columns, rows=rows)
        for width, height in ((1, 1), (2, 2), (3, 2))
        for columns in product(naive.all_clues(height), repeat=width)
        for rows in product(naive.all_clues(width), repeat=height)
    )


def test_all_tiny_puzzles_agree_with_brute_force(solve):
    for puzzle in tiny_puzzles():
        check(solve, puzzle)


@given(puzzle=puzzles(5, 5), rng=st.randoms(use_true_random=False))
def test_puzzles_and_changed_ones_agree_with_brute_force(puzzle, rng):
    others = broken(rng, puzzle), shuffled(rng, puzzle), random_clues(rng, puzzle.width, puzzle.height)
    for name in OWN:  # a puzzle takes longer to draw than to solve
        check(solve_of(name), puzzle, solvable=True)
        for changed in others:
            check(solve_of(name), changed)


@pytest.mark.parametrize(
    ("name", "options"), [("cp_sat", {}), *(("sat", {"solver": solver}) for solver in SOLVERS)]
)
@pytest.mark.parametrize("seconds", [math.inf, 60.0])
def test_engines_agree_with_brute_force_on_random_puzzles(name, options, seconds):
    solve = partial(opponent(name).solve, **options)
    rng = random.Random(3)
    for _ in range(20):
        puzzle = Puzzle.from_grid(random_grid(rng, rng.randint(1, 6), rng.randint(1, 6)))
        check(solve, puzzle, solvable=True, clock=Clock(seconds))
        check(solve, rng.choice((broken(rng, puzzle), shuffled(rng, puzzle))), clock=Clock(seconds))


@pytest.mark.parametrize("name", ["csp_gac", "line_logic", *ENGINES])
def test_larger_boards_are_solved(name):
    rng = random.Random(5)
    for width, height in ((15, 10), (12, 15)):
        check(solve_of(name), Puzzle.from_grid(random_grid(rng, width, height, 0.6)), solvable=True)


def test_the_time_limit_ends_the_search(solve):
    puzzle = Puzzle.from_grid(random_grid(random.Random(6), 20, 20, 0.45))
    with pytest.raises(OutOfTimeError):
        solve(puzzle, Clock(1e-9))


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_time_limit_ends_the_search_of_each_sat_solver(solver):
    puzzle = Puzzle.from_grid(random_grid(random.Random(1), 40, 40, 0.45))
    sat = opponent("sat")
    with pytest.raises(OutOfTimeError):
        sat.solve(puzzle, Clock(0.5), solver)


def test_line_logic_is_deterministic_with_its_seed():
    puzzle = Puzzle.from_grid(random_grid(random.Random(8), 10, 10, 0.3))
    solve = opponent("line_logic").solve
    found = {seed: [solve(puzzle, FOREVER, seed) for _ in range(2)] for seed in range(6)}
    assert all(first == second for first, second in found.values())
    assert len({first for first, _ in found.values()}) > 1  # the seed is used


LINES = [(clue, length) for length in range(1, 7) for clue in naive.all_clues(length)]


@pytest.mark.parametrize(("clue", "length"), LINES)
def test_fix_and_paint_deduce_all_cells_and_ranges_deduces_no_wrong_cell(clue, length):
    line = LineLogic(clue, length)
    for cells in product((None, 0, 1), repeat=length):
        expected = naive.paint_line(clue, cells)
        painted = line.deduce(masks_of(cells), is_complete=True)
        assert (painted and cells_of(*painted, length)) == expected
        by_ranges = line.deduce(masks_of(cells), is_complete=False)
        if by_ranges is None:
            assert expected is None
        elif expected:
            black, white = masks_of(expected)
            assert by_ranges[0] | black == black
            assert by_ranges[1] | white == white


@pytest.mark.parametrize(
    ("clue", "cells", "expected"),
    [
        ((3,), "uuuuu", "uu1uu"),  # simple boxes
        ((2,), "u1uuuu", "u1u000"),  # simple spaces: a black cell that one block alone covers
        ((2, 1), "u0uuuuuu", "00uuuuuu"),  # forcing: no room for the 2 before the white cell
        ((3, 1), "uu0uuuuu", "00011101"),  # all of them
    ],
)
def test_human_line_rules_find_the_expected_cells(clue, cells, expected):
    known = tuple({"u": None, "0": 0, "1": 1}[letter] for letter in cells)
    deduced = LineLogic(clue, len(cells)).deduce(masks_of(known), is_complete=False)
    assert deduced
    text = "".join("u" if cell is None else str(cell) for cell in cells_of(*deduced, len(cells)))
    assert text == expected


@pytest.mark.parametrize(("clue", "length"), LINES)
def test_a_table_contains_exactly_the_placements_of_its_clue(clue, length):
    table = csp.table_of(clue, range(length), FOREVER)
    placements = naive.placements(clue, length)
    assert csp.tuple_count(clue, length) == len(placements)
    assert table.everything == (1 << len(placements)) - 1
    numbers = range(table.everything.bit_length())
    assert {tuple(int(black >> t & 1) for _, black in table.support) for t in numbers} == set(placements)
    assert all(white ^ black == table.everything for white, black in table.support)


def test_a_table_of_more_tuples_than_are_made_at_once():
    clue, length = (1, 1, 1, 1, 1), 30
    count = naive.placement_count(clue, length)
    table = csp.table_of(clue, range(length), FOREVER)
    assert count > 2 * csp._CHUNK_TUPLES
    assert table.everything.bit_length() == count
    counts = [black.bit_count() for _, black in table.support]
    assert sum(counts) == 5 * count
    assert counts == counts[::-1]  # by the mirror image


@pytest.mark.parametrize(("clue", "length"), LINES)
def test_the_clauses_of_a_row_allow_exactly_its_placements(clue, length):
    clauses = next(clauses_by_line(Puzzle.unchecked(columns=((),) * length, rows=(clue,))))  # those of the row
    literals = [[(abs(literal), literal > 0) for literal in clause] for clause in clauses]
    for cells in product((0, 1), repeat=length):
        values = {i + 1: bool(cell) for i, cell in enumerate(cells)}
        # Unit propagation from painted cells settles every block, so that it alone tells.
        assert (naive.unit_propagate(literals, values) is not None) == (cells in naive.placements(clue, length))


@pytest.mark.parametrize(("clue", "length"), LINES)
def test_an_automaton_accepts_exactly_the_placements(clue, length):
    transitions, last = automaton(clue)
    step = {(state, colour): following for state, colour, following in transitions}
    assert len(step) == len(transitions)
    accepting = {last - 1, last} if clue else {last}
    for cells in product((0, 1), repeat=length):
        state: int | None = 0
        for cell in cells:
            state = step.get((state, cell))
        assert (state in accepting) == (cells in naive.placements(clue, length))
