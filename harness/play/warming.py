"""Warming a bot up before the clock starts: compiling is not solving puzzles."""

from __future__ import annotations

import shlex
import subprocess
import time
from collections.abc import Sequence

from harness.errors import UnusableError

__all__ = ["warmed_up"]


def warmed_up(command: Sequence[str] | None) -> float | None:
    """Run the command that a bot prepares itself with, and return how many seconds that took; None if it has none.

    Raises
    ------
    UnusableError
        If the command cannot be run, or fails.
    """
    if not command:
        return None
    start = time.monotonic()
    try:
        status = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False
        ).returncode
    except (OSError, ValueError) as error:
        raise UnusableError(f"cannot warm up with {command[0]!r}: {getattr(error, 'strerror', error)}") from None
    if status:
        raise UnusableError(f"{shlex.join(command)} ended with status {status}: not warmed up")
    return time.monotonic() - start
