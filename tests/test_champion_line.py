"""The champion's line kernel against brute force: cells, and the starts it leaves behind."""

from __future__ import annotations

import random

import pytest

from nonobot.bot.kernels.memory import MASK_BITS
from nonobot.bot.papers.lines import paint_line
from tests import naive
from tests.boards import all_states, cells_of, masks_of, painted_states, to_text
from tests.line_states import LINE, LineStates
from tests.test_lines import LONGEST, random_state


@pytest.fixture(scope="module")
def memory() -> LineStates:
    return LineStates(64)


@pytest.fixture(
    scope="module",
    params=[pytest.param(bits, marks=pytest.mark.slow if bits in (256, 512) else ()) for bits in MASK_BITS],
)
def of_any_width(request) -> LineStates:
    return LineStates(request.param)


@pytest.mark.parametrize("length", [*range(1, 9), pytest.param(9, marks=pytest.mark.slow)])
def test_every_state_of_every_clue(memory, length):
    black, white = all_states(length)
    for clue in naive.all_clues(length):
        memory.set_clue(clue, length)
        right = zip(*(each.tolist() for each in painted_states(clue, length, black, white)), strict=True)
        found = memory.paint_all(black.tolist(), white.tolist())
        for at, (right_black, right_white, conflict) in enumerate(right):
            expected = None if conflict else (right_black, right_white)
            assert found[at] == expected, (clue, to_text(cells_of(int(black[at]), int(white[at]), length)))


@pytest.mark.parametrize("length", [*range(1, 7), pytest.param(7, marks=pytest.mark.slow)])
def test_the_starts_left_behind_are_exactly_the_valid_ones_of_every_state(memory, length):
    black, white = all_states(length)
    for clue in naive.all_clues(length):
        memory.set_clue(clue, length)
        found = memory.paint_all(black.tolist(), white.tolist())
        for at, (b, w) in enumerate(zip(black.tolist(), white.tolist(), strict=True)):
            cells = cells_of(b, w, length)
            right = naive.valid_starts(clue, cells)
            if found[at] is None:
                assert right is None
            else:
                assert memory.starts_left(len(clue), at) == right, (clue, to_text(cells))


def test_random_lines_of_all_lengths(memory):
    rng = random.Random(1)
    conflicts = 0
    for at in range(8_000):
        length = at % LONGEST + 1
        clue, cells = random_state(rng, length)
        masks = masks_of(cells)
        memory.set_clue(clue, length)
        found = memory.paint(*masks)
        assert found == paint_line(clue, length, *masks, "bitset"), (clue, to_text(cells))
        assert found == paint_line(clue, length, *masks, "recurrence"), (clue, to_text(cells))
        conflicts += found is None
        if naive.placement_count(clue, length) > 300:
            continue
        assert (found and cells_of(*found, length)) == naive.paint_line(clue, cells), (clue, to_text(cells))
        if found:
            assert memory.starts_left(len(clue)) == naive.valid_starts(clue, cells), (clue, to_text(cells))
    assert conflicts > 300


@pytest.mark.parametrize("length", [LONGEST, LONGEST - 1])
@pytest.mark.parametrize("size", [1, 2, 30, 31, 32, LONGEST - 1, LONGEST])
def test_blocks_as_many_as_fit_and_as_long_as_the_longest_line(memory, length, size):
    blocks = (length + 1) // (size + 1)
    for number in {1, blocks - 1, blocks} - {0}:
        if size > length or number < 1:
            continue
        clue = (size,) * number
        memory.set_clue(clue, length)
        spare = length + 1 - number * (size + 1)
        assert memory.paint(0, 0) == paint_line(clue, length, 0, 0, "recurrence")
        assert memory.starts_left(number) == [
            set(range(block * (size + 1), block * (size + 1) + spare + 1)) for block in range(number)
        ]


def test_the_scratch_of_a_line_before_makes_no_difference(memory):
    memory.set_clue((1,) * 31, LONGEST)
    memory.paint(0, 0)
    memory.set_clue((2, 1), 6)
    memory.view("clue")[LINE, 2:] = 7  # beyond the clue
    assert memory.paint(0, 0) == paint_line((2, 1), 6, 0, 0)
    assert memory.starts_left(2) == [{0, 1, 2}, {3, 4, 5}]


# Every width


def compare_long(memory: LineStates, clue: tuple[int, ...], cells: naive.Line) -> bool:
    """Compare with the sums over all placements; return whether there are any."""
    length = len(cells)
    memory.set_clue(clue, length)
    found = memory.paint(*masks_of(cells))
    right = naive.paint_long_line(clue, cells)
    assert (found and cells_of(*found, length)) == (right and right[0]), (clue, to_text(cells))
    if right:
        assert memory.starts_left(len(clue)) == right[1], (clue, to_text(cells))
    return right is not None


@pytest.mark.parametrize("length", range(1, 6))
def test_every_state_of_every_short_clue_in_every_width(of_any_width, length):
    test_every_state_of_every_clue(of_any_width, length)


@pytest.mark.parametrize("lines", [12, pytest.param(200, marks=pytest.mark.slow)])
def test_random_lines_of_all_lengths_in_every_width(of_any_width, lines):
    rng = random.Random(lines)
    longest = of_any_width.bits - 2
    consistent = 0
    for at in range(lines):
        length = (longest, min(longest, 1000), rng.randint(longest // 2, longest), rng.randint(1, longest))[at % 4]
        consistent += compare_long(of_any_width, *random_state(rng, length))
    assert lines // 6 < consistent < lines


@pytest.mark.parametrize("kind", ["empty", "full", "one", "two", "alternating", "with one place more"])
def test_clues_at_the_ends_of_what_there_is_in_every_width(of_any_width, kind):
    longest = of_any_width.bits - 2
    for length in (longest, longest - 1, longest // 2 + 1, 1) if longest < 500 else (longest,):
        clue = {
            "empty": (),
            "full": (length,),
            "one": (1,),
            "two": (length // 2, 1),
            "alternating": (1,) * ((length + 1) // 2),
            "with one place more": (1,) * (length // 2),
        }[kind]
        if 0 in clue or sum(clue) + len(clue) - 1 > length:
            continue
        compare_long(of_any_width, clue, (None,) * length)
        compare_long(of_any_width, clue, (1, *(None,) * (length - 1)))
        compare_long(of_any_width, clue, (*(None,) * (length - 1), 0))
