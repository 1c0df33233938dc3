"""The clock of the kernels."""

from __future__ import annotations

import time
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

__all__ = ["now_ns"]

_CLOCK_MONOTONIC = time.CLOCK_MONOTONIC
"""Number of the monotonic clock in the C library's clock_gettime."""

if numba.config.DISABLE_JIT:

    def now_ns() -> Any:
        """Return the monotonic clock, in nanoseconds."""
        return time.monotonic_ns()

else:

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
