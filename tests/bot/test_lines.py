"""The line kernels: bitset = recurrence = brute force, and the starts of blocks that the bitset leaves behind."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nonobot.bot.kernels.memory import MASK_BITS
from nonobot.bot.papers.single_line import paint_line
from nonobot.bot.papers.state import SOLVER
from nonobot.protocol import Clue, clue_of
from tests import naive
from tests.helpers.boards import all_states, cells_of, masks_of, painted_states, to_text
from tests.helpers.line_states import LINE, LineStates

BOTH = SOLVER._fields
LONGEST = 62


def painted(clue: Sequence[int], cells: naive.Line, solver: str) -> naive.Line | None:
    result = paint_line(clue, len(cells), *masks_of(cells), solver)
    return None if result is None else cells_of(*result, len(cells))


# The worked example of the paper (Chen and Hung, figure 2): clue (3, 3, 4), the entries P(i, j) of its table


@pytest.mark.parametrize("solver", BOTH)
@pytest.mark.parametrize(
    ("length", "blocks", "expected"),
    [
        (4, 1, "u11u"),
        (5, 1, "uu1uu"),
        (7, 2, "1110111"),
        (8, 2, "u11uu11u"),
        (9, 2, "uu1uuu1uu"),
        (12, 3, "111011101111"),
        (13, 3, "u11uu11uu111u"),
        (14, 3, "uu1uuu1uuu11uu"),
    ],
)
def test_the_line_solver_reproduces_the_papers_table_for_clue_3_3_4(length, blocks, expected, solver):
    assert to_text(painted((3, 3, 4)[:blocks], (None,) * length, solver)) == expected


@pytest.fixture(scope="module")
def states() -> LineStates:
    return LineStates(64)


def compare_states(states: LineStates, clue: Clue, length: int, black: np.ndarray, white: np.ndarray) -> None:
    states.set_clue(clue, length)
    right_black, right_white, conflict = painted_states(clue, length, black, white)
    for solver in BOTH:
        painted_black, painted_white, consistent = states.paint_arrays(black, white, solver)
        same = (painted_black == right_black) & (painted_white == right_white)
        wrong = np.flatnonzero((consistent == conflict) | consistent & ~same)
        assert not len(wrong), (clue, [cells_of(int(black[i]), int(white[i]), length) for i in wrong], solver)


@pytest.mark.parametrize(
    "length", [*range(1, 8), *(pytest.param(length, marks=pytest.mark.nightly) for length in (8, 9, 10))]
)
def test_every_state_of_every_clue(states, length):
    black, white = all_states(length)
    for clue in naive.all_clues(length):
        compare_states(states, clue, length, black, white)
        if length > 6:
            continue
        for state, (b, w) in enumerate(zip(black.tolist(), white.tolist(), strict=True)):
            cells = cells_of(b, w, length)
            right = naive.valid_starts(clue, cells)
            assert right is None or states.starts_left(len(clue), state) == right, (clue, to_text(cells))


@pytest.mark.parametrize("length", [9, 10, 11, 12])
def test_sampled_states_of_lines_of_9_to_12_cells_are_painted_exactly(states, length):
    rng = np.random.default_rng(length)
    for clue in naive.all_clues(length):
        colour = rng.choice(3, size=(30, length), p=rng.dirichlet((4, 1, 1)))
        weights = 1 << np.arange(length)
        compare_states(states, clue, length, (colour == 1) @ weights, (colour == 2) @ weights)


def random_state(rng: random.Random, length: int) -> tuple[tuple[int, ...], naive.Line]:
    """Return a clue and a state of its line: a true placement with hidden cells, some with wrong cells."""
    density = rng.random()
    true = []
    while len(true) < length:
        true += [int(rng.random() < density)] * rng.choice((1, 1, 2, 3, rng.randint(1, 20)))
    true = true[:length]
    hidden = rng.choice((0.0, 0.2, 0.5, 0.8, 0.95, 1.0))
    cells = [None if rng.random() < hidden else cell for cell in true]
    for _ in range(rng.choice((0, 0, 1, 3))):
        cells[rng.randrange(length)] = rng.randint(0, 1)
    return clue_of(true), tuple(cells)


def compare(clue: tuple[int, ...], cells: naive.Line, most_placements: int = 3_000) -> None:
    fast, plain = (painted(clue, cells, solver) for solver in BOTH)
    assert fast == plain, (clue, to_text(cells))
    if naive.placement_count(clue, len(cells)) <= most_placements:
        assert plain == naive.paint_line(clue, cells), (clue, to_text(cells))


def test_random_lines_of_all_lengths(states):
    rng = random.Random(1)
    conflicts = 0
    for turn in range(4_000):
        length = turn % LONGEST + 1
        clue, cells = random_state(rng, length)
        compare(clue, cells, 300)
        states.set_clue(clue, length)
        masks = states.paint(*masks_of(cells))
        assert masks == paint_line(clue, length, *masks_of(cells)), (clue, to_text(cells))
        conflicts += masks is None
        if masks and naive.placement_count(clue, length) <= 300:
            assert states.starts_left(len(clue)) == naive.valid_starts(clue, cells), (clue, to_text(cells))
    assert conflicts > 150


def test_the_scratch_of_a_line_before_makes_no_difference(states):
    states.set_clue((1,) * 31, LONGEST)
    states.paint(0, 0)
    states.set_clue((2, 1), 6)
    states.view("clue")[LINE, 2:] = 7  # beyond the clue
    assert states.paint(0, 0) == paint_line((2, 1), 6, 0, 0)
    assert states.starts_left(2) == [{0, 1, 2}, {3, 4, 5}]


@st.composite
def lines_with_a_solution(draw: st.DrawFn) -> tuple[tuple[int, ...], naive.Line]:
    length = draw(st.integers(1, LONGEST))
    runs = draw(st.lists(st.tuples(st.integers(0, 1), st.integers(1, 15)), max_size=40))
    true = [colour for colour, size in runs for _ in range(size)][:length]
    true += [0] * (length - len(true))
    shown = draw(st.integers(0, 2**length - 1))
    return clue_of(true), tuple(cell if shown >> i & 1 else None for i, cell in enumerate(true))


@given(lines_with_a_solution(), st.lists(st.tuples(st.integers(0, LONGEST), st.integers(0, 1)), max_size=6))
@example(((62,), (None,) * 62), [])
@example(((1,) * 31, (None,) * 62), [])
@example(((1,) * 31, (None,) * 61), [])
@example(((30, 31), (None,) * 62), [])
@example(((1,), (None,) * 61 + (1,)), [])
@example(((1,), (1,) + (None,) * 61), [])
@example(((61,), (None,) * 62), [])
@example(((), (None,) * 62), [])
def test_lines_of_any_state_are_painted_the_same_again_and_mirrored_and_lose_no_cell(line, changes):
    clue, solvable = line
    cells = list(solvable)
    for place, colour in changes:
        cells[place % len(cells)] = colour
    compare(clue, tuple(cells))
    for solver in BOTH:
        once = painted(clue, tuple(cells), solver)
        mirrored = painted(clue[::-1], tuple(cells[::-1]), solver)
        assert once == (mirrored and mirrored[::-1])
        assert once is not None or tuple(cells) != solvable
        if once is not None:
            assert painted(clue, once, solver) == once
            assert all(before in (None, now) for before, now in zip(cells, once, strict=True))


LONG = (63, 64, 126, 127, 254, 255, 510, 511, 1000, 1022)


@pytest.mark.parametrize("solver", BOTH)
@pytest.mark.parametrize("length", [*range(1, LONGEST + 1), *LONG])
def test_edge_clues_of_every_length(length, solver):
    full = (1 << length) - 1
    assert paint_line((), length, 0, 0, solver) == (0, full)
    assert paint_line((length,), length, 0, 0, solver) == (full, 0)
    assert paint_line((length,), length, full, 0, solver) == (full, 0)
    assert paint_line((length,), length, 0, 1 << (length - 1), solver) is None
    assert paint_line((), length, 1 << (length - 1), 0, solver) is None
    assert paint_line((1,), length, 1 << (length - 1), 0, solver) == (1 << (length - 1), full >> 1)
    every_other = sum(1 << i for i in range(0, length, 2))
    if length % 2:
        comb = (1,) * (length // 2 + 1)
        assert paint_line(comb, length, 0, 0, solver) == (every_other, full & ~every_other)


# Wider masks


@pytest.fixture(
    scope="module",
    params=[pytest.param(bits, marks=pytest.mark.nightly if bits in (256, 512) else ()) for bits in MASK_BITS],
)
def of_any_width(request) -> LineStates:
    return LineStates(request.param)


def compare_long(states: LineStates, clue: tuple[int, ...], cells: naive.Line) -> bool:
    """Compare with the sums over all placements; return whether there are any."""
    length = len(cells)
    states.set_clue(clue, length)
    masks = states.paint(*masks_of(cells))
    right = naive.paint_long_line(clue, cells)
    assert (masks and cells_of(*masks, length)) == (right and right[0]), (clue, to_text(cells))
    if right:
        assert states.starts_left(len(clue)) == right[1], (clue, to_text(cells))
    return right is not None


@pytest.mark.parametrize("length", range(1, 6))
def test_every_state_of_every_short_clue_in_every_width(of_any_width, length):
    black, white = (masks.tolist() for masks in all_states(length))
    for clue in naive.all_clues(length):
        of_any_width.set_clue(clue, length)
        for b, w, painted in zip(black, white, of_any_width.paint_all(black, white), strict=True):
            cells = cells_of(b, w, length)
            assert (painted and cells_of(*painted, length)) == naive.paint_line(clue, cells), (clue, cells)


@pytest.mark.parametrize("lines", [12, pytest.param(200, marks=pytest.mark.nightly)])
def test_random_lines_of_all_lengths_in_every_width(of_any_width, lines):
    rng = random.Random(lines)
    longest = of_any_width.bits - 2
    consistent = 0
    for i in range(lines):
        length = (longest, min(longest, 1000), rng.randint(longest // 2, longest), rng.randint(1, longest))[i % 4]
        consistent += compare_long(of_any_width, *random_state(rng, length))
    assert lines // 6 < consistent < lines


@pytest.mark.parametrize("length", LONG)
def test_both_solvers_paint_random_states_of_long_lines_the_same(length):
    rng = random.Random(length)
    for _ in range(20):
        compare(*random_state(rng, length), 300)
