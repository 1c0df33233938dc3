"""A process between the judge and the bot, which sees or withholds what the judge cannot: run as a program.

    python -P shim.py WATCH REPORT CMD ARGS...

stdin, stdout and stderr are the bot's but for what WATCH says; the exit status is the bot's.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

__all__ = ["LEFT_BEHIND", "STDERR_UNREAD", "STDOUT_CLOSED"]

LEFT_BEHIND = "left-behind"
"""Reports the processes that are there after the bot has ended, a line each, and ends them."""

STDOUT_CLOSED = "stdout-closed"
"""Gives the bot a stdout that nobody has open for reading."""

STDERR_UNREAD = "stderr-unread"
"""Gives the bot a stderr that nobody reads; it takes what a pipe takes (64 KiB on Linux)."""

GRACE_SECONDS = 1.0
"""What helpers of the bot have to notice that it is gone."""

_PR_SET_CHILD_SUBREAPER = 36


def _left_behind(command: Sequence[str], report: Path) -> int:
    if sys.platform == "linux":  # what loses its parent becomes a child of this process, not of init
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    status = subprocess.call(command)
    until = time.monotonic() + GRACE_SECONDS
    while (left := _others()) and time.monotonic() < until:
        time.sleep(0.02)
    report.write_text("".join(f"{_named(one)}\n" for one in left), encoding="utf-8")
    _end(left)
    return status


def _others() -> list[psutil.Process]:
    """Return the living descendants of this process and the others of its session."""
    import psutil

    own = psutil.Process()
    found = set(own.children(recursive=True))
    for process in psutil.process_iter():
        with contextlib.suppress(OSError):
            # The parent is of the session where there are walls around both.
            if os.getsid(process.pid) == os.getsid(0) and process.pid not in (own.pid, os.getppid()):
                found.add(process)
    return [one for one in found if one.is_running() and _status(one) not in (psutil.STATUS_ZOMBIE, "gone")]


def _status(process: psutil.Process) -> str:
    import psutil

    try:
        return str(process.status())
    except psutil.Error:
        return "gone"


def _named(process: psutil.Process) -> str:
    import psutil

    try:
        return f"process {process.pid} ({process.name()})"
    except psutil.Error:
        return f"process {process.pid}"


def _end(processes: Sequence[psutil.Process]) -> None:
    import psutil

    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill()


def _stdout_closed(command: Sequence[str], _report: Path) -> int:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with subprocess.Popen(command, stdout=write_end) as bot:
        os.close(write_end)
        return bot.wait()


def _stderr_unread(command: Sequence[str], _report: Path) -> int:
    _unread, write_end = os.pipe()  # held open and never read
    with subprocess.Popen(command, stderr=write_end) as bot:
        os.close(write_end)
        return bot.wait()


_WATCHES = {LEFT_BEHIND: _left_behind, STDOUT_CLOSED: _stdout_closed, STDERR_UNREAD: _stderr_unread}


def main() -> int:
    """Run the bot; return its exit status, 128 + n for signal n."""
    watch, report, *command = sys.argv[1:]
    status = _WATCHES[watch](command, Path(report))
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
