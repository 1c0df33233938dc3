"""The mask type and its word operations: the one place to change for wider boards.

A set of cells of a line is one machine word: bit i is cell i. The line kernels need two bits more than the
line has cells (a virtual white cell behind the last one, and the place after it), so that a line may have 62.

Masks, shift counts, indices and constants are all `uint64`: numba turns `uint64 + 1` into int64, and
`uint64 + int64` into float64.
"""

from __future__ import annotations

import time
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

__all__ = [
    "ALL_ONES",
    "MASK",
    "highest_bit",
    "i64",
    "lowest_bit",
    "now_ns",
    "popcount",
    "u64",
]

MASK = np.uint64
"""dtype of masks, and of everything that is combined with one."""

u64 = np.uint64
i64 = np.int64

ALL_ONES = u64(0xFFFF_FFFF_FFFF_FFFF)

_CLOCK_MONOTONIC = time.CLOCK_MONOTONIC
"""Number of the monotonic clock in the C library's clock_gettime."""


if numba.config.DISABLE_JIT:  # the same operations as plain Python, for tests that step through the kernels

    def popcount(mask: Any) -> Any:
        """Return the number of cells in `mask`."""
        return u64(int(mask).bit_count())

    def lowest_bit(mask: Any) -> Any:
        """Return the index of the first cell in `mask`, which is not empty."""
        return u64((int(mask) & -int(mask)).bit_length() - 1)

    def highest_bit(mask: Any) -> Any:
        """Return the index of the last cell in `mask`, which is not empty."""
        return u64(int(mask).bit_length() - 1)

    def now_ns() -> Any:
        """Return the monotonic clock, in nanoseconds."""
        return np.int64(time.monotonic_ns())

else:

    @intrinsic
    def popcount(typingctx: Any, mask: Any) -> Any:
        """Return the number of cells in `mask`."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.uint64(types.uint64), codegen

    @intrinsic
    def lowest_bit(typingctx: Any, mask: Any) -> Any:
        """Return the index of the first cell in `mask`, which is not empty."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.cttz(args[0], cgutils.true_bit)

        return types.uint64(types.uint64), codegen

    @intrinsic
    def highest_bit(typingctx: Any, mask: Any) -> Any:
        """Return the index of the last cell in `mask`, which is not empty."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            leading = builder.ctlz(args[0], cgutils.true_bit)
            return builder.sub(ir.Constant(leading.type, 63), leading)

        return types.uint64(types.uint64), codegen

    @intrinsic
    def now_ns(typingctx: Any) -> Any:
        """Return the monotonic clock, in nanoseconds (as time.monotonic_ns; 16 ns a call)."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            long = ir.IntType(64)
            timespec = cgutils.alloca_once(builder, ir.LiteralStructType([long, long]))
            kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32), timespec.type])
            function = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
            builder.call(function, [ir.Constant(ir.IntType(32), _CLOCK_MONOTONIC), timespec])
            seconds, nanoseconds = (
                builder.load(cgutils.gep_inbounds(builder, timespec, 0, field)) for field in (0, 1)
            )
            return builder.add(builder.mul(seconds, ir.Constant(long, 10**9)), nanoseconds)

        return types.int64(), codegen
