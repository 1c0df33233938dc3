"""Decorators that compile kernels.

`kernel` marks a function that other kernels call, `inlined` a small one of the hottest loops. `entry` marks one
that tests and benchmarks call; the bot calls its own through `bot.kernels.loading`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from nonobot.bot.kernels.cache import cache_folder
from nonobot.bot.kernels.language import StructType
from nonobot.bot.kernels.memory import Memory
from nonobot.bot.kernels.numba_names import NativeValue, config, njit, typeof_impl, unbox

_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}

# Python never calls these kernels, and each wrapper would take as long to compile as many kernels.
_NESTED: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function: Callable[..., Any], arguments: tuple[Any, ...] | None = None) -> Any:
    """Compile a function that other kernels call, at once if the types of its arguments are given."""
    return njit(arguments, **_NESTED, **_OPTIONS)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a small function of the hottest loops, without a call wherever it is used."""
    return njit(forceinline=True, **_NESTED, **_OPTIONS)(function)


def entry(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls, for the map of its `Memory`, and keep the code in our own folder."""
    if config.DISABLE_JIT:
        return _plain(function)
    folder = cache_folder()
    if folder is None:
        return njit(**_OPTIONS)(function)
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)  # numba reads it when the decorator runs
    try:
        return njit(cache=True, **_OPTIONS)(function)
    finally:
        config.CACHE_DIR = before


def kernel_count(function: Callable[..., Any]) -> int:
    """Return the number of kernels to compile for a function: itself and those that it calls, directly or not."""
    functions = [function]
    for caller in functions:  # which grows meanwhile
        for name in caller.__code__.co_names:
            called = getattr(caller.__globals__.get(name), "py_func", None)
            if called and called not in functions:
                functions.append(called)
    return len(functions)


def _plain(function: Callable[..., Any]) -> Any:
    from nonobot.bot.kernels.interpreter import on_plain_memory

    @wraps(function)
    def call(*arguments: Any) -> Any:
        if arguments and isinstance(arguments[0], Memory):
            memory, *others = arguments
            return on_plain_memory(function, memory.struct)(memory.address, *others)
        return function(*arguments)

    return call


@typeof_impl.register(Memory)
def _type_of_memory(memory: Memory, context: Any) -> StructType:
    return StructType(memory.struct)


@unbox(StructType)
def _unbox_memory(kind: Any, memory: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(memory, "address")
    value = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(value, is_error=c.pyapi.c_api_error())
