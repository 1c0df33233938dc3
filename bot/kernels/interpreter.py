"""The kernels' memory for plain Python: with NUMBA_DISABLE_JIT the same kernels run in a debugger.

These objects treat the bytes of the memory as compiled kernels do (`language.py`): whole numbers become Python's,
masks a :class:`Mask`, floats keep their width. An index out of range, a shift by too many places and a float among
whole numbers are errors.
"""

from __future__ import annotations

import ctypes
import operator
import struct as packing
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nonobot.bot.kernels.language import StructType
from nonobot.bot.kernels.memory import FORMATS, Array, Constant, Item, Member, Struct
from nonobot.bot.kernels.numba_names import TypingError

_KINDS: dict[str, Any] = {"u8": np.uint64, "f4": np.float32, "f8": np.float64}


class Mask(int):
    """A set of cells as kernels use it: a number of a fixed count of bits; each width has its own class."""

    bits: ClassVar[int]

    def __new__(cls, value: int) -> Mask:
        """Return the mask with the bits of a number."""
        return super().__new__(cls, int(value) & ((1 << cls.bits) - 1))

    def __invert__(self) -> Mask:
        return type(self)(~int(self))

    def __neg__(self) -> Mask:
        return type(self)(-int(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int | np.integer) and int(self) == int(self._alike(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__

    def __lshift__(self, places: int) -> Mask:
        return type(self)(int(self) << self._places(places))

    def __rshift__(self, places: int) -> Mask:
        return type(self)(int(self) >> self._places(places))

    def __repr__(self) -> str:
        cells = [cell for cell in range(self.bits) if int(self) >> cell & 1]
        return f"<{', '.join(map(str, cells)) or 'no cells'}>"

    def _alike(self, other: Any) -> Mask:
        """Return a number as a mask of this width."""
        if isinstance(other, Mask) and other.bits != self.bits:
            raise TypeError(f"a mask of {self.bits} bits and one of {other.bits}")
        return type(self)(other)

    def _places(self, places: int) -> int:
        if isinstance(places, Mask) or not 0 <= places < self.bits:
            raise ValueError(f"a mask of {self.bits} bits is shifted by {places!r}")
        return int(places)


def _define(name: str, operation: Callable[[int, int], int]) -> None:
    def method(self: Mask, other: Any) -> Any:
        if not isinstance(other, int | np.integer | np.bool_):
            return NotImplemented
        return type(self)(operation(int(self), int(self._alike(other))))

    def reflected(self: Mask, other: Any) -> Any:
        return NotImplemented if not isinstance(other, int) else method(self._alike(other), self)

    setattr(Mask, f"__{name}__", method)
    setattr(Mask, f"__r{name}__", reflected)


for _name in ("and", "or", "xor", "add", "sub"):
    _define(_name, getattr(operator, f"__{_name}__"))


@cache
def mask_kind(bits: int) -> type[Mask]:
    """Return the class of masks of a width."""
    return type(f"Mask{bits}", (Mask,), {"bits": bits})


def _kind(item: Item) -> Any:
    """Return the function that turns a number in the memory into a kernel's value."""
    return mask_kind(8 * item.size) if item.code == "mask" else _KINDS.get(item.code, int)


def _load(block: memoryview, place: int, layout: Any) -> Any:
    """Return the member at a place as a kernel sees it: the value of an item, otherwise an object."""
    if isinstance(layout, Struct):
        return PlainStruct(layout, block, place)
    if isinstance(layout, Array):
        return PlainArray(block, place, layout.item, layout.step, layout.shape)
    if isinstance(layout, Constant):
        return _kind(layout.item)(layout.value)
    if layout.code == "mask":
        return _kind(layout)(int.from_bytes(block[place : place + layout.size], "little"))
    return _kind(layout)(packing.unpack_from(f"={FORMATS[layout.code]}", block, place)[0])


def _store(block: memoryview, place: int, layout: Item | Struct, value: Any) -> None:
    """Put a number into an item, or copy a struct."""
    if isinstance(layout, Struct):
        if not isinstance(value, PlainStruct) or object.__getattribute__(value, "_struct") is not layout:
            raise TypeError(f"{value!r} is put where a {layout.name} is")
        block[place : place + layout.size] = bytes(value._block[value._place : value._place + layout.size])
    elif layout.code[0] == "f":
        packing.pack_into(f"={FORMATS[layout.code]}", block, place, _kind(layout)(value))
    elif not isinstance(value, int | np.integer | np.bool_):
        raise TypeError(f"{value!r} is put where whole numbers are")
    else:
        bits = int(value) & ((1 << 8 * layout.size) - 1)
        block[place : place + layout.size] = bits.to_bytes(layout.size, "little")


class PlainStruct:
    """A struct, or the whole memory."""

    __slots__ = ("_block", "_place", "_struct")

    def __init__(self, struct: Struct, block: memoryview, place: int) -> None:
        for name, value in (("_struct", struct), ("_block", block), ("_place", place)):
            object.__setattr__(self, name, value)

    def _member(self, name: str) -> Member:
        try:
            return self._struct.members.get(name) or StructType(self._struct).member(name)
        except TypingError as error:
            raise AttributeError(str(error)) from None

    def __getattr__(self, name: str) -> Any:
        offset, layout = self._member(name)
        return _load(self._block, self._place + offset, layout)

    def __setattr__(self, name: str, value: Any) -> None:
        offset, layout = self._member(name)
        if not isinstance(layout, Item):
            raise TypeError(f"{name} is no single item; put something into one of its own")
        _store(self._block, self._place + offset, layout, value)

    def __dir__(self) -> list[str]:
        return [*self._struct.members]

    def __repr__(self) -> str:
        items = [name for name, member in self._struct.members.items() if isinstance(member.layout, Item)]
        return f"{self._struct.name}({', '.join(f'{name}={getattr(self, name)!r}' for name in items)})"


class PlainArray:
    """Items or structs one after the other, or a table of them."""

    __slots__ = ("_block", "_item", "_place", "_shape", "_step")

    def __init__(
        self, block: memoryview, place: int, item: Item | Struct, step: int, shape: tuple[int, ...]
    ) -> None:
        self._block, self._place, self._item, self._step, self._shape = block, place, item, step, shape

    def _place_of(self, *index: int) -> int:
        """Return the place of an item or a row; a dimension of 0 means that the length is not known."""
        position = 0
        for number, side in zip(index, self._shape, strict=False):
            if not 0 <= number < (side or number + 1):
                raise IndexError(f"{', '.join(map(str, index))} in an array of {self._shape}")
            position = position * side + int(number)
        if len(index) < len(self._shape):
            position *= self._shape[-1]
        return self._place + position * self._step

    def __getitem__(self, index: Any) -> Any:
        index = index if isinstance(index, tuple) else (index,)
        place = self._place_of(*index)
        if len(index) < len(self._shape):
            return PlainArray(self._block, place, self._item, self._step, self._shape[1:])
        return _load(self._block, place, self._item)

    def __setitem__(self, index: Any, value: Any) -> None:
        index = index if isinstance(index, tuple) else (index,)
        if len(index) < len(self._shape):
            raise TypeError("a row of a table is no item; put something into one of its own")
        _store(self._block, self._place_of(*index), self._item, value)

    def stretch(self, begin: int, length: int) -> npt.NDArray[np.float32]:
        """Return `length` floats from item `begin` on, as an array that shares the memory."""
        return np.ndarray((length,), np.float32, self._block, self._place + begin * self._step)

    def __repr__(self) -> str:
        first = [str(self[index]) for index in range(min(self._shape[0], 4 if len(self._shape) > 1 else 20))]
        return f"<{self._shape}: {', '.join(first)}{', ...' * (len(first) < self._shape[0])}>"


def memory_at(struct: Struct, address: int) -> PlainStruct:
    """Return the memory at an address, as kernels in plain Python take it."""
    return PlainStruct(struct, memoryview((ctypes.c_uint8 * struct.size).from_address(address)).cast("B"), 0)


def on_plain_memory(function: Callable[..., Any], struct: Struct) -> Callable[..., Any]:
    """Return a kernel in plain Python with the interface of a compiled one: it takes an address and numbers."""

    @np.errstate(all="ignore")  # as compiled: a number divided by zero is infinite
    def call(address: int, *numbers: Any) -> Any:
        return function(memory_at(struct, address), *numbers)

    return call
