"""The memory: what a kernel puts into a field is what it and Python get out, and no field lies on another."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from nonobot.bot.champion import state
from nonobot.bot.memory import Field, Layout, Memory
from tests import word_kernels as kernels
from tests.plain import IS_PLAIN, passes_as_plain_python

pytestmark = pytest.mark.xdist_group("word kernels")  # one process compiles them

u64, i64 = np.uint64, np.int64

WIDTHS = (8, 16, 32, 64)
POWERS = [sign * 2**bits for bits in (7, 8, 15, 16, 31, 32, 63) for sign in (1, -1)]
EDGES = sorted({0, 1, -1, 2, *(power + by for power in POWERS for by in (-1, 0, 1))})
NUMBERS = (0.0, -0.0, 1.5, -2.25, 1 / 3, 1e-40, 1e300, float("inf"))


def cut(value: int, bits: int, *, signed: bool) -> int:
    """Return what is left of a number in a field of so many bits."""
    value &= 2**bits - 1
    return value - 2**bits if signed and value >> (bits - 1) else value


def words_of(value: int) -> tuple[np.uint64, np.int64]:
    """Return a number as it is put into unsigned and into signed fields; plain Python cuts nothing off."""
    bits = min(WIDTHS) if IS_PLAIN else 64
    return u64(cut(value, bits, signed=False)), i64(cut(value, bits, signed=True))


def same(found: tuple, value: int, number: float) -> None:
    unsigned, signed, narrow, wide = found
    for each, kind, is_signed in zip((unsigned, signed), words_of(value), (False, True), strict=True):
        assert tuple(map(int, each)) == tuple(cut(int(kind), bits, signed=is_signed) for bits in WIDTHS)
    with np.errstate(over="ignore"):
        assert (narrow, wide) == (np.float32(number), number)
    assert np.signbit(wide) == np.signbit(number)


@pytest.fixture
def memory() -> Memory:
    return Memory(kernels.layout)


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize("value", EDGES)
def test_a_row_gives_back_what_was_put_in_cut_and_extended_to_64_bits(memory, value):
    number = NUMBERS[value % len(NUMBERS)]
    for i in range(kernels.MANY):
        kernels.put_in_row(memory.address, u64(i), *words_of(value + i), number)
    for i in range(kernels.MANY):
        same(kernels.get_from_row(memory.address, u64(i)), value + i, number)


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize("value", EDGES)
def test_a_table_gives_back_what_was_put_in(memory, value):
    number = NUMBERS[value % len(NUMBERS)]
    places = [(row, i) for row in range(kernels.ROWS) for i in range(kernels.IN_A_ROW)]
    for row, i in places:
        kernels.put_in_table(memory.address, u64(row), u64(i), *words_of(value + 10 * row + i), number)
    for row, i in places:
        same(kernels.get_from_table(memory.address, u64(row), u64(i)), value + 10 * row + i, number)


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize("value", EDGES)
def test_a_single_item_gives_back_what_was_put_in(memory, value):
    number = NUMBERS[value % len(NUMBERS)]
    kernels.write_one(memory.address, *words_of(value), number)
    same(kernels.read_one(memory.address), value, number)


def test_items_come_out_as_64_bit_words_and_floats_as_they_are(memory):
    unsigned, signed, narrow, wide = kernels.get_from_row(memory.address, u64(0))
    if IS_PLAIN:
        assert {type(item) for item in unsigned} == {np.uint64}
        assert {type(item) for item in signed} == {np.int64}
        assert (type(narrow), type(wide)) == (np.float32, np.float64)
        return
    from numba.core import types

    returned = kernels.get_from_row.nopython_signatures[0].return_type
    assert [set(returned[0]), set(returned[1])] == [{types.uint64}, {types.int64}]
    assert (returned[2], returned[3]) == (types.float32, types.float64)


@pytest.mark.parametrize("fields", [kernels.ROW_FIELDS, kernels.TABLE_FIELDS, kernels.ONE_FIELDS])
def test_a_view_is_the_memory_that_kernels_see(memory, fields):
    rng = np.random.default_rng(1)
    for field in fields:
        view = memory.view(field)
        assert (view.dtype, view.shape) == (field.dtype, field.shape)
        assert not view.any()
        view[...] = rng.integers(0, 100, field.shape)
    for i in range(kernels.MANY):
        found = kernels.get_from_row(memory.address, u64(i))
        assert [*found[0], *found[1], *found[2:]] == [memory.view(field)[i] for field in kernels.ROW_FIELDS]
    for row in range(kernels.ROWS):
        for i in range(kernels.IN_A_ROW):
            found = kernels.get_from_table(memory.address, u64(row), u64(i))
            right = [memory.view(field)[row, i] for field in kernels.TABLE_FIELDS]
            assert [*found[0], *found[1], *found[2:]] == right
    found = kernels.read_one(memory.address)
    assert [*found[0], *found[1], *found[2:]] == [memory.view(field)[0] for field in kernels.ONE_FIELDS]


def test_putting_an_item_changes_no_other(memory):
    every = (*kernels.ROW_FIELDS, *kernels.TABLE_FIELDS, *kernels.ONE_FIELDS)
    for field in every:
        memory.view(field)[...] = 99
    before = {field: memory.view(field).copy() for field in every}
    kernels.put_in_row(memory.address, u64(3), u64(5), i64(5), 5.0)
    kernels.put_in_table(memory.address, u64(2), u64(1), u64(5), i64(5), 5.0)
    kernels.write_one(memory.address, u64(5), i64(5), 5.0)
    for fields, place in ((kernels.ROW_FIELDS, 3), (kernels.TABLE_FIELDS, (2, 1)), (kernels.ONE_FIELDS, 0)):
        for field in fields:
            before[field][place] = 5
    for field in every:
        assert np.array_equal(memory.view(field), before[field])


def test_another_field_at_the_same_place_sees_the_same_bytes(memory):
    for i, value in enumerate((0, 127, 128, 200, 255, 1)):
        signed, pair = kernels.aliases(memory.address, u64(i), u64(value))
        bytes_ = memory.view(kernels.ROW_U1).astype(int)
        assert signed == cut(value, 8, signed=True)
        assert pair == int.from_bytes(bytes(bytes_[i // 2 * 2 : i // 2 * 2 + 2].tolist()), "little")


def test_addresses_are_those_of_the_views(memory):
    for i in range(kernels.MANY):
        found = [int(each) for each in kernels.addresses(memory.address, u64(i))]
        views = [memory.view(f) for f in (kernels.ROW_U1, kernels.ROW_F4, kernels.TABLE_I8, kernels.ONE_U1)]
        right = [view.ctypes.data + i * view.itemsize for view in views[:3]] + [views[3].ctypes.data]
        assert found == right


def test_two_memories_of_one_layout_have_nothing_in_common():
    one, other = Memory(kernels.layout), Memory(kernels.layout)
    kernels.put_in_row(one.address, u64(0), u64(9), i64(9), 9.0)
    assert not any(memory.any() for memory in (other.view(field) for field in kernels.ROW_FIELDS))


# Layouts


def spans(fields: list[Field]) -> list[tuple[int, int]]:
    return sorted((f.offset, f.offset + int(np.prod(f.shape)) * f.dtype.itemsize) for f in fields)


def test_each_field_begins_on_a_cache_line_behind_the_one_before():
    layout = Layout()
    fields = [layout.field(dtype, *shape) for dtype in ("u1", "f4", "i8") for shape in ((), (1,), (64,), (65, 3))]
    for (_, end), (begin, _) in pairwise(spans(fields)):
        assert end <= begin < end + 64
    assert all(field.offset % 64 == 0 for field in fields)
    assert layout.size % 64 == 0
    assert layout.size >= spans(fields)[-1][1]
    memory = Memory(layout)
    assert int(memory.address) % 64 == 0
    assert all(memory.view(field).ctypes.data % 64 == 0 for field in fields)


def test_the_row_of_a_field_is_its_last_dimension():
    layout = Layout()
    assert [layout.field("u1", *shape).row for shape in ((), (5,), (5, 3))] == [1, 5, 3]


ALIASES = {"SIZE": "CLUE", "VALUE_PAIR": "VALUE"}
"""Fields of the champion's state that lie on another on purpose."""

STATE = {name: value for name, value in vars(state).items() if isinstance(value, Field)}


def test_no_field_of_the_champions_state_lies_on_another():
    assert len(STATE) > 50
    own = spans([field for name, field in STATE.items() if name not in ALIASES])
    for (_, end), (begin, _) in pairwise(own):
        assert end <= begin
    assert own[-1][1] <= state.layout.size


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_covers_exactly_the_field_it_is_another_name_of(alias):
    assert spans([STATE[alias]]) == spans([STATE[ALIASES[alias]]])


def test_the_champions_state_has_room_for_the_longest_boards():
    longest = state.LONGEST_LINE
    # k blocks of one cell leave longest + 1 - 2k places to move; each has so many bound variables.
    bounds = max(k * (longest + 1 - 2 * k) for k in range(1, longest // 2 + 2))
    variables = longest**2 + 2 * longest * bounds
    assert variables <= state.MOST_VARIABLES < 2**16  # EVENT_OF is 16 bits wide
    assert (longest + 1) // 2 <= state.MOST_BLOCKS
    assert longest + 1 <= state.ROW
    assert len(state.COUNT_NAMES) == state.COUNTS.shape[0]


def test_the_same_as_plain_python():
    passes_as_plain_python("tests/test_memory.py")
