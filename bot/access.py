"""The solver's memory as kernels see it: an address, and named fields at fixed places behind it.

A kernel of the champion takes one argument, the address `m` of the memory, and reads and writes it in five words:

    get(m, FIELD, i)            put(m, FIELD, i, value)            one-dimensional
    get2(m, FIELD, row, i)      put2(m, FIELD, row, i, value)      a table with rows of `FIELD.row` items
    read(m, FIELD)              write(m, FIELD, value)             a single item

`address(m, FIELD, i)` is where an item lies, `prefetch(m, FIELD, i)` asks for it ahead of time, and
`first_above(m, FIELD, OTHER, row, value, end)` searches a row of bytes at once.

Unsigned items come out as uint64, signed ones as int64, floats as they are; indices are uint64. Nothing is
checked: an index out of range reads garbage.

Why not arrays: a field's place and dtype are part of its type, so an access is one machine instruction with a
constant offset, and a call passes one register. A tuple of sixty arrays passes four hundred.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import lower_constant
from numba.extending import intrinsic, models, register_model, typeof_impl

from nonobot.bot.memory import Field

__all__ = ["address", "first_above", "get", "get2", "prefetch", "put", "put2", "read", "write"]


class _FieldType(types.Type):
    def __init__(self, field: Field) -> None:
        self.offset, self.row = field.offset, field.row
        self.kind, self.itemsize = field.dtype.kind, field.dtype.itemsize
        super().__init__(name=f"Field(+{self.offset}, {self.kind}{self.itemsize}, row={self.row})")

    @property
    def item(self) -> Any:
        """Type of an item once it is out of the memory."""
        if self.kind == "f":
            return types.float32 if self.itemsize == 4 else types.float64
        return types.int64 if self.kind == "i" else types.uint64

    @property
    def stored(self) -> Any:
        """LLVM type of an item in the memory."""
        if self.kind == "f":
            return ir.FloatType() if self.itemsize == 4 else ir.DoubleType()
        return ir.IntType(8 * self.itemsize)

    def place(self, builder: Any, memory: Any, index: Any) -> Any:
        """Emit the address of an item."""
        long = ir.IntType(64)
        moved = builder.mul(index, ir.Constant(long, self.itemsize))
        return builder.add(builder.add(memory, ir.Constant(long, self.offset)), moved)

    def fetch(self, builder: Any, memory: Any, index: Any) -> Any:
        """Emit the load of an item."""
        pointer = builder.inttoptr(self.place(builder, memory, index), self.stored.as_pointer())
        value = builder.load(pointer)
        if self.kind == "f" or self.itemsize == 8:
            return value
        return (builder.sext if self.kind == "i" else builder.zext)(value, ir.IntType(64))

    def keep(self, builder: Any, memory: Any, index: Any, value: Any) -> None:
        """Emit the store of an item."""
        pointer = builder.inttoptr(self.place(builder, memory, index), self.stored.as_pointer())
        if self.kind != "f" and self.itemsize < 8:
            value = builder.trunc(value, self.stored)
        builder.store(value, pointer)

    def index(self, builder: Any, row: Any, column: Any) -> Any:
        """Emit the index of an item of a table."""
        return builder.add(builder.mul(row, ir.Constant(ir.IntType(64), self.row)), column)


@typeof_impl.register(Field)
def _typeof_field(field: Field, context: Any) -> _FieldType:
    return _FieldType(field)


register_model(_FieldType)(models.OpaqueModel)


@lower_constant(_FieldType)
def _constant_field(context: Any, builder: Any, kind: Any, field: Field) -> Any:
    return context.get_dummy_value()


_WORD = types.uint64
_ZERO = ir.Constant(ir.IntType(64), 0)


if numba.config.DISABLE_JIT:  # the same words as plain Python, for stepping through the kernels

    def address(m: Any, field: Field, i: Any) -> Any:
        """Return the address of item `i` of a field."""
        return np.uint64(int(m) + field.offset + int(i) * field.dtype.itemsize)

    def prefetch(m: Any, field: Field, i: Any) -> None:
        """Ask for item `i` of a field, which will be needed soon."""

    def first_above(m: Any, field: Field, other: Field, row: Any, value: Any, end: Any) -> Any:
        """Return the first i below `end` with field[row, i] + other[row, i] > value, or `end`."""
        for i in range(end):
            if get2(m, field, row, i) + get2(m, other, row, i) > value:
                return np.int64(i)
        return np.int64(end)

    def _item(m: Any, field: Field, i: Any) -> Any:
        buffer = (ctypes.c_char * field.dtype.itemsize).from_address(int(address(m, field, i)))
        return np.frombuffer(memoryview(buffer), field.dtype)

    def get(m: Any, field: Field, i: Any) -> Any:
        """Return item `i` of a field."""
        value = _item(m, field, i)[0]
        return value if field.dtype.kind == "f" else (np.int64 if field.dtype.kind == "i" else np.uint64)(value)

    def put(m: Any, field: Field, i: Any, value: Any) -> None:
        """Set item `i` of a field."""
        _item(m, field, i)[0] = value

    def get2(m: Any, field: Field, row: Any, i: Any) -> Any:
        """Return item `i` of row `row` of a table."""
        return get(m, field, int(row) * field.row + int(i))

    def put2(m: Any, field: Field, row: Any, i: Any, value: Any) -> None:
        """Set item `i` of row `row` of a table."""
        put(m, field, int(row) * field.row + int(i), value)

    def read(m: Any, field: Field) -> Any:
        """Return the single item of a field."""
        return get(m, field, 0)

    def write(m: Any, field: Field, value: Any) -> None:
        """Set the single item of a field."""
        put(m, field, 0, value)

else:

    @intrinsic
    def address(typingctx: Any, m: Any, field: Any, i: Any) -> Any:
        """Return the address of item `i` of a field."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return field.place(builder, args[0], args[2])

        return _WORD(_WORD, field, _WORD), codegen

    @intrinsic
    def get(typingctx: Any, m: Any, field: Any, i: Any) -> Any:
        """Return item `i` of a field."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return field.fetch(builder, args[0], args[2])

        return field.item(_WORD, field, _WORD), codegen

    @intrinsic
    def put(typingctx: Any, m: Any, field: Any, i: Any, value: Any) -> Any:
        """Set item `i` of a field."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            field.keep(builder, args[0], args[2], args[3])
            return context.get_dummy_value()

        return types.void(_WORD, field, _WORD, field.item), codegen

    @intrinsic
    def get2(typingctx: Any, m: Any, field: Any, row: Any, i: Any) -> Any:
        """Return item `i` of row `row` of a table."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return field.fetch(builder, args[0], field.index(builder, args[2], args[3]))

        return field.item(_WORD, field, _WORD, _WORD), codegen

    @intrinsic
    def put2(typingctx: Any, m: Any, field: Any, row: Any, i: Any, value: Any) -> Any:
        """Set item `i` of row `row` of a table."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            field.keep(builder, args[0], field.index(builder, args[2], args[3]), args[4])
            return context.get_dummy_value()

        return types.void(_WORD, field, _WORD, _WORD, field.item), codegen

    @intrinsic
    def read(typingctx: Any, m: Any, field: Any) -> Any:
        """Return the single item of a field."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return field.fetch(builder, args[0], _ZERO)

        return field.item(_WORD, field), codegen

    @intrinsic
    def write(typingctx: Any, m: Any, field: Any, value: Any) -> Any:
        """Set the single item of a field."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            field.keep(builder, args[0], _ZERO, args[2])
            return context.get_dummy_value()

        return types.void(_WORD, field, field.item), codegen

    @intrinsic
    def prefetch(typingctx: Any, m: Any, field: Any, i: Any) -> Any:
        """Ask for item `i` of a field, which will be needed soon."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = builder.inttoptr(field.place(builder, args[0], args[2]), ir.IntType(8).as_pointer())
            flag = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [pointer.type, flag, flag, flag])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            builder.call(function, [pointer, flag(0), flag(3), flag(1)])  # to be read, kept in all caches, data
            return context.get_dummy_value()

        return types.void(_WORD, field, _WORD), codegen

    @intrinsic
    def first_above(typingctx: Any, m: Any, field: Any, other: Any, row: Any, value: Any, end: Any) -> Any:
        """Return the first i below `end` with field[row, i] + other[row, i] > value, or `end`.

        Both fields are tables of signed bytes with rows of 32, the sums rise along a row, and no sum overflows.
        """
        byte, word = ir.IntType(8), ir.IntType(64)
        vector = ir.VectorType(byte, 32)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            memory, place, bound, last = args[0], args[3], args[4], args[5]
            rows = []
            for each in (field, other):
                where = each.place(builder, memory, each.index(builder, place, ir.Constant(word, 0)))
                rows.append(builder.load(builder.inttoptr(where, vector.as_pointer()), align=1))
            threshold = builder.insert_element(
                ir.Constant(vector, ir.Undefined), builder.trunc(bound, byte), ir.Constant(ir.IntType(32), 0)
            )
            order = ir.Constant(ir.VectorType(ir.IntType(32), 32), [0] * 32)
            threshold = builder.shuffle_vector(threshold, ir.Constant(vector, ir.Undefined), order)
            above = builder.icmp_signed(">", builder.add(*rows), threshold)
            bits = builder.zext(builder.bitcast(above, ir.IntType(32)), word)
            bits = builder.or_(bits, builder.shl(ir.Constant(word, 1), last))
            return builder.cttz(bits, cgutils.true_bit)

        return types.int64(_WORD, field, other, _WORD, types.int64, _WORD), codegen
