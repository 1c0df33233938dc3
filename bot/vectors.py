"""Vectors of 16, 32 or 64 floats that live in registers, and their operations.

A kernel treats one like a number: `add(a, b)`, `mul(a, b)`, ...; all operations are lane by lane, in float32,
rounded as IEEE 754 says, and so the same on every machine, whatever its vectors are like. `bits` is a mask as
everywhere: bit i is lane i.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, models, register_model

__all__ = [
    "add", "at_least", "at_most", "div", "load16", "load32", "load64", "mul", "rotate_down", "rotate_up", "select",
    "splat16", "splat32", "splat64", "store", "sub",
]  # fmt: skip

_WORD = types.uint64
_FLOAT = ir.FloatType()


class _VectorType(types.Type):
    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        super().__init__(name=f"float32x{lanes}")


@register_model(_VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: _VectorType) -> None:
        super().__init__(manager, kind, ir.VectorType(_FLOAT, kind.lanes))


def _lanes(kind: _VectorType) -> Any:
    return ir.VectorType(_FLOAT, kind.lanes)


def _binary(operation: str, meaning: str) -> Any:
    def build(typingctx: Any, a: Any, b: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, operation)(*args)

        return a(a, a), codegen

    build.__doc__ = meaning
    return intrinsic(build)


add = _binary("fadd", "Return a + b.")
sub = _binary("fsub", "Return a - b.")
mul = _binary("fmul", "Return a * b.")
div = _binary("fdiv", "Return a / b.")


def _bound(comparison: str, meaning: str) -> Any:
    def build(typingctx: Any, a: Any, b: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.select(builder.fcmp_ordered(comparison, *args), *args)

        return a(a, a), codegen

    build.__doc__ = meaning
    return intrinsic(build)


at_least = _bound(">", "Return the larger of a and b.")
at_most = _bound("<", "Return the smaller of a and b.")


def _loader(kind: _VectorType) -> Any:
    def build(typingctx: Any, where: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = builder.inttoptr(args[0], _lanes(kind).as_pointer())
            return builder.load(pointer, align=4)

        return kind(_WORD), codegen

    build.__doc__ = f"Return the {kind.lanes} floats at an address."
    return intrinsic(build)


def _splatter(kind: _VectorType) -> Any:
    def build(typingctx: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            first = builder.insert_element(
                ir.Constant(_lanes(kind), ir.Undefined), args[0], ir.Constant(ir.IntType(32), 0)
            )
            order = ir.Constant(ir.VectorType(ir.IntType(32), kind.lanes), [0] * kind.lanes)
            return builder.shuffle_vector(first, ir.Constant(_lanes(kind), ir.Undefined), order)

        return kind(types.float32), codegen

    build.__doc__ = f"Return a vector of {kind.lanes} times the same float."
    return intrinsic(build)


load16, load32, load64 = (_loader(_VectorType(lanes)) for lanes in (16, 32, 64))
splat16, splat32, splat64 = (_splatter(_VectorType(lanes)) for lanes in (16, 32, 64))


@intrinsic
def store(typingctx: Any, where: Any, a: Any) -> Any:
    """Put all lanes of a vector to an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[1], builder.inttoptr(args[0], _lanes(a).as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(_WORD, a), codegen


@intrinsic
def select(typingctx: Any, bits: Any, a: Any, b: Any) -> Any:
    """Return lane i of `a` where bit i is set, of `b` elsewhere."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = args[0] if a.lanes == 64 else builder.trunc(args[0], ir.IntType(a.lanes))
        chosen = builder.bitcast(word, ir.VectorType(ir.IntType(1), a.lanes))
        return builder.select(chosen, args[1], args[2])

    return a(_WORD, a, a), codegen


def _rotation(sign: int, meaning: str) -> Any:
    def build(typingctx: Any, a: Any, places: Any) -> Any:
        if not isinstance(places, types.IntegerLiteral):
            return None
        by = sign * places.literal_value

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            order = [(lane - by) % a.lanes for lane in range(a.lanes)]
            picks = ir.Constant(ir.VectorType(ir.IntType(32), a.lanes), order)
            return builder.shuffle_vector(args[0], ir.Constant(_lanes(a), ir.Undefined), picks)

        return a(a, places), codegen

    build.__doc__ = meaning
    return intrinsic(prefer_literal=True)(build)


rotate_up = _rotation(1, "Return a vector with all lanes moved up by `places`, a literal; the last come first.")
rotate_down = _rotation(
    -1, "Return a vector with all lanes moved down by `places`, a literal; the first come last."
)
