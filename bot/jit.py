"""How kernels are compiled.

`kernel` marks a function that other kernels call, `inlined` a small one of the hottest loops. `entry` marks an
outermost one that Python calls with arrays; numba keeps its compiled code in the project's own folder.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from nonobot.bot.cache import cache_folder

__all__ = ["entry", "inlined", "kernel"]

_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that other kernels call."""
    return numba.njit(**_OPTIONS)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a small function of the hottest loops, without a call wherever it is used."""
    return numba.njit(forceinline=True, **_OPTIONS)(function)


def entry(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls, and keep its code in the project's own folder."""
    folder = cache_folder()
    if folder is None:
        return numba.njit(**_OPTIONS)(function)
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)  # read when the decorator runs
    try:
        return numba.njit(cache=True, **_OPTIONS)(function)
    finally:
        numba.config.CACHE_DIR = before
