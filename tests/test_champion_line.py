"""The champion's line kernel against brute force: cells, and the starts it leaves behind."""

from __future__ import annotations

import random

import numpy as np
import pytest

from nonobot.bot.champion.state import BLOCKS, CLUE, LENGTH, STARTS
from nonobot.bot.lines import paint_line
from nonobot.protocol import Clue
from tests import champion_kernels as kernels
from tests import naive
from tests.boards import all_states, cells_of, masks_of, painted_states, to_text
from tests.champion_state import ChampionState
from tests.test_lines import LONGEST, random_state

pytestmark = pytest.mark.xdist_group("champion kernels")  # one process compiles them

LINE = 5


@pytest.fixture(scope="module")
def memory() -> ChampionState:
    return ChampionState()


def set_clue(memory: ChampionState, clue: Clue, length: int) -> None:
    memory[LENGTH][LINE] = length
    memory[BLOCKS][LINE] = len(clue)
    memory[CLUE][LINE] = 0
    memory[CLUE][LINE, : len(clue)] = clue


def paint(memory: ChampionState, black: int, white: int) -> tuple[int, int] | None:
    consistent, new_black, new_white = kernels.paint_line(
        memory.m, np.uint64(LINE), np.uint64(black), np.uint64(white)
    )
    return (int(new_black), int(new_white)) if consistent else None


def starts_left(memory: ChampionState, blocks: int) -> list[set[int]]:
    masks = memory[STARTS][:blocks].tolist()
    return [{i for i in range(64) if mask >> i & 1} for mask in masks]


@pytest.mark.parametrize("length", [*range(1, 9), pytest.param(9, marks=pytest.mark.slow)])
def test_every_state_of_every_clue(memory, length):
    black, white = all_states(length)
    for clue in naive.all_clues(length):
        set_clue(memory, clue, length)
        right = zip(*(each.tolist() for each in painted_states(clue, length, black, white)), strict=True)
        for b, w, (right_black, right_white, conflict) in zip(black.tolist(), white.tolist(), right, strict=True):
            expected = None if conflict else (right_black, right_white)
            assert paint(memory, b, w) == expected, (clue, to_text(cells_of(b, w, length)))


@pytest.mark.parametrize("length", [*range(1, 7), pytest.param(7, marks=pytest.mark.slow)])
def test_the_starts_left_behind_are_exactly_the_valid_ones_of_every_state(memory, length):
    black, white = all_states(length)
    for clue in naive.all_clues(length):
        set_clue(memory, clue, length)
        for b, w in zip(black.tolist(), white.tolist(), strict=True):
            cells = cells_of(b, w, length)
            right = naive.valid_starts(clue, cells)
            if paint(memory, b, w) is None:
                assert right is None
            else:
                assert starts_left(memory, len(clue)) == right, (clue, to_text(cells))


def test_random_lines_of_all_lengths(memory):
    rng = random.Random(1)
    conflicts = 0
    for at in range(8_000):
        length = at % LONGEST + 1
        clue, cells = random_state(rng, length)
        masks = masks_of(cells)
        set_clue(memory, clue, length)
        found = paint(memory, *masks)
        assert found == paint_line(clue, length, *masks, "bitset"), (clue, to_text(cells))
        assert found == paint_line(clue, length, *masks, "recurrence"), (clue, to_text(cells))
        conflicts += found is None
        if naive.placement_count(clue, length) > 300:
            continue
        assert (found and cells_of(*found, length)) == naive.paint_line(clue, cells), (clue, to_text(cells))
        if found:
            assert starts_left(memory, len(clue)) == naive.valid_starts(clue, cells), (clue, to_text(cells))
    assert conflicts > 300


@pytest.mark.parametrize("length", [LONGEST, LONGEST - 1])
@pytest.mark.parametrize("size", [1, 2, 30, 31, 32, LONGEST - 1, LONGEST])
def test_blocks_as_many_as_fit_and_as_long_as_the_longest_line(memory, length, size):
    blocks = (length + 1) // (size + 1)
    for number in {1, blocks - 1, blocks} - {0}:
        if size > length or number < 1:
            continue
        clue = (size,) * number
        set_clue(memory, clue, length)
        spare = length + 1 - number * (size + 1)
        assert paint(memory, 0, 0) == paint_line(clue, length, 0, 0, "recurrence")
        assert starts_left(memory, number) == [
            set(range(block * (size + 1), block * (size + 1) + spare + 1)) for block in range(number)
        ]


def test_the_scratch_of_a_line_before_makes_no_difference(memory):
    set_clue(memory, (1,) * 31, LONGEST)
    paint(memory, 0, 0)
    set_clue(memory, (2, 1), 6)
    memory[CLUE][LINE, 2:] = 7  # beyond the clue
    assert paint(memory, 0, 0) == paint_line((2, 1), 6, 0, 0)
    assert starts_left(memory, 2) == [{0, 1, 2}, {3, 4, 5}]
