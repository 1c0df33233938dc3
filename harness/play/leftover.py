"""The bot of a judge that was killed: it may run on, and is ended before another takes its place."""

from __future__ import annotations

import contextlib
import os
import signal

import psutil

from nonobot.harness.play.journal import LegStarted

__all__ = ["end_leftover"]

SECONDS_APART = 2.0
"""How much two readings of a process's start may differ after the system's clock was set."""


def end_leftover(leg: LegStarted | None) -> None:
    """Kill the bot of a leg without an end, with its process group, if it is the same process still."""
    if leg is None:
        return
    with contextlib.suppress(psutil.Error, ProcessLookupError, PermissionError):
        if abs(psutil.Process(leg.pid).create_time() - leg.process_created) < SECONDS_APART:
            os.killpg(leg.pid, signal.SIGKILL)
