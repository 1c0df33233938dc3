"""The language of the kernels: what `m.board.black[line]` and `m.counts.conflicts += 1` mean to numba.

A kernel takes `m`, the solver's memory, and reads and writes its members by their names (see `memory.Struct`):

    m.width                       a single item
    m.clue[line, block]           an item of a table; m.clue[line] is a row of it
    m.counts.conflicts += 1       a member of a struct in a struct
    event = m.trail[number]       a record: event.reason, event.literal = literal
    m.watches[to] = m.watches[at] copies a record

Each number is an int64, however many bits it has in the memory; floats keep their type, and a mask is a set of
cells (`masks.py`). Nothing is checked while a kernel runs: an index out of range reads garbage. A member that does
not exist does not compile, and the error names similar ones.

Why not arrays: `m` is an address, and the place of a member is part of its type. So an access is one machine
instruction, and a call passes one register; a tuple of sixty arrays passes four hundred. With NUMBA_DISABLE_JIT,
the same kernels run as plain Python, for a debugger, on the objects of `interpreter.py`.
"""

from __future__ import annotations

import difflib
import operator
import time
from typing import Any

from nonobot.bot.kernels.masks import MaskType, StoredModel, emitted
from nonobot.bot.kernels.memory import Array, Constant, Item, Struct
from nonobot.bot.kernels.numba_names import (
    AttributeTemplate,
    TypingError,
    infer_getattr,
    ir,
    lower_builtin,
    lower_getattr_generic,
    lower_setattr_generic,
    register_model,
    type_callable,
    types,
)

_LONG = ir.IntType(64)


class StructType(types.Type):
    """A struct, or the whole memory: its value is its address."""

    stored = _LONG

    def __init__(self, struct: Struct) -> None:
        self.struct = struct
        super().__init__(name=struct.name)

    def member(self, name: str) -> Any:
        """Return a member by its name."""
        if name not in self.struct.members:
            near = difflib.get_close_matches(name, self.struct.members, 3)
            hint = f"; similar: {' or '.join(near)}" if near else ""
            raise TypingError(f"{self.name} has no member {name!r}{hint}")
        return self.struct.members[name]


class ArrayType(types.Type):
    """Items or structs one after the other: its value is the address of the first."""

    stored = _LONG

    def __init__(self, item: Item | Struct, step: int, row: int = 0, length: int = 0) -> None:
        self.item, self.step = item, step
        self.row = row  # of a table: items in a row of it
        self.length = length  # of a row: its items
        kind = item.name if isinstance(item, Struct) else f"{item.code}{item.size}"
        # Not its place: kernels that take arrays are compiled once for all that are alike.
        super().__init__(name=f"{kind}/{step}[{f'{row},' * bool(row)}{length or ''}]")


register_model(StructType)(StoredModel)
register_model(ArrayType)(StoredModel)


def type_of(layout: Any) -> Any:
    """Return the type that kernels use for a member, or for a row of a table."""
    if isinstance(layout, ArrayType):
        return layout
    if isinstance(layout, Struct):
        return StructType(layout)
    if isinstance(layout, Array):
        return ArrayType(layout.item, layout.step, *layout.shape[1:])
    if isinstance(layout, Constant):
        return type_of(layout.item)
    if layout.code == "mask":
        return MaskType(8 * layout.size)
    if layout.code[0] == "f":
        return types.float32 if layout.size == 4 else types.float64
    return types.uint64 if layout.code == "u8" else types.int64


def _stored(item: Item) -> Any:
    """Return LLVM's type of an item in the memory."""
    if item.code[0] == "f":
        return ir.FloatType() if item.size == 4 else ir.DoubleType()
    return ir.IntType(8 * item.size)


def _is_narrow(item: Item) -> bool:
    return item.code[0] in "iu" and item.size < 8


