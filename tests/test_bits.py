"""Word operations against Python's own integers."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nonobot.bot.bits import ALL_ONES, MASK, i64, u64
from tests.plain import IS_PLAIN, passes_as_plain_python
from tests.word_kernels import bits_of, clock, count_bits

masks = st.integers(1, 2**64 - 1)


def check(mask: int) -> None:
    right = mask.bit_count(), (mask & -mask).bit_length() - 1, mask.bit_length() - 1
    assert tuple(map(int, bits_of(u64(mask)))) == right


@given(masks)
@example(2**63)
@example(2**64 - 1)
def test_any_mask(mask):
    check(mask)


@pytest.mark.parametrize("bit", range(64))
def test_each_bit_alone_and_the_runs_up_to_it_and_from_it(bit):
    check(1 << bit)
    check((2 << bit) - 1)
    check((2**64 - 1) >> bit << bit)


def test_the_empty_mask_has_no_cells():
    assert count_bits(u64(0)) == 0


def test_masks_indices_and_counts_have_one_type():
    assert MASK is u64 is np.uint64
    assert i64 is np.int64
    assert isinstance(ALL_ONES, np.uint64)
    assert int(ALL_ONES) == 2**64 - 1
    if IS_PLAIN:
        assert all(isinstance(each, np.uint64) for each in bits_of(u64(12)))
    else:
        from numba.core import types

        assert set(bits_of.nopython_signatures[0].return_type) == {types.uint64}


def test_the_clock_is_that_of_time_monotonic_ns():
    before = time.monotonic_ns()
    now = int(clock())
    assert before <= now <= time.monotonic_ns()


def test_the_same_as_plain_python():
    passes_as_plain_python("tests/test_bits.py")
