"""A terminal that a test looks at: what a process writes on it, and keys pressed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Sequence

import pyte
import pytest

from tests.helpers.waiting import AFTERWARDS_SECONDS, PATIENCE_SECONDS, finished, told, wait_to_read


class Terminal(contextlib.AbstractContextManager):
    """A process on a terminal of its own; as a context manager it is gone at the end of the block.

    The environment is added to this process's own, without NO_COLOR. `standard_input` is the content of stdin,
    otherwise the terminal; with `errors_too` stderr is the terminal as well.
    """

    def __init__(
        self,
        command: Sequence[str],
        columns: int = 100,
        lines: int = 40,
        environment: dict[str, str] | None = None,
        standard_input: bytes | None = None,
        errors_too: bool = False,
    ) -> None:
        try:
            self._own, theirs = pty.openpty()
        except OSError as error:
            pytest.skip(f"this machine gives no terminal (is /dev/pts mounted?): {error}")
        self._written = b""
        self._waited_to = 0  # end of the last text that was waited for
        self._set_size(columns, lines)
        inherited = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            command,
            stdin=theirs if standard_input is None else subprocess.PIPE,
            stdout=theirs,
            stderr=theirs if errors_too else subprocess.PIPE,
            env={**inherited, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **(environment or {})},
            start_new_session=True,
        )
        os.close(theirs)
        if self.process.stdin:
            self.process.stdin.write(standard_input or b"")
            self.process.stdin.close()
            self.process.stdin = None

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stderr:
            self.process.stderr.close()
        os.close(self._own)

    def wait_for(self, *texts: str) -> str:
        """Read until `texts` come in this order after the last wait; return what came since."""
        before = self._waited_to
        until = time.monotonic() + PATIENCE_SECONDS
        for text in texts:
            while (found := self._written.find(text.encode(), self._waited_to)) < 0:
                assert time.monotonic() < until, f"{text!r} did not come: {self._written[-2000:]!r}"
                assert self._read(), f"no {text!r} in {self._written[-2000:]!r}; {self._told()}"
            self._waited_to = found + len(text.encode())
        return self._written[before:].decode("utf-8", "replace")

    def resize(self, columns: int, lines: int) -> None:
        """Give it another size, and tell the process as a window does."""
        self._set_size(columns, lines)
        self.process.send_signal(signal.SIGWINCH)

    def _set_size(self, columns: int, lines: int) -> None:
        self._size = columns, lines
        fcntl.ioctl(self._own, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def screen(self, pattern: str) -> list[str]:
        """Read until `pattern`, perhaps broken into lines, is on the screen; return the lines of the screen."""
        screen = pyte.Screen(*self._size)
        stream = pyte.ByteStream(screen)
        fed = 0
        while not re.search(pattern, " ".join(lines := [line.rstrip() for line in screen.display])):
            if fed == len(self._written):
                assert self._read(), f"no {pattern!r} in {lines}; {self._told()}"
            stream.feed(self._written[fed:])
            fed = len(self._written)
        return lines

    @property
    def echoes(self) -> bool:
        """Whether it shows the keys that are pressed, as a terminal usually does."""
        return bool(termios.tcgetattr(self._own)[3] & termios.ECHO)

    def press(self, keys: str) -> None:
        os.write(self._own, keys.encode())

    def end(self) -> tuple[int, str, str]:
        """Wait for the end of the process; return its status, all that was shown, and stderr."""
        while self._read():
            pass
        _, errors = finished(self.process)
        return self.process.returncode, self._written.decode("utf-8", "replace"), (errors or b"").decode()

    def _told(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(AFTERWARDS_SECONDS)
        return told(self.process)

    def _read(self) -> bool:
        """Take what is on the screen; False at the end of the process."""
        wait_to_read(self._own, self.process)
        try:
            piece = os.read(self._own, 1 << 16)
        except OSError:  # on Linux, once nobody has the other end open
            return False
        self._written += piece
        return bool(piece)


def seen(written: str, columns: int = 100) -> list[str]:
    """Return the lines that stand on an endless screen after `written`: what was written over is gone."""
    screen = pyte.Screen(columns, 1000)
    pyte.Stream(screen).feed(written)
    lines = [line.rstrip() for line in screen.display]
    last = max((number for number, line in enumerate(lines) if line), default=0)
    return lines[: max(last, screen.cursor.y) + 1]
