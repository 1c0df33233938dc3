"""A program between judge and bot, for three checks: processes left behind, stdout closed, stderr never read.

`python -P shim.py WATCH REPORT CMD ARGS...`: streams and exit status are the bot's, except as WATCH states.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

LEFT_BEHIND, STDOUT_CLOSED, STDERR_UNREAD = "left-behind", "stdout-closed", "stderr-unread"
GRACE_SECONDS = 1.0  # time in which the bot's helpers have to notice that it is gone
_PR_SET_CHILD_SUBREAPER = 36


def _left_behind(command: Sequence[str], report: Path) -> int:
    """Report the processes that remain after the bot has ended, a line each, and end them."""
    if sys.platform == "linux":  # an orphan becomes a child of this process, not of init
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    status = subprocess.call(command)
    until = time.monotonic() + GRACE_SECONDS
    while (left := _others()) and time.monotonic() < until:
        time.sleep(0.02)
    report.write_text("".join(f"{description}\n" for description in left.values()), encoding="utf-8")
    for process in left:
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
    return status


def _others() -> dict[int, str]:
    """Return descriptions of this process's living descendants and the others of its session, by number."""
    import psutil  # only now, so that the bot need not wait for it

    own = psutil.Process()
    seen = set(own.children(recursive=True))
    for process in psutil.process_iter():
        with contextlib.suppress(OSError):
            # In a sandbox, the parent belongs to the session too.
            if os.getsid(process.pid) == os.getsid(0) and process.pid not in (own.pid, os.getppid()):
                seen.add(process)
    living = {}
    for process in seen:
        with contextlib.suppress(psutil.Error):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                living[process.pid] = f"process {process.pid} ({process.name()})"
    return living


def _stdout_closed(command: Sequence[str], _report: Path) -> int:
    """Give the bot a stdout that no process has open for reading."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    return subprocess.call(command, stdout=write_end)


def _stderr_unread(command: Sequence[str], _report: Path) -> int:
    """Give the bot a stderr that no process reads; a pipe takes 64 KiB on Linux."""
    _unread, write_end = os.pipe()  # kept open and never read
    return subprocess.call(command, stderr=write_end)


_WATCHES = {LEFT_BEHIND: _left_behind, STDOUT_CLOSED: _stdout_closed, STDERR_UNREAD: _stderr_unread}

if __name__ == "__main__":
    watch, report, *command = sys.argv[1:]
    status = _WATCHES[watch](command, Path(report))
    sys.exit(status if status >= 0 else 128 - status)
