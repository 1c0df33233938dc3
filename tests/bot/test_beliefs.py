"""Beliefs against sums over all placements, within what float32 can tell."""

import random
from functools import cache

import numpy as np
import pytest

from nonobot.protocol import Puzzle
from tests import naive
from tests.helpers.boards import masks_of, random_grid
from tests.helpers.champion_kernels import Kernel
from tests.helpers.champion_state import ChampionState

MOST_ODDS = 20
SOFTENING = 1e-6  # see nonobot.bot.champion.beliefs
ERROR = 4e-6  # of a share of all placements, in float32 after so many additions


@cache
def memory_of(bits: int) -> ChampionState:
    return ChampionState(bits)


@pytest.fixture
def memory() -> ChampionState:
    return memory_of(64)


def believe(
    memory: ChampionState, clue: tuple[int, ...], cells: naive.Line, told: np.ndarray, most: int = MOST_ODDS
) -> bool:
    memory.load(Puzzle.unchecked(columns=((),) * len(cells), rows=(clue,)))  # the columns need not fit
    memory["told"][0] = np.float32(12345)  # what lies behind the line is nobody's
    memory["told"][0, : len(cells)] = told
    memory["outgoing"].fill(-1)
    memory.paint(0, *masks_of(cells))
    return bool(Kernel.believe_one(memory.m, 0, most))


def check_odds(found: np.ndarray, chances: list[float], told: np.ndarray, most: float) -> None:
    """Compare odds with the true chances; either share may be wrong by ERROR."""
    black = np.array(chances)
    lower = np.maximum(black - ERROR + SOFTENING, 0) / ((1 - black + ERROR + SOFTENING) * told)
    upper = (black + ERROR + SOFTENING) / (np.maximum(1 - black - ERROR, 0) + SOFTENING / 2) / told
    slack = 1 + 1e-5
    assert (found >= np.clip(lower, 1 / most, most) / slack).all(), (found, lower)
    assert (found <= np.clip(upper, 1 / most, most) * slack).all(), (found, upper)


def random_line(rng: random.Random, length: int, slack: int) -> tuple[tuple[int, ...], naive.Line]:
    """Return a clue with so much slack and a state of its line that some placement agrees with."""
    left = length + 1 - slack  # cells for the blocks, each with a white one behind it
    clue: list[int] = []
    while left >= 2:
        size = min(rng.choice((1, 1, 1, 2, 2, 3, 4, 5, 9, 20)), left - 1)
        if left - size - 1 == 1:
            size += 1
        clue.append(size)
        left -= size + 1
    gaps = sorted(rng.randint(0, slack) for _ in clue)
    true = [0] * length
    begin = 0
    for size, gap in zip(clue, gaps, strict=True):
        true[begin + gap : begin + gap + size] = [1] * size
        begin += size + 1
    hidden = rng.choice((0.3, 0.7, 0.9, 0.97, 1.0, 1.0))
    return tuple(clue), tuple(None if rng.random() < hidden else cell for cell in true)


def check_line(memory: ChampionState, rng: random.Random, clue: tuple[int, ...], cells: naive.Line) -> None:
    """Compare with the sums over all placements, in numbers of twice the digits."""
    length = len(cells)
    most = 3 if length <= 62 else 2
    logarithms = [rng.uniform(-most, most) * rng.choice((0, 1, 1)) for _ in cells]
    told = np.exp(np.array(logarithms)).astype(np.float32)
    total, black, starts = naive.line_sums(clue, cells, told.tolist())
    assert believe(memory, clue, cells, told) == (total > 0), (clue, cells)
    if not total:
        return
    check_odds(memory["outgoing"][:length], [weight / total for weight in black], told, MOST_ODDS)
    # The sums left behind give the chances of the starts.
    Kernel.keep_bound_marginals(memory.m, 0)
    for block in range(len(clue)):
        first, last, base = (int(memory[field][0, block]) for field in ("first", "last", "bound_base"))
        chances = memory["bound_marginal"][base : base + last - first]
        assert np.allclose(chances, np.cumsum(starts[block])[first:last] / total, atol=2e-5)


SLACKS = {
    64: (*range(17), 20, 30, 31, 32, 33, 47, 48, 60, 61),
    128: (1, 15, 16, 31, 32, 62, 63, 64, 65, 66, 80, 100, 120, 124, 125),
    256: (1, 64, 66, 120, 124, 126, 127, 128, 129, 150, 191, 192, 193, 240, 252),
}
"""By the bits of a mask; sums of more slack than 15, 31, 63 places go through wider vectors."""


@pytest.mark.parametrize(
    ("bits", "slack"),
    [
        pytest.param(bits, slack, marks=pytest.mark.nightly if bits > 64 else ())
        for bits in SLACKS
        for slack in SLACKS[bits]
    ],
)
def test_beliefs_of_a_line_equal_the_sum_over_its_placements(bits, slack):
    rng, memory = random.Random(slack), memory_of(bits)
    longest = memory.longest
    for turn in range(16 if bits == 64 else 6):
        length = longest if turn % 4 == 1 else rng.randint(slack + 1, longest)
        check_line(memory, rng, *random_line(rng, length, slack))


