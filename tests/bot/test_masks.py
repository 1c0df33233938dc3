"""Masks of every width against Python's own integers, modulo 2**bits."""

import random
import time
from functools import cache

import numpy as np
import pytest

from nonobot.bot.kernels.memory import MASK_BITS, Memory
from tests.helpers.boards import mask_in, put_mask
from tests.helpers.language_kernels import ask_masks, clock, compute_masks, masks_map
from tests.helpers.plain import IS_PLAIN

NUMBERS = (0, 1, 2, -1, -2, 7, 2**31, -(2**31), 2**32, 2**62, 2**63 - 1, -(2**63), -(2**63) + 1, 0x5555)


@cache
def memory_of(bits: int) -> Memory:
    return Memory(masks_map(bits))


def reached_downward(seeds: int, through: int) -> int:
    """Return `seeds` and all cells that one reaches from them downward, stepping onto cells in `through`."""
    cells = {i for i in range(seeds.bit_length()) if seeds >> i & 1}
    for i in reversed(range(seeds.bit_length())):
        if i + 1 in cells and through >> i & 1:
            cells.add(i)
    return sum(1 << i for i in cells)


def check(bits: int, a: int, b: int, number: int, places: int) -> None:
    memory = memory_of(bits)
    put_mask(memory.view("a"), 0, a)
    put_mask(memory.view("b"), 0, b)
    memory.view("number")[0], memory.view("places")[0] = number, places
    above_one = number > 1
    right = [
        a & b, a | b, a ^ b, a + b, a - b, ~a, a << places, a >> places,
        a & number, a | number, a ^ number, a + number, a - number, number & a, number | a, number ^ a, number + a,
        number - a, a - above_one, -above_one, (1 << places) - 1,
        number,
        a & b, a | b, a << places, reached_downward(a, b),
    ]  # fmt: skip
    done = compute_masks(memory)
    assert [mask_in(mask) for mask in memory.view("results")[:done]] == [mask % 2**bits for mask in right]
    as_mask = number % 2**bits
    is_it, cells = a == as_mask, [i for i in range(bits) if a >> i & 1]
    right = [
        a == b, a != b, is_it, is_it, not is_it, not is_it, a != 0, a == 0, a & b == 0, a | b != 0,
        a != 0, a != 0 and b != 0,
        len(cells), min(cells, default=-1), max(cells, default=-1), sum(cells) + len(cells),
    ]  # fmt: skip
    done = ask_masks(memory)
    assert memory.view("answers")[:done].tolist() == right


def edges(bits: int) -> list[int]:
    """Return masks with a single cell, runs from either end, and what else carries and borrows go wrong on."""
    every = 2**bits - 1
    cells = sorted({0, 1, 31, 32, 62, 63, 64, 65, 127, 128, 191, 192, 255, 256, 511, 512, bits - 2, bits - 1})
    cells = [cell for cell in cells if cell < bits]
    found = {0, every, every // 3, every // 3 * 2}
    found |= {1 << cell for cell in cells} | {(1 << cell) - 1 for cell in cells} | {every >> c << c for c in cells}
    return sorted(found)


@pytest.mark.parametrize("bits", MASK_BITS)
def test_every_operation_on_the_edges(bits):
    rng = random.Random(bits)
    masks = edges(bits)
    for a in masks:
        for b in rng.sample(masks, 6):
            check(bits, a, b, rng.choice(NUMBERS), rng.choice((0, 1, rng.randrange(bits), bits - 1)))


@pytest.mark.parametrize("bits", MASK_BITS)
def test_every_operation_on_random_masks(bits):
    rng = random.Random(bits)
    for _ in range(300):
        a, b = (rng.getrandbits(rng.randint(1, bits)) & rng.choice((-1, rng.getrandbits(bits))) for _ in range(2))
        if rng.random() < 0.3:
            b = 2**bits - 1 - b
        number = rng.choice((rng.choice(NUMBERS), rng.randrange(-(2**63), 2**63), a % 2**62))
        check(bits, a, b, number, rng.randrange(bits))


@pytest.mark.skipif(not IS_PLAIN, reason="compiled masks look at nothing")
def test_mask_operations_missing_in_compiled_code_are_errors_in_plain_python():
    from nonobot.bot.kernels.interpreter import mask_kind

    mask = mask_kind(128)(0b101)
    for places in (-1, 128, 1000):
        with pytest.raises(ValueError, match="128"):
            mask << places
        with pytest.raises(ValueError, match="128"):
            mask >> places
    with pytest.raises(TypeError, match="64"):
        mask | mask_kind(64)(1)
    with pytest.raises(TypeError):
        mask & 1.5
    assert (mask == 5, mask != 5, mask == np.int64(5), mask == 5.0) == (True, False, True, False)
    assert (mask.bit_count(), mask.bit_length(), int(-mask)) == (2, 3, 2**128 - 5)
    assert repr(mask) == "<0, 2>"
    assert {type(mask + 1), type(1 + mask), type(~mask), type(mask << 1)} == {mask_kind(128)}


def test_the_clock_is_that_of_time_monotonic_ns():
    before = time.monotonic_ns()
    now = int(clock())
    assert before <= now <= time.monotonic_ns()
