"""Cores: one for the bot, as in a tournament, the others for the judge.

A process inherits its cores from the thread that starts it. So the judge's thread goes to the bot's core for the
moment of the start, rather than the child setting its own in a `preexec_fn`, which is not safe beside threads and
makes the start slow.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from nonobot.harness.errors import UnusableError
from nonobot.harness.play.machine import usable_cores

__all__ = ["can_pin", "off_core", "on_core", "require_core", "tournament_core"]


def can_pin() -> bool:
    """Return whether this system lets a process be held on a core; macOS does not."""
    return sys.platform == "linux"


def tournament_core() -> int | None:
    """Return the core that a bot is held on where none is named: the last usable one; None where none can be."""
    return usable_cores()[-1] if can_pin() else None


def require_core(core: int | None) -> None:
    """See that a bot can be held on `core`; None, for no core, is always possible.

    Raises
    ------
    UnusableError
        If not.
    """
    if core is None:
        return
    if not can_pin():
        raise UnusableError(f"core {core}: this system cannot hold a process on a core; use --core any")
    usable = usable_cores()
    if core not in usable:
        raise UnusableError(f"core {core} cannot be used here; usable: {', '.join(map(str, usable))}")


@contextlib.contextmanager
def on_core(core: int | None) -> Iterator[None]:
    """Hold the calling thread on `core`: what is started in the block stays there."""
    if core is None or sys.platform != "linux":
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextlib.contextmanager
def off_core(core: int | None) -> Iterator[None]:
    """Keep every thread of the judge off `core`, where there is another; other processes are left alone."""
    if core is None or sys.platform != "linux":
        yield
        return
    before = {}
    for thread in _threads():
        with contextlib.suppress(OSError):  # it has ended
            before[thread] = os.sched_getaffinity(thread)
    for thread, cores in before.items():
        _move(thread, cores - {core} or cores)
    try:
        yield
    finally:
        for thread, cores in before.items():
            _move(thread, cores)


def _threads() -> list[int]:
    return [int(name.name) for name in Path("/proc/self/task").iterdir()]


def _move(thread: int, cores: set[int]) -> None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # it has ended
            os.sched_setaffinity(thread, cores)
