"""The time an opponent has for a puzzle."""

from __future__ import annotations

import time

__all__ = ["Clock", "OutOfTimeError"]


class OutOfTimeError(Exception):
    """The time for the puzzle is up."""


class Clock:
    """Counts from its making on; a search looks at it every so many nodes.

    Parameters
    ----------
    seconds : float or None
        Wall time for the puzzle; None for as long as it takes.
    """

    def __init__(self, seconds: float | None) -> None:
        self._deadline = None if seconds is None else time.monotonic() + seconds

    def remaining(self) -> float | None:
        """Return the seconds that are left, 0 or more; None without a limit."""
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def check(self) -> None:
        """Raise OutOfTimeError if the time is up."""
        if self._deadline is not None and time.monotonic() >= self._deadline:
            raise OutOfTimeError
