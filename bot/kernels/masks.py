"""Sets of cells: a mask is one number of as many bits as the board needs; bit i is cell i of a line.

A kernel writes `mask | other`, `mask >> 3`, `(m.one << i) - 1` as with any number, and calls `lowest`, `highest`
and `count`. A mask of 64 bits is one machine word, a larger one is several. A line kernel needs two bits more than
the line has cells: for a virtual white cell after the last one, and for the place after it.

A number beside a mask counts as the mask with its bits: `mask & 1`, `mask - 1`, `mask == 0`. A mask is shifted by
fewer places than it has bits.
"""

from __future__ import annotations

import operator
from typing import Any

from nonobot.bot.kernels.numba_names import (
    config,
    intrinsic,
    ir,
    lower_builtin,
    lower_cast,
    models,
    register_model,
    type_callable,
    types,
)

_LONG = ir.IntType(64)
_TRUE = ir.IntType(1)(1)


class MaskType(types.Type):
    """A set of up to `bits` cells."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        super().__init__(name=f"mask{bits}")

    @property
    def stored(self) -> Any:
        """LLVM's type of a mask."""
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


@lower_cast(types.Integer, MaskType)
@lower_cast(types.Boolean, MaskType)
def _cast_number(context: Any, builder: Any, fromty: Any, toty: MaskType, value: Any) -> Any:
    return toty.emit(context, builder, value, fromty)


# --- operators ---


_NUMBER = types.Integer | types.Boolean
_ONE = ((MaskType,),)
_PAIR = ((MaskType, MaskType), (MaskType, _NUMBER), (_NUMBER, MaskType))
_SHIFT = ((MaskType, _NUMBER),)


def _operator(operations: tuple[Any, ...], emit: Any, kinds: Any = _PAIR, is_truth: bool = False) -> None:
    """Define operators of masks and numbers, for operands of these `kinds`."""

    def result(first: Any, second: Any = None) -> Any:
        given = (first,) if second is None else (first, second)
        if not any(len(given) == len(operands) and all(map(isinstance, given, operands)) for operands in kinds):
            return None
        return types.boolean if is_truth else next(operand for operand in given if isinstance(operand, MaskType))

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        mask = next(operand for operand in sig.args if isinstance(operand, MaskType))
        return emit(builder, *(mask.emit(context, builder, *pair) for pair in zip(args, sig.args, strict=True)))

    for operation in operations:
        type_callable(operation)(lambda context: result)
        for operands in kinds:
            lower_builtin(operation, *(types.Any if kind is _NUMBER else kind for kind in operands))(lower)


def _is_not_empty(builder: Any, mask: Any) -> Any:
    return builder.icmp_unsigned("!=", mask, mask.type(0))


_operator((operator.and_, operator.iand), lambda builder, a, b: builder.and_(a, b))
_operator((operator.or_, operator.ior), lambda builder, a, b: builder.or_(a, b))
_operator((operator.xor, operator.ixor), lambda builder, a, b: builder.xor(a, b))
_operator((operator.add, operator.iadd), lambda builder, a, b: builder.add(a, b))
_operator((operator.sub, operator.isub), lambda builder, a, b: builder.sub(a, b))
_operator((operator.lshift, operator.ilshift), lambda builder, a, places: builder.shl(a, places), _SHIFT)
_operator((operator.rshift, operator.irshift), lambda builder, a, places: builder.lshr(a, places), _SHIFT)
_operator((operator.eq,), lambda builder, a, b: builder.icmp_unsigned("==", a, b), is_truth=True)
_operator((operator.ne,), lambda builder, a, b: builder.icmp_unsigned("!=", a, b), is_truth=True)
_operator((operator.invert,), lambda builder, a: builder.not_(a), _ONE)
_operator((bool, operator.truth), _is_not_empty, _ONE, is_truth=True)
_operator((operator.not_,), lambda builder, a: builder.not_(_is_not_empty(builder, a)), _ONE, is_truth=True)


@lower_cast(MaskType, types.Boolean)
def _cast_to_truth(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:
    return _is_not_empty(builder, value)


# --- questions ---


def emitted(build: Any, prefer_literal: bool = False) -> Any:
    """Return a decorator of functions in plain Python: compiled kernels call the intrinsic of `build` instead."""
    return lambda plain: plain if config.DISABLE_JIT else intrinsic(prefer_literal=prefer_literal)(build)


def _question(emit: Any) -> Any:
    def build(typingctx: Any, mask: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            answer = emit(builder, args[0])
            return answer if mask.bits == 64 else builder.trunc(answer, _LONG)

        return types.int64(mask), codegen

    return emitted(build)


@_question(lambda builder, mask: builder.cttz(mask, _TRUE))
def lowest(mask: Any) -> Any:
    """Return the first cell of a set that is not empty."""
    return (mask & -mask).bit_length() - 1


@_question(lambda builder, mask: builder.sub(mask.type(mask.type.width - 1), builder.ctlz(mask, _TRUE)))
def highest(mask: Any) -> Any:
    """Return the last cell of a set that is not empty."""
    return mask.bit_length() - 1


@_question(lambda builder, mask: builder.ctpop(mask))
def count(mask: Any) -> Any:
    """Return the number of cells in a set."""
    return mask.bit_count()


def _fill_down(typingctx: Any, seeds: Any, through: Any) -> Any:
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


@emitted(_fill_down)
def fill_down(seeds: Any, through: Any) -> Any:
    """Return `seeds` and all cells reached from them downward by steps to cells in `through`."""
    reached = seeds
    while (step := reached | ((reached >> 1) & through)) != reached:
        reached = step
    return reached