def _load(builder: Any, layout: Any, place: Any) -> Any:
    """Emit a kernel's value for an address: the content of an item, otherwise the address."""
    if isinstance(layout, Constant):
        return (_LONG if _is_narrow(layout.item) else _stored(layout.item))(layout.value)
    if not isinstance(layout, Item):
        return place
    value = builder.load(builder.inttoptr(place, _stored(layout).as_pointer()))
    if not _is_narrow(layout):
        return value
    return (builder.sext if layout.code[0] == "i" else builder.zext)(value, _LONG)


def _store(builder: Any, layout: Any, place: Any, value: Any) -> None:
    """Emit the store of an item, or the copy of a struct, to an address."""
    if isinstance(layout, Struct):
        kind = ir.IntType(8 * layout.size).as_pointer()
        value = builder.load(builder.inttoptr(value, kind), align=layout.alignment)
        builder.store(value, builder.inttoptr(place, kind), align=layout.alignment)
        return
    if _is_narrow(layout):
        value = builder.trunc(value, _stored(layout))
    builder.store(value, builder.inttoptr(place, _stored(layout).as_pointer()))


def _no_float(layout: Any, value: Any) -> None:
    if isinstance(value, types.Float) and isinstance(layout, Item) and layout.code[0] != "f":
        raise TypingError("a float is put where whole numbers are: was a uint64 added to an int64?")


@infer_getattr
class _Members(AttributeTemplate):
    key = StructType

    def generic_resolve(self, struct: StructType, name: str) -> Any:
        return type_of(struct.member(name).layout)


@lower_getattr_generic(StructType)
def _lower_member(context: Any, builder: Any, struct: StructType, start: Any, name: str) -> Any:
    offset, layout = struct.member(name)
    return _load(builder, layout, builder.add(start, _LONG(offset)))


@lower_setattr_generic(StructType)
def _lower_set_member(context: Any, builder: Any, sig: Any, args: Any, name: str) -> None:
    offset, layout = sig.args[0].member(name)
    if not isinstance(layout, Item):
        raise TypingError(f"{name} is no single item; put something into one of its own")
    _no_float(layout, sig.args[1])
    _store(builder, layout, builder.add(args[0], _LONG(offset)), args[1])


