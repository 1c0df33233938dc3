"""The solver's memory: one block, and the map of its members.

A map is a :class:`Struct`: named members, each a single item, an array of items, or another struct. Kernels use
these names, as in `m.latest[line, block]` or `m.trail[event].reason`: `language.py` makes numba understand it. A
process with compiled kernels loads neither numba nor numpy, which would take most of its start.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

LINKED: Any = None  # in an executable, which has no ctypes: its kernels and memory (`tools/release/program.c`)

if "_nonobot" in sys.builtin_module_names:
    import _nonobot  # type: ignore[import-not-found]

    LINKED = _nonobot

_CACHE_LINE = 64

FORMATS: dict[str, Any] = {
    "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "f4": "f", "f8": "d",
    "mask": "Q",
}  # fmt: skip
"""Letters of the modules `struct` and `array`, by code."""


@dataclass(frozen=True)
class Item:
    """A single value."""

    code: str  # numpy's, such as `i4`; `mask` for a set of cells
    size: int  # bytes

    def __getitem__(self, shape: int | tuple[int, ...]) -> Array:
        """Return an array of such items."""
        return Array(self, shape if isinstance(shape, tuple) else (shape,))

    def constant(self, value: int) -> Constant:
        """Return a member that is always `value` and takes no room."""
        return Constant(self, value)


i1, i2, i4, i8, u1, u2, u4, u8, f4, f8 = (
    Item(code, int(code[1])) for code in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
)


MASK_BITS = (64, 128, 256, 512, 1024)  # widths of masks; each is for boards of up to two cells less


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
    """Items, or structs, one after the other; a table of them row by row."""

    item: Item | Struct
    shape: tuple[int, ...]  # one or two dimensions
    base: str | None = None  # the member of the same struct whose place it shares
    step: int = 0  # bytes from one item to the next

    def __post_init__(self) -> None:
        if not self.step:
            object.__setattr__(self, "step", self.item.size)

    @property
    def size(self) -> int:
        """Bytes of all of it."""
        return prod(self.shape) * self.step

    def over(self, base: str, step: int = 0) -> Array:
        """Return the same array in the place of the member `base`, with an item at every `step` bytes of it."""
        return replace(self, base=base, step=step or self.step)


class Member(NamedTuple):
    """A member of a struct, `offset` bytes behind its beginning."""

    offset: int
    layout: Item | Array | Struct | Constant


class Struct:
    """Named members one after the other; long arrays begin with a cache line.

    No other struct has the same `name`: numba tells types apart by it.
    """

    def __init__(self, name: str, **members: Item | Array | Struct | Constant) -> None:
        self.name = name
        self.members: dict[str, Member] = {}
        self.size = 0
        self.alignment = 1
        for member, layout in members.items():
            if isinstance(layout, Constant):
                self.members[member] = Member(0, layout)
            elif isinstance(layout, Array) and layout.base:
                self.members[member] = Member(self.members[layout.base].offset, layout)
            else:
                alignment = _alignment(layout)
                offset = -(-self.size // alignment) * alignment
                self.members[member] = Member(offset, layout)
                self.size = offset + layout.size
                self.alignment = max(self.alignment, alignment)
        self.size = -(-self.size // self.alignment) * self.alignment

    def __getitem__(self, shape: int | tuple[int, ...]) -> Array:
        """Return an array of such structs."""
        return Array(self, shape if isinstance(shape, tuple) else (shape,))

    def __repr__(self) -> str:
        return self.name


class Memory:
    """A block of memory laid out by a map, all zero at first; compiled kernels take its `address`.

    Pages that are never touched cost nothing, so that a map may have room for the worst case. `items` and `view`
    keep their results (see :meth:`_items`, :meth:`_view`). `end`: there is room only for the members before it,
    until :meth:`extend`. MemoryError: the system does not have enough memory.
    """

    def __init__(self, struct: Struct, end: str | None = None) -> None:
        self.struct = struct
        block, self.address = zeroed(self._size_to(end))
        self._see(block)

    def _size_to(self, end: str | None) -> int:
        return self.struct.members[end].offset if end else self.struct.size

    def extend(self, end: str | None = None) -> None:
        """Make room for the members before `end`, or for all; the address may change.

        MemoryError: the system does not have enough memory, and the content is lost.
        """
        if len(self._block) < (size := self._size_to(end)):
            content = bytes(self._block)
            self.release()  # so that the new block can use the same memory
            block, self.address = zeroed(size)
            block[: len(content)] = content
            self._see(block)

    def release(self) -> None:
        """Free the block at once; garbage collection would free it later."""
        self._see(memoryview(b""))

    def _see(self, block: memoryview) -> None:
        self._block = block
        self.items = cache(self._items)
        self.view = cache(self._view)

    def _find(self, path: str) -> tuple[Array, int]:
        """Return a member as an array, a single item as an array of one, and its place in bytes."""
        struct, offset = self.struct, 0
        *above, last = path.split(".")
        for name in above:
            member = struct.members[name]
            assert isinstance(member.layout, Struct)
            struct, offset = member.layout, offset + member.offset
        member = struct.members[last]
        assert not isinstance(member.layout, Constant)
        array = member.layout if isinstance(member.layout, Array) else member.layout[1]
        return array, offset + member.offset

    def _items(self, path: str) -> memoryview:
        """Return the items of a member, such as `board.black`; masks as 64-bit words, structs as bytes."""
        array, offset = self._find(path)
        assert array.step == array.item.size
        code: Any = "B" if isinstance(array.item, Struct) else FORMATS[array.item.code]
        return self._block[offset : offset + array.size].cast(code)

    def count(self, path: str) -> int:
        """Return the number of items of an array, or of rows of a table."""
        return self._find(path)[0].shape[0]

    def structs(self, path: str, count: int) -> Iterator[Memory]:
        """Yield the first structs of an array, each as a memory that shares its place in this one."""
        array, offset = self._find(path)
        assert isinstance(array.item, Struct)
        for begin in range(offset, offset + count * array.step, array.step):
            memory = Memory.__new__(Memory)
            memory.struct, memory.address = array.item, self.address + begin
            memory._see(self._block[begin : begin + array.item.size])
            yield memory

    def masks(self, path: str, count: int) -> list[int]:
        """Return the first masks of a member as numbers: bit i is cell i, whatever their width."""
        size = self._find(path)[0].item.size
        content = bytes(self.items(path).cast("B")[: count * size])
        return [int.from_bytes(content[begin : begin + size], "little") for begin in range(0, count * size, size)]

    def put_masks(self, path: str, masks: Sequence[int]) -> None:
        """Make these the first masks of a member."""
        size = self._find(path)[0].item.size
        content = b"".join(mask.to_bytes(size, "little") for mask in masks)
        self.items(path).cast("B")[: len(content)] = content

    def _view(self, path: str) -> npt.NDArray[Any]:
        """Return a member, such as `board.black`, as a numpy array that shares the memory.

        A single item is an array of one, structs are a structured array; masks of over 64 bits have a last axis.
        """
        import numpy as np

        array, offset = self._find(path)
        strides = tuple(array.step * prod(array.shape[axis + 1 :]) for axis in range(len(array.shape)))
        return np.ndarray(array.shape, _dtype_of(array.item), self._block, offset, strides)


def zeroed(size: int) -> tuple[memoryview, int]:
    """Return a block of `size` zero bytes and its address; MemoryError: the system does not have them."""
    if LINKED:
        block: tuple[memoryview, int] = LINKED.zeroed(size)
        return block
    import ctypes
    import mmap

    try:
        mapped = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:
        raise MemoryError(f"{size} bytes") from None
    return memoryview(mapped), ctypes.addressof(ctypes.c_char.from_buffer(mapped))


def _alignment(layout: Item | Array | Struct) -> int:
    if isinstance(layout, Array):
        return _CACHE_LINE if layout.size > _CACHE_LINE else _alignment(layout.item)
    return layout.alignment if isinstance(layout, Struct) else min(layout.size, _CACHE_LINE)


def _dtype_of(layout: Item | Array | Struct | Constant) -> np.dtype[Any]:
    """Return numpy's type of an item, or of a member of a record."""
    import numpy as np

    assert not isinstance(layout, Constant)
    if isinstance(layout, Array):
        return np.dtype((_dtype_of(layout.item), layout.shape))
    if isinstance(layout, Struct):
        formats = [_dtype_of(member.layout) for member in layout.members.values()]
        offsets = [member.offset for member in layout.members.values()]
        return np.dtype(
            {"names": [*layout.members], "formats": formats, "offsets": offsets, "itemsize": layout.size}
        )
    if layout.code != "mask":
        return np.dtype(layout.code)
    return np.dtype("u8") if layout.size == 8 else np.dtype(("u8", (layout.size // 8,)))
