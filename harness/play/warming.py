"""Warming a bot up before the clock starts: compiling is not solving puzzles."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Sequence

from nonobot.harness.errors import UnusableError
from nonobot.harness.play.interrupts import Interrupts
from nonobot.harness.play.process_tree import ProcessTree

__all__ = ["WarmUpError", "warmed_up"]

SECONDS_BETWEEN_LOOKS = 0.05
"""How long a Ctrl-C may wait to be heeded."""


class WarmUpError(UnusableError):
    """A bot could not be warmed up; the message is one line that says why."""


def warmed_up(command: Sequence[str] | None) -> float | None:
    """Run the command that a bot prepares itself with, and return how many seconds that took; None if it has none.

    What it leaves running is ended: a helper that is there already would not be held to the bot's core and limits.

    Raises
    ------
    WarmUpError
        If the command cannot be run, or fails.
    KeyboardInterrupt
        If the judge is told to stop meanwhile.
    """
    if not command:
        return None
    start = time.monotonic()
    with Interrupts() as interrupts:
        status = _status_of(command, interrupts)
    if interrupts.told:
        raise KeyboardInterrupt
    if status:
        raise WarmUpError(f"{shlex.join(command)} ended with status {status}: not warmed up")
    return time.monotonic() - start


def _status_of(command: Sequence[str], interrupts: Interrupts) -> int:
    """Return how the command ended, by itself or because the judge was told to stop; nothing of it is left."""
    with contextlib.closing(ProcessTree()) as tree:
        try:
            child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
            )
        except (OSError, ValueError) as error:  # ValueError: a NUL byte in an argument
            why = getattr(error, "strerror", None) or error
            raise WarmUpError(f"cannot warm up with {command[0]!r}: {why}") from None
        tree.grow_from(child.pid)
        while child.poll() is None and not interrupts.told:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(SECONDS_BETWEEN_LOOKS)
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        status = child.wait()
        tree.kill()
        return status
