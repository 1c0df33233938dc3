"""Vector operations against numpy's float32, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from nonobot.bot.kernels.memory import Memory
from tests.boards import put_mask
from tests.language_kernels import PLACES, RESULTS, operate16, operate32, operate64, vectors_map
from tests.plain import passes_as_plain_python

OPERATE = {16: operate16, 32: operate32, 64: operate64}
MEMORY = Memory(vectors_map(64))

SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-38, 3e38, -3e38, 1e-20, 1e20, 1 / 3, 7.0],
    np.float32,
)


def operate(
    lanes: int, a: np.ndarray, b: np.ndarray, bits: int, same: np.float32, memory: Memory = MEMORY
) -> np.ndarray:
    """Return the results of all operations, one row each, in the order of `expected`."""
    put_mask(memory.view("chosen"), 0, bits)
    memory.view("given")[1 : 2 * lanes + 1] = np.concatenate((a, b))
    room = memory.view("out")
    room.fill(77)
    OPERATE[lanes](memory, same)
    end = lanes + 1 + RESULTS * lanes
    assert (room[: lanes + 1] == 77).all()
    assert (room[end:] == 77).all()
    assert end < room.size
    return room[lanes + 1 : end].reshape(RESULTS, lanes).copy()


def expected(lanes: int, a: np.ndarray, b: np.ndarray, bits: int, same: np.float32) -> np.ndarray:
    chosen = np.array([bits >> lane & 1 for lane in range(lanes)], bool)
    with np.errstate(all="ignore"):
        rows = [a + b, a - b, a * b, a / b, np.where(a > b, a, b), np.where(a < b, a, b), np.where(chosen, a, b)]
    rows += [np.roll(a, places) for places in PLACES] + [np.roll(a, -places) for places in PLACES]
    return np.array([*rows, np.full(lanes, same)], np.float32)


def compare(
    lanes: int, a: np.ndarray, b: np.ndarray, bits: int, same: np.float32, memory: Memory = MEMORY
) -> None:
    found, right = operate(lanes, a, b, bits, same, memory), expected(lanes, a, b, bits, same)
    is_nan = np.isnan(right)
    assert np.array_equal(np.isnan(found), is_nan)
    assert np.array_equal(found.view(np.uint32)[~is_nan], right.view(np.uint32)[~is_nan])


@pytest.mark.parametrize("lanes", OPERATE)
def test_random_floats(lanes):
    rng = np.random.default_rng(lanes)
    for _ in range(200):
        # Random bits: every exponent is as likely as any other, infinities and NaN come up too.
        every = rng.integers(0, 2**32, (2, lanes), np.uint32).view(np.float32)
        of_odds = np.exp(rng.normal(0, 4, (2, lanes))).astype(np.float32)
        for a, b in (every, of_odds):
            compare(lanes, a, b, int(rng.integers(0, 2**64, dtype=np.uint64)), np.float32(rng.normal()))


@pytest.mark.parametrize("lanes", OPERATE)
@pytest.mark.parametrize("turn", range(len(SPECIAL)))
def test_every_pair_of_special_floats(lanes, turn):
    a = np.resize(SPECIAL, lanes)
    compare(lanes, a, np.roll(a, turn), 0, SPECIAL[turn])


@pytest.mark.parametrize("lanes", OPERATE)
def test_select_takes_each_lane_by_its_bit_and_ignores_the_bits_beyond(lanes):
    a, b = np.arange(lanes, dtype=np.float32), -1 - np.arange(lanes, dtype=np.float32)
    for lane in range(lanes):
        compare(lanes, a, b, 1 << lane, np.float32(0))
        compare(lanes, a, b, ~(1 << lane) & (2**64 - 1), np.float32(0))
    for bits in (0, 2**64 - 1, (1 << lanes) - 1, (2**64 - 1) >> lanes << lanes):
        compare(lanes, a, b, bits, np.float32(0))


def test_select_ignores_the_bits_of_wider_masks():
    memory, rng = Memory(vectors_map(256)), np.random.default_rng(256)
    a, b = np.arange(64, dtype=np.float32), -1 - np.arange(64, dtype=np.float32)
    for _ in range(20):
        compare(64, a, b, int.from_bytes(rng.bytes(32), "little"), np.float32(1), memory)


def test_the_same_as_plain_python():
    passes_as_plain_python("tests/test_vectors.py")
