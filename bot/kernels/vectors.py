"""Vectors of 16, 32 or 64 floats that live in registers.

A kernel adds, subtracts, multiplies and divides them like numbers; all operations are lane by lane, in float32,
rounded as in IEEE 754, so the results are the same on every machine. `load16(m.told[line], i)` loads a vector from
an array of floats in the memory, from any item on, and `store` stores it. `bits` is a mask: bit i is lane i.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from nonobot.bot.kernels.language import item_address
from nonobot.bot.kernels.masks import StoredModel, emitted
from nonobot.bot.kernels.numba_names import ir, lower_builtin, register_model, type_callable, types

_FLOAT = ir.FloatType()
_LANE = ir.IntType(32)


class VectorType(types.Type):
    """A vector of `lanes` floats."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        super().__init__(name=f"float32x{lanes}")

    @property
    def stored(self) -> Any:
        """LLVM's type of a vector."""
        return ir.VectorType(_FLOAT, self.lanes)


register_model(VectorType)(StoredModel)


def _operator(operation: Any, name: str) -> None:
    @type_callable(operation)
    def result(context: Any) -> Any:
        return lambda a, b: a if isinstance(a, VectorType) and a == b else None

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, name)(*args)

    lower_builtin(operation, VectorType, VectorType)(lower)


_operator(operator.add, "fadd")
_operator(operator.sub, "fsub")
_operator(operator.mul, "fmul")
_operator(operator.truediv, "fdiv")


def _undefined(kind: VectorType) -> Any:
    return ir.Constant(kind.stored, ir.Undefined)


def _shuffled(builder: Any, kind: VectorType, value: Any, order: Any) -> Any:
    picks = ir.Constant(ir.VectorType(_LANE, kind.lanes), list(order))
    return builder.shuffle_vector(value, _undefined(kind), picks)


def _bound(comparison: str) -> Any:
    def build(typingctx: Any, a: Any, b: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.select(builder.fcmp_ordered(comparison, *args), *args)

        return a(a, a), codegen

    return emitted(build)


@_bound(">")
def at_least(a: Any, b: Any) -> Any:
    """Return the larger of a and b."""
    return np.where(a > b, a, b)


@_bound("<")
def at_most(a: Any, b: Any) -> Any:
    """Return the smaller of a and b."""
    return np.where(a < b, a, b)


def _loader(lanes: int) -> Any:
    """Return the function that returns `lanes` floats of an array, from item `begin` on."""
    kind = VectorType(lanes)

    def build(typingctx: Any, array: Any, begin: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            place = item_address(builder, array, *args)
            return builder.load(builder.inttoptr(place, kind.stored.as_pointer()), align=4)

        return kind(array, types.int64), codegen

    return emitted(build)(lambda array, begin: array.stretch(begin, lanes).copy())


def _splatter(lanes: int) -> Any:
    """Return the function that returns a vector with the same float in all lanes."""
    kind = VectorType(lanes)

    def build(typingctx: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            first = builder.insert_element(_undefined(kind), args[0], _LANE(0))
            return _shuffled(builder, kind, first, [0] * lanes)

        return kind(types.float32), codegen

    return emitted(build)(lambda value: np.full(lanes, value, np.float32))


load16, load32, load64 = map(_loader, (16, 32, 64))
splat16, splat32, splat64 = map(_splatter, (16, 32, 64))


def _store(typingctx: Any, array: Any, begin: Any, vector: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        place = item_address(builder, array, args[0], args[1])
        builder.store(args[2], builder.inttoptr(place, vector.stored.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(array, types.int64, vector), codegen


@emitted(_store)
def store(array: Any, begin: Any, vector: Any) -> None:
    """Put all lanes of a vector into an array, from item `begin` on."""
    array.stretch(begin, vector.size)[:] = vector


def _select(typingctx: Any, bits: Any, a: Any, b: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        word = args[0] if args[0].type.width == a.lanes else builder.trunc(args[0], ir.IntType(a.lanes))
        chosen = builder.bitcast(word, ir.VectorType(ir.IntType(1), a.lanes))
        return builder.select(chosen, args[1], args[2])

    return a(bits, a, a), codegen


@emitted(_select)
def select(bits: Any, a: Any, b: Any) -> Any:
    """Return lane i of `a` where bit i is set, of `b` elsewhere."""
    return np.where([bool(int(bits) >> lane & 1) for lane in range(a.size)], a, b)


def _rotation(sign: int) -> Any:
    def build(typingctx: Any, a: Any, places: Any) -> Any:
        if not isinstance(places, types.IntegerLiteral):
            return None
        by = sign * places.literal_value

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _shuffled(builder, a, args[0], [(lane - by) % a.lanes for lane in range(a.lanes)])

        return a(a, places), codegen

    return emitted(build, prefer_literal=True)


@_rotation(1)
def rotate_up(a: Any, places: Any) -> Any:
    """Return a vector with all lanes moved up by `places`, a literal; the last come first."""
    return np.roll(a, places)


@_rotation(-1)
def rotate_down(a: Any, places: Any) -> Any:
    """Return a vector with all lanes moved down by `places`, a literal; the first come last."""
    return np.roll(a, -places)
