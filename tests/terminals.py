"""A terminal that a test looks at: what a process writes on it, and keys pressed."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from types import TracebackType

import pyte

__all__ = ["Terminal", "seen"]

PATIENCE_SECONDS = 600  # only to end a test whose process hangs


class Terminal:
    """A process on a terminal of its own; as a context manager it is gone at the end of the block.

    Parameters
    ----------
    command : sequence of str
    columns, lines : int
    environment : dict of str to str
        Added to this process's own, without NO_COLOR.
    standard_input : bytes, optional
        What stdin holds instead of the terminal.
    errors_too : bool
        Whether stderr is the terminal as well.
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
        self._own, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        inherited = dict(os.environ)
        for name in ("NO_COLOR", "COLUMNS", "LINES"):
            inherited.pop(name, None)
        self.process = subprocess.Popen(
            command,
            stdin=theirs if standard_input is None else subprocess.PIPE,
            stdout=theirs,
            stderr=theirs if errors_too else subprocess.PIPE,
            env={**inherited, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **(environment or {})},
            start_new_session=True,
        )
        os.close(theirs)
        if standard_input is not None:
            assert self.process.stdin
            self.process.stdin.write(standard_input)
            self.process.stdin.close()
        self.shown = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a character may come in two pieces

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stderr:
            self.process.stderr.close()
        os.close(self._own)

    def wait_for(self, text: str) -> str:
        """Read until `text` is on the screen; return what came with it."""
        before = len(self.shown)
        until = time.monotonic() + PATIENCE_SECONDS
        while text not in self.shown[before:]:
            assert time.monotonic() < until, f"{text!r} did not come: {self.shown[-2000:]}"
            if not self._read():
                raise AssertionError(f"the process ended without {text!r}: {self.shown[-2000:]}")
        return self.shown[before:]

    @property
    def echoes(self) -> bool:
        """Whether it shows the keys that are pressed, as a terminal usually does."""
        return bool(termios.tcgetattr(self._own)[3] & termios.ECHO)

    def press(self, keys: str) -> None:
        """Press keys."""
        os.write(self._own, keys.encode())

    def end(self) -> tuple[int, str, str]:
        """Wait for the end of the process; return its status, all that was shown, and stderr."""
        while self._read():
            pass
        status = self.process.wait(PATIENCE_SECONDS)
        return status, self.shown, self.process.stderr.read().decode() if self.process.stderr else ""

    def _read(self) -> bool:
        """Take what is on the screen; False at the end of the process."""
        assert select.select([self._own], [], [], PATIENCE_SECONDS)[0], "nothing came"
        try:
            piece = os.read(self._own, 1 << 16)
        except OSError:  # Linux says so that nobody has the other end open
            return False
        self.shown += self._decoder.decode(piece)
        return bool(piece)


def seen(written: str, columns: int = 100) -> list[str]:
    """Return the lines that stand on an endless screen after `written`: what was written over is gone."""
    screen = pyte.Screen(columns, 1000)
    pyte.Stream(screen).feed(written)
    lines = [line.rstrip() for line in screen.display]
    last = max((number for number, line in enumerate(lines) if line), default=0)
    return lines[: max(last, screen.cursor.y) + 1]
