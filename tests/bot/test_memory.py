"""The memory: a kernel and Python get out what was put in, and no field lies on another; vectors."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from nonobot.bot.champion.state import LARGE, PART, SMALL, champion_map
from nonobot.bot.kernels.memory import MASK_BITS, Array, Constant, Item, Memory, Struct, i8, mask_of
from tests.helpers import language_kernels as kernels
from tests.helpers.boards import mask_in, put_mask
from tests.helpers.language_kernels import PLACES, RESULTS, operate16, operate32, operate64, vectors_map
from tests.helpers.places import REPOSITORY
from tests.helpers.plain import IS_PLAIN

WIDTHS = (8, 16, 32, 64)
POWERS = [sign * 2**bits for bits in (7, 8, 15, 16, 31, 32, 63) for sign in (1, -1)]
EDGES = sorted({0, 1, -1, 2, *(power + by for power in POWERS for by in (-1, 0, 1))})
NUMBERS = (0.0, -0.0, 1.5, -2.25, 1 / 3, 1e-40, 1e300, float("inf"))


def cut(value: int, bits: int, *, signed: bool) -> int:
    """Return what is left of a number in a field of so many bits."""
    value &= 2**bits - 1
    return value - 2**bits if signed and value >> (bits - 1) else value


def words_of(value: int) -> tuple[np.uint64, np.int64]:
    """Return a number as it is put into unsigned and into signed fields."""
    return np.uint64(cut(value, 64, signed=False)), np.int64(cut(value, 64, signed=True))


def same(found: tuple, value: int, number: float) -> None:
    unsigned, signed, narrow, wide = found
    for items, kind, is_signed in zip((unsigned, signed), words_of(value), (False, True), strict=True):
        assert tuple(map(int, items)) == tuple(cut(int(kind), bits, signed=is_signed) for bits in WIDTHS)
    with np.errstate(over="ignore"):
        assert (narrow, wide) == (np.float32(number), number)
    assert np.signbit(wide) == np.signbit(number)


@pytest.fixture
def memory() -> Memory:
    return Memory(kernels.EVERYTHING)


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize("value", EDGES)
def test_items_are_truncated_when_stored_and_extended_to_64_bits_when_read(memory, value):
    number = NUMBERS[value % len(NUMBERS)]
    places = [(row, i) for row in range(kernels.ROWS) for i in range(kernels.IN_A_ROW)]
    for row, i in places:
        kernels.put_in_table(memory, row, i, *words_of(value + 10 * row + i), number)
    kernels.write_ones(memory, *words_of(value), number)
    for row, i in places:
        same(kernels.get_from_table(memory, row, i), value + 10 * row + i, number)
    same(kernels.read_ones(memory), value, number)


def test_items_are_read_as_int64_except_uint64_and_floats(memory):
    unsigned, signed, narrow, wide = kernels.get_from_table(memory, 0, 0)
    if IS_PLAIN:
        assert [type(item) for item in (*unsigned, *signed)] == [int, int, int, np.uint64, int, int, int, int]
        assert (type(narrow), type(wide)) == (np.float32, np.float64)
        return
    from numba import types

    returned = kernels.get_from_table.nopython_signatures[0].return_type
    assert [*returned[0], *returned[1]] == [types.int64] * 3 + [types.uint64] + [types.int64] * 4
    assert (returned[2], returned[3]) == (types.float32, types.float64)


@pytest.mark.parametrize(
    ("fields", "shape"),
    [(kernels.TABLE_FIELDS, (kernels.ROWS, kernels.IN_A_ROW)), (kernels.ONE_FIELDS, (1,))],
)
def test_a_view_is_the_memory_that_kernels_see(memory, fields, shape):
    rng = np.random.default_rng(1)
    for field in fields:
        view = memory.view(field)
        assert (view.dtype, view.shape) == (np.dtype(field[-2:]), shape)
        assert not view.any()
        view[...] = rng.integers(0, 100, view.shape)
    for row in range(kernels.ROWS):
        for i in range(kernels.IN_A_ROW):
            found = kernels.get_from_table(memory, row, i)
            right = [memory.view(field)[row, i] for field in kernels.TABLE_FIELDS]
            assert [*found[0], *found[1], *found[2:]] == right
    found = kernels.read_ones(memory)
    assert [*found[0], *found[1], *found[2:]] == [memory.view(field)[0] for field in kernels.ONE_FIELDS]


def test_arithmetic_is_cut_to_the_item_and_another_field_sees_the_same_bytes(memory):
    memory.view("ones.i2")[0], memory.view("ones.u1")[0], memory.view("ones.f8")[0] = 32_767, 2, 10.0
    memory.view("row_i2")[1], memory.view("table_i4")[2, 1] = 0x40, -3
    assert kernels.add_up(memory, 1, 5) == 12
    found = [memory.view(name)[0] for name in ("ones.i2", "ones.u1", "ones.f8")]
    assert found == [32_772 - 65_536, 2 - 5 + 256, 2.5]
    assert (memory.view("row_i2")[1], memory.view("table_i4")[2, 1]) == (0x45, -15)
    for i, value in enumerate((0, 127, 128, 200, 255, 1)):
        signed, pair = kernels.aliases(memory, i, value)
        bytes_ = memory.view("row_u1").astype(int)
        assert signed == cut(value, 8, signed=True)
        assert pair == int.from_bytes(bytes(bytes_[i // 2 * 2 : i // 2 * 2 + 2].tolist()), "little")


def test_records_are_copied_whole_and_sums_of_rows_found(memory):
    for number in range(kernels.MANY):
        kernels.set_record(memory, number, number - 3, 10**12 + number, number / 8)
    records = memory.view("records")
    assert records["tag"].tolist() == [number - 3 for number in range(kernels.MANY)]
    assert records["wide"].tolist() == [10**12 + number for number in range(kernels.MANY)]
    assert records["weight"].tolist() == [number / 8 for number in range(kernels.MANY)]
    assert records["tail"][5].tolist() == [2, 3, 4]
    assert kernels.copy_record(memory, 1, 6) == (3, 10**12 + 6, 0.75, 5)
    assert records["tag"].tolist() == [-3, 3, -1, 0, 1, 2, 3]
    assert records[1] == records[6]
    # Behind the tag there is room up to the next number of 8 bytes.
    assert kernels.overlapping_tag(memory, 0) == -3
    assert kernels.overlapping_tag(memory, 1) == cut((10**12) & 255, 8, signed=True)
    rng = np.random.default_rng(2)
    for _ in range(300):
        row = int(rng.integers(kernels.ROWS))
        left, right = memory.view("left")[row], memory.view("right")[row]
        left[:], right[:] = np.sort(rng.integers(0, 50, 8)), np.sort(rng.integers(0, 13, 8))
        end, value = int(rng.integers(9)), int(rng.integers(-1, 64))
        sums = (left.astype(int) + right)[:end]
        right = int(np.argmax(sums > value)) if (sums > value).any() else end
        assert kernels.find_above(memory, row, value, end) == right


# What the language refuses


@pytest.mark.parametrize(
    ("kernel", "wrong", "right"),
    [
        (kernels.misspelt_member, "tabel_u1", "table_u1"),
        (kernels.misspelt_in_record, "weihgt", "weight"),
        (kernels.misspelt_to_set, "sevven", "seven"),
    ],
)
def test_a_misspelt_member_is_named_with_its_place_and_the_nearest(memory, kernel, wrong, right):
    with pytest.raises(Exception, match=f"no member '{wrong}'; similar: {right}") as caught:
        kernel(memory)
    if IS_PLAIN:
        assert isinstance(caught.value, AttributeError)
        where = [(str(entry.path), entry.name) for entry in caught.traceback]
        assert any(path.endswith("language_kernels.py") and name == kernel.__name__ for path, name in where)
        return
    function = kernel.py_func
    place = f'language_kernels.py", line {function.__code__.co_firstlineno + 2}'
    assert place in str(caught.value), caught.value


def test_a_float_is_not_cut_to_a_whole_number(memory):
    with pytest.raises(Exception, match="whole numbers are"):
        kernels.float_for_whole_number(memory)
    if IS_PLAIN:  # numba casts what is put into a member before we see it
        with pytest.raises(TypeError, match="whole numbers are"):
            kernels.float_for_whole_member(memory)


@pytest.mark.skipif(not IS_PLAIN, reason="a compiled kernel looks at nothing")
def test_in_plain_python_an_index_out_of_range_is_an_error():
    from nonobot.bot.kernels.interpreter import memory_at

    memory = Memory(kernels.EVERYTHING)
    m = memory_at(memory.struct, memory.address)
    for index in (-1, kernels.MANY, (kernels.ROWS, 0), (0, kernels.IN_A_ROW), (0, -1)):
        with pytest.raises(IndexError):
            (m.table_i1 if isinstance(index, tuple) else m.row_i1)[index]
    with pytest.raises(TypeError, match="row"):
        m.table_i1[1] = 3
    with pytest.raises(TypeError, match="single item"):
        m.row_i1 = 3
    with pytest.raises(TypeError, match="TestRecord"):
        m.records[0] = 3
    m.records[2].tag = 5
    assert repr(m.records[2]) == "TestRecord(tag=5, wide=0, weight=0.0)".replace("0.0", repr(np.float64(0)))
    assert repr(m.row_i1).startswith("<(7,): 0, 0, 0")
    assert "records" in dir(m)


# Maps


def base_of(layout: Array | Constant | Item | Struct) -> str | None:
    return layout.base if isinstance(layout, Array) else None


def spans(struct: Struct, names: list[str]) -> list[tuple[int, int]]:
    members = (struct.members[name] for name in names)
    return sorted((offset, offset + layout.size) for offset, layout in members)


MAPS = {"everything": kernels.EVERYTHING} | {f"{bits}": champion_map(bits) for bits in MASK_BITS}


@pytest.mark.parametrize("name", MAPS)
def test_members_have_room_of_their_own_and_long_ones_begin_on_a_cache_line(name):
    struct = MAPS[name]
    memory = Memory(struct)
    assert memory.address % 64 == 0
    shared = [
        name for name, (_, layout) in struct.members.items() if isinstance(layout, Constant) or base_of(layout)
    ]
    own = spans(struct, [name for name in struct.members if name not in shared])
    assert all(end <= begin for (_, end), (begin, _) in pairwise(own))
    assert own[-1][1] <= struct.size
    for member, (offset, layout) in struct.members.items():
        if isinstance(layout, Constant | Struct) or member == "literals":
            continue
        view = memory.view(member)
        assert view.ctypes.data == memory.address + offset
        assert offset % (64 if layout.size > 64 else view.itemsize) == 0 or member in OVERLAYS
        assert memory.count(member) == view.shape[0]
        if not view.dtype.fields and member not in OVERLAYS:
            assert memory.items(member).nbytes == view.nbytes


@pytest.mark.parametrize("bits", MASK_BITS)
def test_masks_are_numbers_of_any_width(bits):
    memory = Memory(Struct(f"Masks{bits}", sides=Struct(f"Sides{bits}", masks=mask_of(bits)[3])))
    masks = [1, 2**bits - 1, 2 ** (bits - 1) + 6]
    memory.put_masks("sides.masks", masks)
    assert memory.masks("sides.masks", 3) == [mask_in(view) for view in memory.view("sides.masks")] == masks
    memory.put_masks("sides.masks", [5])
    assert memory.masks("sides.masks", 2) == [5, 2**bits - 1]


def test_a_memory_grows_in_parts_up_to_its_limit():
    with pytest.raises(MemoryError):
        Memory(Struct("Endless", items=i8[1 << 58]))
    memory = Memory(champion_map(64, SMALL), PART.root)
    memory.items("width")[0] = 25
    memory.items("fits")[-1] = 7
    for end in (PART.trace, None):
        memory.extend(end)
        assert (memory.items("width")[0], memory.items("fits")[-1]) == (25, 7)
        memory.items("trace_events")[-1] = 3
    memory.extend(PART.root)
    assert memory.items("trace_events")[-1] == 3
    assert not any(memory.items("arena")[-100:])


OVERLAYS = {"value_pair": "value", "clause": "arena"}
"""Members of the champion's memory that lie on another on purpose."""


