"""The job of a benchmark: its loop, its clock, and the check of its result."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Job:
    """A benchmark: the units of work in a loop, the CPU seconds of a number of loops, a check of the result."""

    units: int
    seconds: Callable[[int], float]
    check: Callable[[], None]


class CheckError(Exception):
    """A benchmark's result is wrong, so its time would be meaningless."""


def clocked(work: Callable[[int], object]) -> Callable[[int], float]:
    """Return a function that runs `work` with a number of loops and returns the CPU seconds of this thread."""

    def seconds(loops: int) -> float:
        begin = time.process_time()
        work(loops)
        return time.process_time() - begin

    return seconds


def counting_job(
    units: int,
    kernel: Callable[..., Any],
    calls: Sequence[tuple[Any, ...]],
    expected: Callable[[], int],
    problem: str,
) -> Job:
    """Return a job whose kernel counts to `expected` over all `calls`, or fails with the message `problem`."""

    def count(loops: int) -> int:
        return sum(int(kernel(*arguments, loops)) for arguments in calls)

    return Job(units, clocked(count), lambda: require(count(2) == 2 * expected(), problem))


def require(holds: bool, problem: str) -> None:
    """Raise CheckError with the message `problem` unless `holds`."""
    if not holds:
        raise CheckError(problem)
