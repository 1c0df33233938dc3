"""Kernels that tests of the memory, of vectors and of words call; compiled once and kept with the bot's own.

Numba's cache of a kernel sees this file alone, but `bot.jit.entry` keeps it in a folder named after all of `bot`.
"""

from __future__ import annotations

import numpy as np

from nonobot.bot.access import address, get, get2, put, put2, read, write
from nonobot.bot.bits import highest_bit, lowest_bit, now_ns, popcount, u64
from nonobot.bot.jit import entry, kernel
from nonobot.bot.memory import Field, Layout
from nonobot.bot.vectors import (
    add,
    at_least,
    at_most,
    div,
    load16,
    load32,
    load64,
    mul,
    rotate_down,
    rotate_up,
    select,
    splat16,
    splat32,
    splat64,
    store,
    sub,
)

# The memory: a field of every dtype, in a row, as a table, and as a single item.

layout = Layout()

MANY = 7
ROWS, IN_A_ROW = 5, 3

ROW_U1, ROW_U2, ROW_U4, ROW_U8 = (layout.field(dtype, MANY) for dtype in ("u1", "u2", "u4", "u8"))
ROW_I1, ROW_I2, ROW_I4, ROW_I8 = (layout.field(dtype, MANY) for dtype in ("i1", "i2", "i4", "i8"))
ROW_F4, ROW_F8 = (layout.field(dtype, MANY) for dtype in ("f4", "f8"))

TABLE_U1, TABLE_U2, TABLE_U4, TABLE_U8 = (layout.field(d, ROWS, IN_A_ROW) for d in ("u1", "u2", "u4", "u8"))
TABLE_I1, TABLE_I2, TABLE_I4, TABLE_I8 = (layout.field(d, ROWS, IN_A_ROW) for d in ("i1", "i2", "i4", "i8"))
TABLE_F4, TABLE_F8 = (layout.field(dtype, ROWS, IN_A_ROW) for dtype in ("f4", "f8"))

ONE_U1, ONE_U2, ONE_U4, ONE_U8 = (layout.field(dtype) for dtype in ("u1", "u2", "u4", "u8"))
ONE_I1, ONE_I2, ONE_I4, ONE_I8 = (layout.field(dtype) for dtype in ("i1", "i2", "i4", "i8"))
ONE_F4, ONE_F8 = (layout.field(dtype) for dtype in ("f4", "f8"))

