"""The judge: runs any bot, verifies, scores, compares, reports; its exit statuses, and errors that become a line.

docs/development.md lists the rooms and their modules; the order of the rooms is in pyproject.toml.
"""

from __future__ import annotations

# Errors that end a command with a one-line message; they are here because every command loads this module first.

EXIT_UNUSABLE = 2  # exit statuses
EXIT_CANNOT_TELL = 3
EXIT_SKIP = 125  # `git bisect run` then skips a revision that cannot be judged
EXIT_INTERRUPTED = 130  # 128 and the number of SIGINT, as in shells


class UnusableError(Exception):
    """Arguments or input that cannot be used; the message is one line that says what and why."""


class StartError(Exception):
    """The bot's command cannot be run; the message is one line that says why."""


ALL_PARTS = "in a clone, -e '.[judge]' in place of the names installs what most commands need"


def require_libraries(what: str, *libraries: str) -> None:
    """Raise UnusableError, with the command that installs them, if libraries that `what` needs are missing."""
    from importlib.util import find_spec

    from nonobot.arguments import missing

    absent = [name for name in libraries if find_spec(name) is None]
    if absent:
        raise UnusableError(f"{missing(what, *absent)} ({ALL_PARTS})")
