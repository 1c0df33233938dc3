"""What makes a command end with exit status 2 or 130."""

from __future__ import annotations

__all__ = ["EXIT_INTERRUPTED", "UnusableError"]

EXIT_INTERRUPTED = 130
"""The exit status of what was told to stop: 128 and the number of SIGINT, as shells have it."""


class UnusableError(Exception):
    """Arguments or input that cannot be used; the message is one line that says what and why."""
