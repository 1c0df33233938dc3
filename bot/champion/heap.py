"""The order of decisions: a heap of variables, the most active on top (VSIDS, as in MiniSat)."""

from __future__ import annotations

from typing import Any

from nonobot.bot.kernels.compiling import kernel

BOUND_WEIGHT = 1.5  # factor of a bound's activity: the bounds of a block share its conflicts

_RESCALE_AT = 1e100

_BELOW = 4
"""Number of children of a place. Variables rise about a hundred times per conflict, with half the steps of a
binary heap, and sink seven times."""


@kernel
def _rise(m: Any, place: Any) -> None:
    variable = m.heap[place]
    activity = m.activity[variable]
    while place > 0:
        parent = (place - 1) // _BELOW
        above = m.heap[parent]
        if not activity > m.activity[above]:
            break
        m.heap[place] = above
        m.heap_place[above] = place
        place = parent
    m.heap[place] = variable
    m.heap_place[variable] = place


@kernel
def _sink(m: Any, place: Any) -> None:
    size = m.heap_size
    variable = m.heap[place]
    activity = m.activity[variable]
    while True:
        first = _BELOW * place + 1
        if first >= size:
            break
        child, below = first, m.heap[first]
        for sibling in range(first + 1, min(first + _BELOW, size)):
            other = m.heap[sibling]
            if m.activity[other] > m.activity[below]:
                child, below = sibling, other
        if not m.activity[below] > activity:
            break
        m.heap[place] = below
        m.heap_place[below] = place
        place = child
    m.heap[place] = variable
    m.heap_place[variable] = place


@kernel
def heap_insert(m: Any, variable: Any) -> None:
    """Insert a variable that is not in the heap."""
    size = m.heap_size
    m.heap[size] = variable
    m.heap_place[variable] = size
    m.heap_size = size + 1
    _rise(m, size)


@kernel
def heap_pop(m: Any) -> Any:
    """Take the most active variable from a heap that is not empty."""
    top = m.heap[0]
    size = m.heap_size - 1
    m.heap_size = size
    m.heap_place[top] = -1
    if size > 0:
        last = m.heap[size]
        m.heap[0] = last
        m.heap_place[last] = 0
        _sink(m, 0)
    return top


@kernel
def bump(m: Any, variable: Any) -> None:
    """Make a variable more active."""
    activity = m.activity[variable] + (m.bump if variable < m.cells else BOUND_WEIGHT * m.bump)
    m.activity[variable] = activity
    if activity > _RESCALE_AT:
        for other in range(m.variables):
            m.activity[other] /= _RESCALE_AT
        m.bump /= _RESCALE_AT
    place = m.heap_place[variable]
    if place >= 0:
        _rise(m, place)
