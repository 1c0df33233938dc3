"""What makes a command end with exit status 2."""

from __future__ import annotations

__all__ = ["UnusableError"]


class UnusableError(Exception):
    """Arguments or input that cannot be used; the message is one line that says what and why."""
