"""The work of a benchmark, its clock, and the check of its result."""

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
        Units of the catalogue's kind in one loop.
    seconds : callable
        Runs a number of loops and returns the CPU seconds of the benchmark's own work.
    check : callable
        Runs one loop and raises :class:`CheckError` if its result is wrong.
    """

    units: int
    seconds: Callable[[int], float]
    check: Callable[[], None]


class CheckError(Exception):
    """A benchmark's result is wrong; its time would mean nothing."""


def clocked(work: Callable[[int], object]) -> Callable[[int], float]:
    """Return a function that runs `work` with a number of loops and returns the CPU seconds that it took.

    All of the work is done by one thread. Other programs affect its CPU time far less than its wall time.
    """

    def seconds(loops: int) -> float:
        begin = time.process_time()
        work(loops)
        return time.process_time() - begin

    return seconds


def require(holds: bool, what: str) -> None:
    """Raise CheckError with the message `what` unless `holds`."""
    if not holds:
        raise CheckError(what)
