"""The order of decisions: a binary heap of variables, the most active on top (VSIDS, as in MiniSat)."""

from __future__ import annotations

from typing import Any

from nonobot.bot.access import get, put, read, write
from nonobot.bot.champion.state import ACTIVITY, BUMP, HEAP, HEAP_PLACE, HEAP_SIZE, VARIABLES
from nonobot.bot.jit import kernel

__all__ = ["bump", "heap_insert", "heap_pop"]

_RESCALE_AT = 1e100


@kernel
def _rise(m: Any, place: Any) -> None:
    variable = get(m, HEAP, place)
    activity = get(m, ACTIVITY, variable)
    while place > 0:
        parent = (place - 1) >> 1
        above = get(m, HEAP, parent)
        if not activity > get(m, ACTIVITY, above):
            break
        put(m, HEAP, place, above)
        put(m, HEAP_PLACE, above, place)
        place = parent
    put(m, HEAP, place, variable)
    put(m, HEAP_PLACE, variable, place)


@kernel
def _sink(m: Any, place: Any) -> None:
    size = read(m, HEAP_SIZE)
    variable = get(m, HEAP, place)
    activity = get(m, ACTIVITY, variable)
    child = 2 * place + 1
    while child < size:
        below = get(m, HEAP, child)
        if child + 1 < size:
            other = get(m, HEAP, child + 1)
            if get(m, ACTIVITY, other) > get(m, ACTIVITY, below):
                child += 1
                below = other
        if not get(m, ACTIVITY, below) > activity:
            break
        put(m, HEAP, place, below)
        put(m, HEAP_PLACE, below, place)
        place = child
        child = 2 * place + 1
    put(m, HEAP, place, variable)
    put(m, HEAP_PLACE, variable, place)


@kernel
def heap_insert(m: Any, variable: Any) -> None:
    """Insert a variable that is not in the heap."""
    size = read(m, HEAP_SIZE)
    put(m, HEAP, size, variable)
    put(m, HEAP_PLACE, variable, size)
    write(m, HEAP_SIZE, size + 1)
    _rise(m, size)


@kernel
def heap_pop(m: Any) -> Any:
    """Take the most active variable from a heap that is not empty."""
    top = get(m, HEAP, 0)
    size = read(m, HEAP_SIZE) - 1
    write(m, HEAP_SIZE, size)
    put(m, HEAP_PLACE, top, -1)
    if size > 0:
        last = get(m, HEAP, size)
        put(m, HEAP, 0, last)
        put(m, HEAP_PLACE, last, 0)
        _sink(m, 0)
    return top


@kernel
def bump(m: Any, variable: Any) -> None:
    """Make a variable more active."""
    activity = get(m, ACTIVITY, variable) + read(m, BUMP)
    put(m, ACTIVITY, variable, activity)
    if activity > _RESCALE_AT:
        for each in range(read(m, VARIABLES)):
            put(m, ACTIVITY, each, get(m, ACTIVITY, each) / _RESCALE_AT)
        write(m, BUMP, read(m, BUMP) / _RESCALE_AT)
    place = get(m, HEAP_PLACE, variable)
    if place >= 0:
        _rise(m, place)
