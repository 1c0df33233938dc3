"""A benchmark's work: what every module of `jobs` makes, the clock, and the check of the result."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["CheckError", "Job", "clocked", "require"]


@dataclass(frozen=True)
class Job:
    """A benchmark that is ready to run.

    Attributes
    ----------
    units : int
        How many units of the catalogue's kind one loop does.
    seconds : callable
        Runs so many loops and returns the CPU seconds they took; what is not of the benchmark is left out.
    check : callable
        Runs one loop and raises :class:`CheckError` if its result is not the right one.
    """

    units: int
    seconds: Callable[[int], float]
    check: Callable[[], None]


class CheckError(Exception):
    """A benchmark's work has not the right result; its time would mean nothing."""


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
