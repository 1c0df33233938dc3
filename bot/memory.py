"""The solver's memory: one block, and the map of what lies where in it.

A map is a :class:`Struct`: named members, each a single item, an array of items, or another struct. The kernels
read it as it is written, `m.width`, `m.latest[line, block]`, `m.counts.conflicts`, `m.trail[event].reason`:
`bot.language` makes numba understand it. Nothing here needs numba: a process that finds its kernels compiled
never loads it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = [
    "Array", "Constant", "Item", "Member", "Memory", "Struct", "f4", "f8", "i1", "i2", "i4", "i8", "mask_of", "u1",
    "u2", "u4", "u8",
]  # fmt: skip

_CACHE_LINE = 64


@dataclass(frozen=True)
class Item:
    """A single value.

    Attributes
    ----------
    code : str
        Numpy's code, such as `i4`; `mask` for a set of cells.
    size : int
        Bytes.
    """

    code: str
    size: int

    def __getitem__(self, shape: int | tuple[int, ...]) -> Array:
        """Return an array of such items."""
        return Array(self, shape if isinstance(shape, tuple) else (shape,))

    def constant(self, value: int) -> Constant:
        """Return a member that is always `value` and takes no room."""
        return Constant(self, value)


i1, i2, i4, i8, u1, u2, u4, u8, f4, f8 = (
    Item(code, int(code[1])) for code in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
)


def mask_of(bits: int) -> Item:
    """Return the kind of sets of up to `bits` cells, a power of two from 64."""
    return Item("mask", bits // 8)


@dataclass(frozen=True)
class Constant:
    """A member that takes no room."""

    item: Item
    value: int


@dataclass(frozen=True)
class Array:
    """Items, or structs, one after the other; a table of them row by row.

    Attributes
    ----------
    item : Item or Struct
    shape : tuple of int
        One or two sides.
    base : str or None
        The member of the same struct whose place it shares; None: it has a place of its own.
    step : int
        Bytes from one item to the next.
    """

    item: Item | Struct
    shape: tuple[int, ...]
    base: str | None = None
    step: int = 0

    def __post_init__(self) -> None:
        if not self.step:
            object.__setattr__(self, "step", self.item.size)

    @property
    def size(self) -> int:
        """Bytes of all of it."""
        return prod(self.shape) * self.step

    def over(self, base: str, step: int = 0) -> Array:
        """Return the same as another view of the member `base`, with an item at every `step` bytes of it."""
        return replace(self, base=base, step=step or self.step)


class Member(NamedTuple):
    """A member of a struct, `offset` bytes behind its beginning."""

    offset: int
    what: Item | Array | Struct | Constant


class Struct:
    """Named members one behind the other: long arrays at the beginning of a cache line, all else where it fits.

    Parameters
    ----------
    name : str
        Of this and of no other struct: it stands for it among numba's types.
    **members : Item, Array, Struct or Constant
    """

    def __init__(self, name: str, **members: Item | Array | Struct | Constant) -> None:
        self.name = name
        self.members: dict[str, Member] = {}
        self.size = 0
        self.alignment = 1
        for each, what in members.items():
            if isinstance(what, Constant) or (isinstance(what, Array) and what.base):
                offset = self.members[what.base].offset if isinstance(what, Array) and what.base else 0
                self.members[each] = Member(offset, what)
                continue
            alignment = _alignment(what)
            offset = -(-self.size // alignment) * alignment
            self.members[each] = Member(offset, what)
            self.size = offset + what.size
            self.alignment = max(self.alignment, alignment)
        self.size = -(-self.size // self.alignment) * self.alignment

    def __getitem__(self, shape: int | tuple[int, ...]) -> Array:
        """Return an array of such structs."""
        return Array(self, shape if isinstance(shape, tuple) else (shape,))

    def __repr__(self) -> str:
        return self.name


class Memory:
    """A block of memory laid out by a map, all zero at first.

    Pages that are never touched cost nothing, so that a map may have room for the worst case.

    Parameters
    ----------
    struct : Struct

    Attributes
    ----------
    address : int
        Of the block; what a compiled kernel takes.
    view : callable
        See :meth:`_view`; what was asked for once is kept.

    Raises
    ------
    MemoryError
        If there is not so much room to be had.
    """

    def __init__(self, struct: Struct) -> None:
        self.struct = struct
        room = np.zeros(struct.size + _CACHE_LINE, np.uint8)
        self.bytes = room[-room.ctypes.data % _CACHE_LINE :][: struct.size]
        self.address = self.bytes.ctypes.data
        self.view = cache(self._view)

    def _view(self, path: str) -> npt.NDArray[Any]:
        """Return a member as an array that shares the memory.

        Parameters
        ----------
        path : str
            Such as `board.black`. Single items come as arrays of one, arrays of structs as structured arrays;
            masks as uint64, with a last axis for the words where they have more than 64 bits.
        """
        struct, offset = self.struct, 0
        *above, last = path.split(".")
        for name in above:
            member = struct.members[name]
            assert isinstance(member.what, Struct)
            struct, offset = member.what, offset + member.offset
        member = struct.members[last]
        offset += member.offset
        array = member.what if isinstance(member.what, Array) else _alone(member.what)
        dtype = dtype_of(array.item)
        shape, strides = (
            array.shape,
            tuple(array.step * prod(array.shape[at + 1 :]) for at in range(len(array.shape))),
        )
        return np.ndarray(shape, dtype, self.bytes, offset, strides)


def _alignment(what: Item | Array | Struct) -> int:
    if isinstance(what, Array):
        return _CACHE_LINE if what.size > _CACHE_LINE else _alignment(what.item)
    return what.alignment if isinstance(what, Struct) else min(what.size, _CACHE_LINE)


def _alone(what: Item | Struct | Constant) -> Array:
    assert not isinstance(what, Constant)
    return what[1]


def _dtype_in(what: Item | Array | Struct | Constant) -> Any:
    """Return how numpy sees a member of a record."""
    if isinstance(what, Array):
        return (dtype_of(what.item), what.shape)
    assert not isinstance(what, Constant)
    return dtype_of(what)


def dtype_of(item: Item | Struct) -> np.dtype[Any]:
    """Return how numpy sees an item."""
    if isinstance(item, Struct):
        fields = {name: (_dtype_in(member.what), member.offset) for name, member in item.members.items()}
        names, (formats, offsets) = list(fields), zip(*fields.values(), strict=True)
        return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": item.size})
    if item.code != "mask":
        return np.dtype(item.code)
    return np.dtype("u8") if item.size == 8 else np.dtype(("u8", (item.size // 8,)))
