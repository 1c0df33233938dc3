"""The clock of the benchmarks, and what they have in common."""

from __future__ import annotations

import time
from collections.abc import Callable

from nonobot.harness.bench.catalogue import CheckError

__all__ = ["clocked", "require"]


def clocked(work: Callable[[int], object]) -> Callable[[int], float]:
    """Return what runs `work` with so many loops and returns the CPU seconds that it took.

    CPU time, since all of it is one thread's computing: what others do on the machine then counts far less.
    """

    def seconds(loops: int) -> float:
        begin = time.process_time()
        work(loops)
        return time.process_time() - begin

    return seconds


def require(holds: bool, what: str) -> None:
    """See that a benchmark's result is right.

    Raises
    ------
    CheckError
        If not.
    """
    if not holds:
        raise CheckError(what)
