"""Sets of cells: a mask is one number of as many bits as the board needs; bit i is cell i of a line.

A kernel writes `mask | other`, `mask >> 3`, `(m.one << i) - 1` as with any number, and asks for the `lowest` and
the `highest` cell and the `count`. The compiler makes one machine word of 64 bits, several of more. A line kernel
needs two bits more than the line has cells (a virtual white cell behind the last one, and the place after it).

Next to a mask a number stands for the mask with its bits: `mask & 1`, `mask - 1`, `mask == 0`. It is shifted by
numbers below its own bits.
"""

from __future__ import annotations

import operator
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import lower_builtin, lower_cast
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, models, register_model

_LONG = ir.IntType(64)


class MaskType(types.Type):
    """A set of up to `bits` cells."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        super().__init__(name=f"mask{bits}")

    @property
    def stored(self) -> Any:
        """LLVM's type of it."""
        return ir.IntType(self.bits)

    def emit(self, context: Any, builder: Any, value: Any, kind: Any) -> Any:
        """Emit a mask as it is, or a number as a mask."""
        if isinstance(kind, MaskType):
            return value
        value = context.cast(builder, value, kind, types.int64)
        return value if self.bits == 64 else builder.sext(value, self.stored)


@register_model(MaskType)
class StoredModel(models.PrimitiveModel):
    """A model for types with an LLVM type, `stored`."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, kind.stored)


def _is_number(kind: Any) -> bool:
    return isinstance(kind, types.Integer | types.Boolean)


@lower_cast(types.Integer, MaskType)
@lower_cast(types.Boolean, MaskType)
def _cast_number(context: Any, builder: Any, fromty: Any, toty: MaskType, value: Any) -> Any:
    return toty.emit(context, builder, value, fromty)


# --- operators ---


def _operator(operations: tuple[Any, ...], emit: Any, is_truth: bool = False, is_unary: bool = False) -> None:
    """Define operators of one mask, or of two masks, or of a mask and a number."""

    class _Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            masks = [each for each in args if isinstance(each, MaskType)]
            if not masks or not all(isinstance(each, MaskType) or _is_number(each) for each in args):
                return None
            return signature(types.boolean if is_truth else masks[0], *args)

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        mask = next(each for each in sig.args if isinstance(each, MaskType))
        return emit(builder, *(mask.emit(context, builder, *pair) for pair in zip(args, sig.args, strict=True)))

    pairs = ((MaskType, MaskType), (MaskType, types.Any), (types.Any, MaskType))
    for operation in operations:
        infer_global(operation)(type(f"_{operation.__name__}", (_Template,), {}))
        for kinds in ((MaskType,),) if is_unary else pairs:
            lower_builtin(operation, *kinds)(lower)


def _is_not_empty(builder: Any, mask: Any) -> Any:
    return builder.icmp_unsigned("!=", mask, mask.type(0))


_operator((operator.and_, operator.iand), lambda builder, a, b: builder.and_(a, b))
_operator((operator.or_, operator.ior), lambda builder, a, b: builder.or_(a, b))
_operator((operator.xor, operator.ixor), lambda builder, a, b: builder.xor(a, b))
_operator((operator.add, operator.iadd), lambda builder, a, b: builder.add(a, b))
_operator((operator.sub, operator.isub), lambda builder, a, b: builder.sub(a, b))
_operator((operator.eq,), lambda builder, a, b: builder.icmp_unsigned("==", a, b), is_truth=True)
_operator((operator.ne,), lambda builder, a, b: builder.icmp_unsigned("!=", a, b), is_truth=True)
_operator((operator.invert,), lambda builder, a: builder.not_(a), is_unary=True)
_operator((bool, operator.truth), _is_not_empty, is_truth=True, is_unary=True)
_operator(
    (operator.not_,), lambda builder, a: builder.not_(_is_not_empty(builder, a)), is_truth=True, is_unary=True
)


@lower_cast(MaskType, types.Boolean)
def _cast_to_truth(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:
    return _is_not_empty(builder, value)


def _shift(operations: tuple[Any, ...], name: str) -> None:
    """Define a shift of a mask by a number of places."""

    class _Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if isinstance(args[0], MaskType) and _is_number(args[1]):
                return signature(args[0], args[0], types.int64)
            return None

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        mask, places = args
        if sig.args[0].bits > 64:
            places = builder.zext(places, sig.args[0].stored)
        return getattr(builder, name)(mask, places)

    for operation in operations:
        infer_global(operation)(type(f"_{operation.__name__}", (_Template,), {}))
        lower_builtin(operation, MaskType, types.int64)(lower)


_shift((operator.lshift, operator.ilshift), "shl")
_shift((operator.rshift, operator.irshift), "lshr")


# --- questions ---

if numba.config.DISABLE_JIT:

    def lowest(mask: Any) -> Any:
        """Return the first cell of a set that is not empty."""
        return (mask & -mask).bit_length() - 1

    def highest(mask: Any) -> Any:
        """Return the last cell of a set that is not empty."""
        return mask.bit_length() - 1

    def count(mask: Any) -> Any:
        """Return the number of cells in a set."""
        return mask.bit_count()

    def fill_down(seeds: Any, through: Any) -> Any:
        """Return `seeds` and all cells that one reaches from them downward, stepping onto cells in `through`."""
        reached = seeds
        while (step := reached | ((reached >> 1) & through)) != reached:
            reached = step
        return reached

else:

    def _narrow(builder: Any, value: Any) -> Any:
        return value if value.type.width == 64 else builder.trunc(value, _LONG)

    @intrinsic
    def lowest(typingctx: Any, mask: Any) -> Any:
        """Return the first cell of a set that is not empty."""

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _narrow(builder, builder.cttz(args[0], cgutils.true_bit))

        return types.int64(mask), codegen

    @intrinsic
    def highest(typingctx: Any, mask: Any) -> Any:
        """Return the last cell of a set that is not empty."""

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            leading = _narrow(builder, builder.ctlz(args[0], cgutils.true_bit))
            return builder.sub(_LONG(mask.bits - 1), leading)

        return types.int64(mask), codegen

    @intrinsic
    def count(typingctx: Any, mask: Any) -> Any:
        """Return the number of cells in a set."""

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _narrow(builder, builder.ctpop(args[0]))

        return types.int64(mask), codegen

    @intrinsic
    def fill_down(typingctx: Any, seeds: Any, through: Any) -> Any:
        """Return `seeds` and all cells that one reaches from them downward, stepping onto cells in `through`."""

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            reached, stretch = args
            step = 1  # stretches of 1, 2, 4, ... cells at a time: an addition carries upward only
            while step < seeds.bits:
                places = seeds.stored(step)
                reached = builder.or_(reached, builder.and_(builder.lshr(reached, places), stretch))
                stretch = builder.and_(stretch, builder.lshr(stretch, places))
                step *= 2
            return reached

        return seeds(seeds, seeds), codegen
