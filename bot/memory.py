"""The solver's memory: one block with named fields at fixed places, as Python sees it.

`bot.access` is how kernels see it. Nothing here needs numba: a process that finds its kernels compiled never loads
it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Field", "Layout", "Memory"]

_CACHE_LINE = 64


class Field:
    """One array of the memory.

    Attributes
    ----------
    offset : int
        Bytes from the start of the memory.
    dtype : numpy.dtype
    shape : tuple of int
    row : int
        Items in a row of a two-dimensional field, otherwise all of them.
    """

    __slots__ = ("dtype", "offset", "row", "shape")

    def __init__(self, offset: int, dtype: npt.DTypeLike, shape: tuple[int, ...]) -> None:
        self.offset = offset
        self.dtype = np.dtype(dtype)
        self.shape = shape
        self.row = shape[-1]


class Layout:
    """Hands out places for fields, each at the start of a cache line."""

    def __init__(self) -> None:
        self.size = 0

    def field(self, dtype: npt.DTypeLike, *shape: int) -> Field:
        """Return a new field; without a shape it holds a single item."""
        new = Field(self.size, dtype, shape or (1,))
        bytes_needed = int(np.prod(new.shape)) * new.dtype.itemsize
        self.size += -(-bytes_needed // _CACHE_LINE) * _CACHE_LINE
        return new


class Memory:
    """A block of memory laid out by a `Layout`, all zero at first.

    Pages that are never touched cost nothing.
    """

    def __init__(self, layout: Layout) -> None:
        self._bytes = np.zeros(layout.size + _CACHE_LINE, np.uint8)
        self._start = -self._bytes.ctypes.data % _CACHE_LINE
        self.address = np.uint64(self._bytes.ctypes.data + self._start)

    def view(self, field: Field) -> npt.NDArray[Any]:
        """Return a field as an array that shares the memory."""
        begin = self._start + field.offset
        count = int(np.prod(field.shape))
        return self._bytes[begin : begin + count * field.dtype.itemsize].view(field.dtype).reshape(field.shape)