SIZES = [*((bits, LARGE) for bits in MASK_BITS), *((bits, SMALL) for bits in (64, 128, 256))]


@pytest.mark.parametrize(("bits", "room"), SIZES)
def test_an_overlay_has_exactly_the_extent_of_its_member(bits, room):
    struct = champion_map(bits, room)
    found = {name: base_of(layout) for name, (_, layout) in struct.members.items() if base_of(layout)}
    assert found == OVERLAYS
    for name, base in OVERLAYS.items():
        assert spans(struct, [name]) == spans(struct, [base])


@pytest.mark.parametrize(("bits", "room"), SIZES)
def test_the_champions_memory_has_room_for_the_longest_boards(bits, room):
    struct = champion_map(bits, room)
    arrays = {name: layout for name, (_, layout) in struct.members.items() if isinstance(layout, Array)}
    shapes = {name: layout.shape for name, layout in arrays.items()}
    kinds = {name: layout.item.code for name, layout in arrays.items() if isinstance(layout.item, Item)}
    longest = bits - 2
    # k blocks of one cell leave longest + 1 - 2k places to move; each has so many bound variables.
    bounds = max(k * (longest + 1 - 2 * k) for k in range(1, longest // 2 + 2))
    variables = min(longest**2 + 2 * longest * bounds, room.variables)
    most = struct.members["most_variables"].layout.value
    assert variables <= most <= room.variables
    if bits == 64:
        assert most < room.variables

    def highest(kind: str) -> int:
        return 2 ** (8 * int(kind[1]) - (kind[0] == "i")) - 1

    assert most <= min(highest(kinds[name]) for name in ("event_level", "event_of"))
    assert 2 * longest - 1 <= highest(kinds["bound_line"])
    of_one_line = ("clue", "first", "last", "earliest", "latest", "zeros")
    for name in (*of_one_line, "bound_place", "event_old", "row_of", "column_of"):
        assert longest <= highest(kinds[name])
    assert shapes["clue"][1] == shapes["bound_base"][1] >= (longest + 1) // 2
    assert shapes["clue"][1] & (shapes["clue"][1] - 1) == 0  # see first_above
    assert shapes["told"][1] >= longest + 1
    assert shapes["trail"][0] > most
    assert shapes["value"][0] == 2 * most


# Vector operations against numpy's float32, bit for bit


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
def test_float_operations_match_the_reference_on_random_floats(lanes):
    rng = np.random.default_rng(lanes)
    for _ in range(200):
        # Random bits: every exponent is as likely as any other, infinities and NaN come up too.
        every = rng.integers(0, 2**32, (2, lanes), np.uint32).view(np.float32)
        of_odds = np.exp(rng.normal(0, 4, (2, lanes))).astype(np.float32)
        for a, b in (every, of_odds):
            compare(lanes, a, b, int(rng.integers(0, 2**64, dtype=np.uint64)), np.float32(rng.normal()))


@pytest.mark.parametrize("lanes", OPERATE)
@pytest.mark.parametrize("turn", range(len(SPECIAL)))
def test_float_operations_match_the_reference_on_every_pair_of_special_floats(lanes, turn):
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


@pytest.mark.slow
@pytest.mark.parametrize("module", ["test_memory", pytest.param("test_masks", marks=pytest.mark.nightly)])
def test_all_kernel_tests_pass_in_plain_python(module):
    options = ["-x", "-n0", "-p", "no:cacheprovider", "-m", "", "-k", "not plain_python"]
    command = [sys.executable, "-m", "pytest", *options, Path(__file__).with_name(f"{module}.py")]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
