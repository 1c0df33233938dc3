"""Kernels that tests of the memory, of masks and of vectors call; compiled once and kept with the bot's own.

Numba's cache of a kernel sees this file alone, but `entry` keeps it in a folder named after all of `bot`.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from nonobot.bot.kernels.compiling import entry, kernel
from nonobot.bot.kernels.language import first_above, now_ns, prefetch
from nonobot.bot.kernels.masks import count, fill_down, highest, lowest
from nonobot.bot.kernels.memory import Struct, f4, f8, i1, i2, i4, i8, mask_of, u1, u2, u4, u8
from nonobot.bot.kernels.vectors import (
    at_least,
    at_most,
    load16,
    load32,
    load64,
    rotate_down,
    rotate_up,
    select,
    splat16,
    splat32,
    splat64,
    store,
)

# The memory: items of every kind, in a row, as a table, alone, in a struct, and in records.

MANY = 7
ROWS, IN_A_ROW = 5, 3

ITEMS = {"u1": u1, "u2": u2, "u4": u4, "u8": u8, "i1": i1, "i2": i2, "i4": i4, "i8": i8, "f4": f4, "f8": f8}
ONES = Struct("Ones", **ITEMS)
RECORD = Struct("TestRecord", tag=i1, wide=i8, weight=f8, tail=u2[3])
EVERYTHING = Struct(
    "Everything",
    row_u1=u1[MANY],
    row_i1=i1[MANY],
    row_i2=i2[MANY],
    row_i4=i4[MANY],
    **{f"table_{kind}": item[ROWS, IN_A_ROW] for kind, item in ITEMS.items()},
    ones=ONES,
    signed_u1=i1[MANY].over("row_u1"),  # row_u1 again, signed
    pairs=u2[MANY // 2].over("row_u1"),  # and two items at once
    records=RECORD[MANY],
    overlapping=RECORD[4].over("records", 8),
    seven=i4.constant(7),
    left=i1[ROWS, 8],
    right=i1[ROWS, 8],
)

TABLE_FIELDS = tuple(f"table_{kind}" for kind in ITEMS)
ONE_FIELDS = tuple(f"ones.{kind}" for kind in ITEMS)


@entry
def put_in_table(m, row, i, unsigned, signed, number):
    m.table_u1[row, i] = unsigned
    m.table_u2[row, i] = unsigned
    m.table_u4[row, i] = unsigned
    m.table_u8[row, i] = unsigned
    in_row = m.table_i1[row]
    in_row[i] = signed
    m.table_i2[row, i] = signed
    m.table_i4[row, i] = signed
    m.table_i8[row, i] = signed
    m.table_f4[row, i] = np.float32(number)
    m.table_f8[row, i] = number


@entry
def get_from_table(m, row, i):
    in_row = m.table_u2[row]
    unsigned = m.table_u1[row, i], in_row[i], m.table_u4[row, i], m.table_u8[row, i]
    signed = m.table_i1[row, i], m.table_i2[row, i], m.table_i4[row, i], m.table_i8[row][i]
    return unsigned, signed, m.table_f4[row, i], m.table_f8[row, i]


@entry
def write_ones(m, unsigned, signed, number):
    ones = m.ones
    ones.u1 = unsigned
    ones.u2 = unsigned
    ones.u4 = unsigned
    ones.u8 = unsigned
    ones.i1 = signed
    ones.i2 = signed
    m.ones.i4 = signed
    m.ones.i8 = signed
    m.ones.f4 = np.float32(number)
    m.ones.f8 = number


@entry
def read_ones(m):
    ones = m.ones
    unsigned = ones.u1, ones.u2, ones.u4, ones.u8
    signed = ones.i1, ones.i2, m.ones.i4, m.ones.i8
    return unsigned, signed, m.ones.f4, m.ones.f8


@entry
def add_up(m, i, number):
    """Do arithmetic in place, on items of a few bits."""
    m.ones.i2 += number
    m.ones.u1 -= number
    m.ones.f8 /= 4.0
    m.row_i2[i] |= number
    m.table_i4[2, i] *= number
    return m.seven + number


@entry
def aliases(m, i, value):
    """Put `value` as an unsigned byte; return it signed, and the pair of bytes it lies in."""
    m.row_u1[i] = value
    return m.signed_u1[i], m.pairs[i >> 1]


@entry
def set_record(m, index, tag, wide, weight):
    record = m.records[index]
    prefetch(record)
    record.tag = tag
    record.wide = wide
    m.records[index].weight = weight
    for i in range(3):
        record.tail[i] = tag + i


@entry
def copy_record(m, to, index):
    """Copy a record; what was taken of the one before is a reference, and sees it."""
    before = m.records[to]
    m.records[to] = m.records[index]
    return before.tag, before.wide, before.weight, before.tail[2]


@entry
def overlapping_tag(m, index):
    return m.overlapping[index].tag


@entry
def find_above(m, row, value, end):
    return first_above(m.left[row], m.right[row], value, end)


@entry
def misspelt_member(m):
    return m.tabel_u1[0, 0]


@entry
def misspelt_in_record(m):
    return m.records[0].weihgt


@entry
def misspelt_to_set(m):
    m.sevven = 3


@entry
def float_for_whole_number(m):
    m.row_i4[0] = 1.5


@entry
def float_for_whole_member(m):
    m.ones.i4 = 1.5


# Masks. The results of all operations go to `results`, and those that are numbers to `answers`.


@cache
def masks_map(bits: int) -> Struct:
    mask = mask_of(bits)
    return Struct(
        f"TestMasks{bits}",
        none=mask.constant(0),
        one=mask.constant(1),
        a=mask,
        b=mask,
        number=i8,
        places=i8,
        results=mask[40],
        answers=i8[20],
    )


@entry
def compute_masks(m):
    a, b, number, places = m.a, m.b, m.number, m.places
    index = 0
    for result in (
        a & b, a | b, a ^ b, a + b, a - b, ~a, a << places, a >> places,
        a & number, a | number, a ^ number, a + number, a - number, number & a, number | a, number ^ a, number + a,
        number - a, a - (number > 1), m.none - (number > 1), (m.one << places) - 1,
    ):  # fmt: skip
        m.results[index] = result
        index += 1
    m.results[index] = number
    c = a
    c &= b
    m.results[index + 1] = c
    c = a
    c |= b
    m.results[index + 2] = c
    c = a
    c <<= places
    m.results[index + 3] = c
    m.results[index + 4] = fill_down(a, b)
    return index + 5


@entry
def ask_masks(m):
    a, b, number = m.a, m.b, m.number
    index = 0
    for answer in (
        a == b, a != b, a == number, number == a, a != number, number != a, bool(a), not a, not a & b, bool(a | b),
    ):  # fmt: skip
        m.answers[index] = answer
        index += 1
    m.answers[index] = 1 if a else 0
    m.answers[index + 1] = 1 if a and b else 0
    m.answers[index + 2] = count(a)
    m.answers[index + 3] = lowest(a) if a else -1
    m.answers[index + 4] = highest(a) if a else -1
    cells = 0
    while a:
        cells += lowest(a) + 1
        a &= a - 1
    m.answers[index + 5] = cells
    return index + 6


# Vectors. All results of an operation go to the next place of `out`.

BINARY = ("add", "sub", "mul", "div", "at_least", "at_most")
PLACES = (1, 2, 4, 8, 16, 32)
RESULTS = len(BINARY) + 1 + 2 * len(PLACES) + 1


@cache
def vectors_map(bits: int) -> Struct:
    return Struct(f"TestVectors{bits}", chosen=mask_of(bits), given=f4[256], out=f4[64 * (RESULTS + 2)])


@kernel
def _operate(out, start, a, b, bits, same):
    lanes = 16 if start == 17 else 32 if start == 33 else 64
    for result in (
        a + b, a - b, a * b, a / b, at_least(a, b), at_most(a, b), select(bits, a, b),
        rotate_up(a, 1), rotate_up(a, 2), rotate_up(a, 4), rotate_up(a, 8), rotate_up(a, 16), rotate_up(a, 32),
        rotate_down(a, 1), rotate_down(a, 2), rotate_down(a, 4), rotate_down(a, 8), rotate_down(a, 16),
        rotate_down(a, 32), same,
    ):  # fmt: skip
        store(out, start, result)
        start += lanes


# Neither the operands nor the results begin at the start of a vector's worth of bytes.


@entry
def operate16(m, same):
    _operate(m.out, 17, load16(m.given, 1), load16(m.given, 17), m.chosen, splat16(same))


@entry
def operate32(m, same):
    _operate(m.out, 33, load32(m.given, 1), load32(m.given, 33), m.chosen, splat32(same))


@entry
def operate64(m, same):
    _operate(m.out, 65, load64(m.given, 1), load64(m.given, 65), m.chosen, splat64(same))


# The clock.


@entry
def clock():
    return now_ns()
