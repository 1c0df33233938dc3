"""What a strategy says about a puzzle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from nonobot.protocol import Solution

__all__ = ["Result", "Status", "seconds_of"]

Status = Literal["solved", "unsolvable", "timeout"]


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one puzzle.

    Attributes
    ----------
    status : {'solved', 'unsolvable', 'timeout'}
        'solved' with at least one solution, even if the time ran out while looking for more.
    solutions : tuple of Solution
        As many as were asked for, or as there are.
    exhausted : bool
        The whole search space was looked at: there are no other solutions.
    counts : dict of str to int
        Exact counts of the search, the same on every machine.
    step_seconds : dict of str to float
        Where the time of the search went, by the steps of the strategy.
    """

    status: Status
    solutions: tuple[Solution, ...] = ()
    exhausted: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    step_seconds: dict[str, float] = field(default_factory=dict)

    @property
    def verdict(self) -> Literal["unique", "multiple", "unsolvable", "unknown"]:
        """What is known about the number of solutions."""
        if len(self.solutions) > 1:
            return "multiple"
        if not self.exhausted:
            return "unknown"
        return "unique" if self.solutions else "unsolvable"


def seconds_of(names: Sequence[str], nanoseconds: npt.NDArray[np.int64]) -> dict[str, float]:
    """Return the time of each step, as kernels measure it."""
    return dict(zip(names, (nanoseconds / 1e9).tolist(), strict=True))