def _place(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Emit the address of an indexed item, struct or row."""
    array, index = sig.args[:2]
    if isinstance(index, types.BaseTuple):
        parts = (builder.extract_value(args[1], place) for place in range(len(index)))
        row, column = (
            context.cast(builder, value, kind, types.int64) for value, kind in zip(parts, index.types, strict=True)
        )
        number = builder.add(builder.mul(row, _LONG(array.row)), column)
    else:
        number = context.cast(builder, args[1], index, types.int64)
        if array.row:
            number = builder.mul(number, _LONG(array.row))
    return builder.add(args[0], builder.mul(number, _LONG(array.step)))


def _is_index(array: ArrayType, index: Any) -> bool:
    parts = index.types if isinstance(index, types.BaseTuple) else (index,)
    sides = 2 if array.row else 1
    return len(parts) <= sides and all(isinstance(part, types.Integer | types.Boolean) for part in parts)


def _indexed(array: ArrayType, index: Any) -> Any:
    """Return the item, struct or row of a table at an index."""
    if array.row and not isinstance(index, types.BaseTuple):
        return ArrayType(array.item, array.step, length=array.row)
    return array.item


@type_callable(operator.getitem)
def _type_getitem(context: Any) -> Any:
    def result(array: Any, index: Any) -> Any:
        if isinstance(array, ArrayType) and _is_index(array, index):
            return type_of(_indexed(array, index))
        return None

    return result


@lower_builtin(operator.getitem, ArrayType, types.Any)
def _lower_getitem(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _load(builder, _indexed(*sig.args), _place(context, builder, sig, args))


@type_callable(operator.setitem)
def _type_setitem(context: Any) -> Any:
    def result(array: Any, index: Any, value: Any) -> Any:
        if not (isinstance(array, ArrayType) and _is_index(array, index)):
            return None
        layout = _indexed(array, index)
        if isinstance(layout, ArrayType):
            raise TypingError("a row of a table is no item; put something into one of its own")
        _no_float(layout, value)
        return types.void

    return result


@lower_builtin(operator.setitem, ArrayType, types.Any, types.Any)
def _lower_setitem(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    layout = _indexed(*sig.args[:2])
    value = context.cast(builder, args[2], sig.args[2], type_of(layout))
    _store(builder, layout, _place(context, builder, sig, args), value)
    return context.get_dummy_value()


def item_address(builder: Any, array: ArrayType, start: Any, index: Any) -> Any:
    """Emit the address of an item of an array without rows, for intrinsics."""
    return builder.add(start, builder.mul(index, _LONG(array.step)))


# --- prefetching, a row at once, the clock ---


def _function(builder: Any, kind: Any, name: str) -> Any:
    """Return a function of LLVM or of the C library, which the code then calls."""
    return builder.module.globals.get(name) or ir.Function(builder.module, kind, name)


def _prefetch(typingctx: Any, struct: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
        flag = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, flag, flag, flag])
        function = _function(builder, kind, "llvm.prefetch.p0")
        builder.call(function, [pointer, flag(0), flag(3), flag(1)])  # to be read, kept in all caches, data
        return context.get_dummy_value()

    return types.void(struct), codegen


@emitted(_prefetch)
def prefetch(struct: Any) -> None:
    """Load a record that will be needed soon into the processor's caches."""


def _first_above(typingctx: Any, row: Any, other: Any, value: Any, end: Any) -> Any:
    number, lanes = ir.IntType(8 * row.item.size), row.length
    vector, wide = ir.VectorType(number, lanes), ir.IntType(max(64, 2 * lanes))

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        first, second = (builder.load(builder.inttoptr(start, vector.as_pointer()), align=1) for start in args[:2])
        threshold = builder.insert_element(
            ir.Constant(vector, ir.Undefined), builder.trunc(args[2], number), ir.Constant(ir.IntType(32), 0)
        )
        order = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
        threshold = builder.shuffle_vector(threshold, ir.Constant(vector, ir.Undefined), order)
        above = builder.icmp_signed(">", builder.add(first, second), threshold)
        bits = builder.zext(builder.bitcast(above, ir.IntType(lanes)), wide)
        last = args[3] if wide.width == 64 else builder.zext(args[3], wide)
        bits = builder.or_(bits, builder.shl(wide(1), last))
        place = builder.cttz(bits, ir.IntType(1)(1))
        return place if wide.width == 64 else builder.trunc(place, _LONG)

    return types.int64(row, other, types.int64, types.int64), codegen


@emitted(_first_above)
def first_above(row: Any, other: Any, value: Any, end: Any) -> Any:
    """Return the first i below `end` with row[i] + other[i] > value, or `end`.

    Both are rows of tables of signed numbers of the same length, a power of two; the sums rise along a row, and
    none overflows.
    """
    return next((i for i in range(end) if row[i] + other[i] > value), end)


def _now_ns(typingctx: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        number = ir.IntType(32)  # 32 bits of nanoseconds are all in wasm32
        with builder.goto_entry_block():  # once, however often a loop comes here
            timespec = builder.alloca(ir.LiteralStructType([_LONG, _LONG]))
        function = _function(builder, ir.FunctionType(number, [number, timespec.type]), "clock_gettime")
        builder.call(function, [number(time.CLOCK_MONOTONIC), timespec])
        places = (builder.gep(timespec, [number(0), number(field)], inbounds=True) for field in range(2))
        seconds, nanoseconds = (
            builder.load(builder.bitcast(place, kind.as_pointer()))
            for place, kind in zip(places, (_LONG, number), strict=True)
        )
        return builder.add(builder.mul(seconds, _LONG(10**9)), builder.zext(nanoseconds, _LONG))

    return types.int64(), codegen


@emitted(_now_ns)
def now_ns() -> Any:
    """Return the monotonic clock, in nanoseconds; a compiled call takes 16 ns."""
    return time.monotonic_ns()