SIGNED_U1 = Field(ROW_U1.offset, "i1", ROW_U1.shape)  # ROW_U1 again, signed
PAIRS_U2 = Field(ROW_U1.offset, "u2", (MANY // 2,))  # and two items at once

ROW_FIELDS = (ROW_U1, ROW_U2, ROW_U4, ROW_U8, ROW_I1, ROW_I2, ROW_I4, ROW_I8, ROW_F4, ROW_F8)
TABLE_FIELDS = (
    TABLE_U1, TABLE_U2, TABLE_U4, TABLE_U8, TABLE_I1, TABLE_I2, TABLE_I4, TABLE_I8, TABLE_F4, TABLE_F8
)  # fmt: skip
ONE_FIELDS = (ONE_U1, ONE_U2, ONE_U4, ONE_U8, ONE_I1, ONE_I2, ONE_I4, ONE_I8, ONE_F4, ONE_F8)


@entry
def put_in_row(m, i, unsigned, signed, number):
    put(m, ROW_U1, i, unsigned)
    put(m, ROW_U2, i, unsigned)
    put(m, ROW_U4, i, unsigned)
    put(m, ROW_U8, i, unsigned)
    put(m, ROW_I1, i, signed)
    put(m, ROW_I2, i, signed)
    put(m, ROW_I4, i, signed)
    put(m, ROW_I8, i, signed)
    put(m, ROW_F4, i, np.float32(number))
    put(m, ROW_F8, i, number)


@entry
def get_from_row(m, i):
    unsigned = get(m, ROW_U1, i), get(m, ROW_U2, i), get(m, ROW_U4, i), get(m, ROW_U8, i)
    signed = get(m, ROW_I1, i), get(m, ROW_I2, i), get(m, ROW_I4, i), get(m, ROW_I8, i)
    return unsigned, signed, get(m, ROW_F4, i), get(m, ROW_F8, i)


@entry
def put_in_table(m, row, i, unsigned, signed, number):
    put2(m, TABLE_U1, row, i, unsigned)
    put2(m, TABLE_U2, row, i, unsigned)
    put2(m, TABLE_U4, row, i, unsigned)
    put2(m, TABLE_U8, row, i, unsigned)
    put2(m, TABLE_I1, row, i, signed)
    put2(m, TABLE_I2, row, i, signed)
    put2(m, TABLE_I4, row, i, signed)
    put2(m, TABLE_I8, row, i, signed)
    put2(m, TABLE_F4, row, i, np.float32(number))
    put2(m, TABLE_F8, row, i, number)


@entry
def get_from_table(m, row, i):
    unsigned = get2(m, TABLE_U1, row, i), get2(m, TABLE_U2, row, i)
    unsigned_wide = get2(m, TABLE_U4, row, i), get2(m, TABLE_U8, row, i)
    signed = get2(m, TABLE_I1, row, i), get2(m, TABLE_I2, row, i)
    signed_wide = get2(m, TABLE_I4, row, i), get2(m, TABLE_I8, row, i)
    floats = get2(m, TABLE_F4, row, i), get2(m, TABLE_F8, row, i)
    return unsigned + unsigned_wide, signed + signed_wide, floats[0], floats[1]


@entry
def write_one(m, unsigned, signed, number):
    write(m, ONE_U1, unsigned)
    write(m, ONE_U2, unsigned)
    write(m, ONE_U4, unsigned)
    write(m, ONE_U8, unsigned)
    write(m, ONE_I1, signed)
    write(m, ONE_I2, signed)
    write(m, ONE_I4, signed)
    write(m, ONE_I8, signed)
    write(m, ONE_F4, np.float32(number))
    write(m, ONE_F8, number)


@entry
def read_one(m):
    unsigned = read(m, ONE_U1), read(m, ONE_U2), read(m, ONE_U4), read(m, ONE_U8)
    signed = read(m, ONE_I1), read(m, ONE_I2), read(m, ONE_I4), read(m, ONE_I8)
    return unsigned, signed, read(m, ONE_F4), read(m, ONE_F8)


@entry
def aliases(m, i, value):
    """Put `value` as an unsigned byte; return it signed, and the pair of bytes it lies in."""
    put(m, ROW_U1, i, value)
    return get(m, SIGNED_U1, i), get(m, PAIRS_U2, i >> u64(1))


@entry
def addresses(m, i):
    return address(m, ROW_U1, i), address(m, ROW_F4, i), address(m, TABLE_I8, i), address(m, ONE_U1, u64(0))


# Vectors. All results of an operation go to the next place of `out`.

BINARY = ("add", "sub", "mul", "div", "at_least", "at_most")
PLACES = (1, 2, 4, 8, 16, 32)


@kernel
def _operate(a, b, bits, out, step):
    store(out, add(a, b))
    store(out + step, sub(a, b))
    store(out + u64(2) * step, mul(a, b))
    store(out + u64(3) * step, div(a, b))
    store(out + u64(4) * step, at_least(a, b))
    store(out + u64(5) * step, at_most(a, b))
    store(out + u64(6) * step, select(bits, a, b))
    out += u64(7) * step
    store(out, rotate_up(a, 1))
    store(out + step, rotate_up(a, 2))
    store(out + u64(2) * step, rotate_up(a, 4))
    store(out + u64(3) * step, rotate_up(a, 8))
    store(out + u64(4) * step, rotate_up(a, 16))
    store(out + u64(5) * step, rotate_up(a, 32))
    out += u64(6) * step
    store(out, rotate_down(a, 1))
    store(out + step, rotate_down(a, 2))
    store(out + u64(2) * step, rotate_down(a, 4))
    store(out + u64(3) * step, rotate_down(a, 8))
    store(out + u64(4) * step, rotate_down(a, 16))
    store(out + u64(5) * step, rotate_down(a, 32))


@entry
def operate16(a, b, bits, same, out):
    _operate(load16(a), load16(b), bits, out, u64(64))
    store(out + u64(19 * 64), splat16(same))


@entry
def operate32(a, b, bits, same, out):
    _operate(load32(a), load32(b), bits, out, u64(128))
    store(out + u64(19 * 128), splat32(same))


@entry
def operate64(a, b, bits, same, out):
    _operate(load64(a), load64(b), bits, out, u64(256))
    store(out + u64(19 * 256), splat64(same))


# Words.


@entry
def bits_of(mask):
    return popcount(mask), lowest_bit(mask), highest_bit(mask)


@entry
def count_bits(mask):
    return popcount(mask)


@entry
def clock():
    return now_ns()