@pytest.mark.parametrize("length", range(1, 6))
def test_beliefs_are_exact_for_every_state_of_every_short_line(memory, length):
    rng = random.Random(length)
    for clue in naive.all_clues(length):
        for state in range(3**length):
            cells = tuple((None, 0, 1)[state // 3**i % 3] for i in range(length))
            check_line(memory, rng, clue, cells)


@pytest.mark.parametrize("length", [15, 16, 17, 31, 32, 33, 48, 61, 62])
@pytest.mark.parametrize("kind", ["empty", "full", "one", "two", "alternating"])
def test_beliefs_are_exact_for_empty_full_and_alternating_clues(memory, length, kind):
    rng = random.Random(length)
    every_other = (1,) * ((length + 1) // 2)
    clue = {"empty": (), "full": (length,), "one": (1,), "two": (2, 1), "alternating": every_other}[kind]
    check_line(memory, rng, clue, (None,) * length)
    check_line(memory, rng, clue, (0, *(None,) * (length - 2), 0))


@pytest.mark.parametrize("told_black", [1000.0, 1e-3])
@pytest.mark.parametrize("clue", [(2,) * 8, (1,) * 12, (5, 5, 5, 5)])
def test_beliefs_stay_exact_for_extreme_incoming_odds(memory, clue, told_black):
    """The weight of all placements, up to 1000 ** 20, is far outside of what float32 holds."""
    length = 25
    placement = naive.placements(clue, length)[0]
    told = np.array([told_black if black else 1e-3 for black in placement], np.float32)
    cells = (None,) * length
    assert believe(memory, clue, cells, told, 1000)
    total, black, _ = naive.line_sums(clue, cells, told.tolist())
    check_odds(memory["outgoing"][:length], [weight / total for weight in black], told, 1000)


def test_odds_of_long_lines_stay_in_bounds_and_impossible_lines_are_detected(memory):
    rng = np.random.default_rng(1)
    for clue, length in (((1,) * 31, 62), ((1,) * 30, 62), ((20, 20, 19), 62), ((2,) * 10, 40), ((1,), 62)):
        for size in (3, 7, 30):
            alike = (np.full(length, 10.0**power) for power in (size, -size))
            for told in (*alike, 10.0 ** rng.uniform(-size, size, length)):
                if believe(memory, clue, (None,) * length, told.astype(np.float32)):
                    found = memory["outgoing"][:length]
                    assert ((found >= np.float32(1 / MOST_ODDS)) & (found <= np.float32(MOST_ODDS))).all()
    puzzle = Puzzle.from_grid([[1, 1, 0], [0, 0, 0]])
    memory.load(puzzle)
    Kernel.forget_all(memory.m)
    set_board(memory, [[1, 0, None], [None, None, None]])
    assert not Kernel.sweep_board(memory.m, 0, MOST_ODDS)
    set_board(memory, [[None, None, None], [None, None, 1]])
    assert not Kernel.sweep_board(memory.m, 0, MOST_ODDS)


def set_board(memory: ChampionState, grid: naive.Grid) -> None:
    """Paint a board, in which None is unknown, on the board."""
    lines = [*grid, *zip(*grid, strict=True)]
    for line, cells in enumerate(lines):
        memory.paint(line, *masks_of(cells))


def slow_sweep(
    puzzle: Puzzle, grid: naive.Grid, told_rows: np.ndarray, told_columns: np.ndarray, most: float
) -> np.ndarray:
    """Let all rows speak, then all columns; change the odds in place, return the odds of all cells."""
    both = np.full(told_rows.shape, np.nan)
    halves = (
        (puzzle.rows, grid, told_rows, told_columns.T),
        (puzzle.columns, [list(column) for column in zip(*grid, strict=True)], told_columns, told_rows.T),
    )
    for half, (clues, lines, told, tell) in enumerate(halves):
        for line, (clue, cells) in enumerate(zip(clues, lines, strict=True)):
            if None not in cells:
                continue
            total, black, _ = naive.line_sums(clue, cells, told[line].tolist())
            share = np.array(black) / total
            odds = (share + SOFTENING) / ((1 - share + SOFTENING) * told[line])
            tell[line] = np.clip(odds, 1 / most, most)
            if half:
                both[:, line] = tell[line] * told[line]
    return both


def test_sweeps_over_random_boards(memory):
    rng = random.Random(3)
    for _ in range(60):
        width, height = rng.randint(1, 9), rng.randint(1, 9)
        grid = random_grid(rng, width, height)
        puzzle = Puzzle.from_grid(grid)
        hidden = rng.choice((0.5, 0.8, 1.0))
        seen = [[None if rng.random() < hidden else cell for cell in row] for row in grid]
        memory.load(puzzle)
        set_board(memory, seen)
        Kernel.forget_all(memory.m)
        assert all((memory["told"][line, : memory.length(line)] == 1).all() for line in range(width + height))
        told_rows, told_columns = np.ones((height, width)), np.ones((width, height))
        for _ in range(3):
            assert Kernel.sweep_board(memory.m, 0, MOST_ODDS)
            odds = slow_sweep(puzzle, seen, told_rows, told_columns, MOST_ODDS)
            # A known cell's odds are at the mercy of rounding: nobody asks for them.
            unknown = np.array([[cell is None for cell in row] for row in seen])
            told = memory["told"]
            assert np.allclose(told[:height, :width][unknown], told_rows[unknown], rtol=2e-3)
            found = told[height : height + width, :height]
            assert np.allclose(found[unknown.T], told_columns[unknown.T], rtol=2e-3)
            assert np.allclose(memory["odds"][:width, :height].T[unknown], odds[unknown], rtol=4e-3)
