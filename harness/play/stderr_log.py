"""Keeping what a bot writes to stderr: its beginning and its end, however much there is."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import IO

__all__ = ["StderrLog"]

BEGINNING_BYTES = 1 << 20
END_BYTES = 1 << 16


class StderrLog:
    """A file of bounded size; it is made with the first byte.

    Parameters
    ----------
    path : Path
    received_bytes : int
        How much was written to it before; the file is continued then, made anew otherwise.

    Attributes
    ----------
    received_bytes : int
        How much was written, kept or not.
    """

    def __init__(self, path: Path, received_bytes: int = 0) -> None:
        self.received_bytes = received_bytes
        self._path = path
        self._file: IO[bytes] | None = None
        self._mode = "ab" if received_bytes else "wb"
        self._end = b""
        self._left_out_bytes = 0

    def write(self, data: bytes) -> None:
        """Take the next bytes: into the file as long as there is room, then into the end that is kept."""
        if not data:
            return
        room = max(0, BEGINNING_BYTES - self.received_bytes)
        self.received_bytes += len(data)
        with contextlib.suppress(OSError):  # a full disk costs what the bot said, not the run
            if self._file is None:
                self._file = self._path.open(self._mode, buffering=0)
            self._file.write(data[:room])
        end = self._end + data[room:]
        self._end = end[-END_BYTES:]
        self._left_out_bytes += len(end) - len(self._end)

    def close(self) -> None:
        """Write the end, with a line that says how much is left out before it."""
        if self._file is None:
            return
        with self._file, contextlib.suppress(OSError):
            if self._left_out_bytes:
                self._file.write(b"\n[%d bytes left out here]\n" % self._left_out_bytes)
            self._file.write(self._end)
